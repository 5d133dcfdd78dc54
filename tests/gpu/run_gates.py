#!/usr/bin/python3
"""`streamsan witness` on a GPU: the faults of chosen programs are made to happen, their repaired forms never fail.

The documents' program without its wait and the cases 04 and 05 (kernel against kernel), 01, 06 and 10 (kernel against
copy): every error on device memory is shown, and the printed command shows it again. The repaired program is right in
each of 20 runs under the same gates. 08 can't be gated, and the report says so (run_gates.py [part]; options: devices.py).
"""
import json
import pathlib
import sys
import tempfile

import devices
from devices import OPTIONS, TIMEOUT_S, execute, needs_gpu
from harness import TOOL, Tally, check, work_folder
from run_gpu import programs

WORK = work_folder("gates")
GATED = {"seed": ("seed-no-wait", "seed-wait"),
         **{case: (f"{name}-racy-plain", f"{name}-fixed-plain") for case, name in
            {"04": "04_event_off_by_one", "05": "05_wait_before_record", "01": "01_ring_reclaim", "06": "06_nonblocking_vs_legacy",
             "10": "10_pingpong_guard"}.items()}}
NOT_GATED = "08_caching_reuse-racy-plain"
# Errors of the others that can't be gated: 06 also uploads by a copy, in front of which there is no kernel.
ALSO_NOT_GATED = {"06": 1}
REPAIRED_RUNS = 20
WRONG = 2  # the exit code of a program whose numbers are wrong


def reported(name, *words):
    """A verb of the tool with a JSON report: the finished process and the report."""
    with tempfile.NamedTemporaryFile(suffix=".json", dir=WORK.name) as report:
        at = words.index("--")
        done = execute([TOOL, *words[:at], "--format", "json", "--output", report.name, *words[at:]], timeout=2 * TIMEOUT_S)
        text = pathlib.Path(report.name).read_text(encoding="utf-8")
    done.report = json.loads(text) if text else None
    if OPTIONS.keep:
        (OPTIONS.keep / f"gates-{name}.json").write_text(text, encoding="utf-8")
    done.about = f"exit {done.returncode}\n--- stdout\n{done.stdout}--- stderr\n{done.stderr}"
    check(done.report is not None, f"no report\n{done.about}")
    return done


def device_errors(report):
    spaces = {b["id"]: b["space"] for b in report["buffers"]}
    return [f for f in report["findings"] if f["severity"] == "error" and spaces.get(f["buffer"]) == "device"]


class Gates:
    def __init__(self, known):
        self.programs = known

    def program(self, name):
        needs_gpu()
        return self.programs.get("gpu", name)

    def shown(self, case):
        """Both halves of one case, since the second needs the commands of the first."""
        racy, fixed = (self.program(name) for name in GATED[case])
        done = reported(case, "witness", "--device", "gpu", "--", racy)
        found = device_errors(done.report)
        for f in found:
            w = f.get("witness") or {}
            print(f"{case:<5} {f['rule']:<9} {w.get('kind')}: exit {((w.get('exit') or {}).get('got') or {}).get('code')}, {' '.join(w.get('replay') or [])[:160]} {w.get('detail') or ''}", flush=True)
        check(done.returncode == 66 and found, f"expected errors, 66\n{done.about}")
        commands = [f["witness"]["replay"] for f in found if f.get("witness") and f["witness"]["kind"] == "shown"]
        not_gated = sum((f.get("witness") or {}).get("kind") == "no-gate" for f in found)
        check(commands and not_gated == ALSO_NOT_GATED.get(case, 0) and len(commands) + not_gated == len(found),
              f"{len(commands)} of {len(found)} were shown\n{done.about}")
        for number, words in enumerate(commands):
            again = reported(f"{case}-again-{number}", *words[1:])
            check(again.report["run"]["exit"]["code"] == WRONG, f"{' '.join(words)} does not show it\n{again.about}")
        self.repaired(case, commands[0], racy, fixed)

    def repaired(self, case, words, racy, fixed):
        check(words[-1] == str(racy), f"the command does not end with the program: {words}")
        for number in range(REPAIRED_RUNS):
            done = reported(f"{case}-repaired", *words[1:-1], fixed)
            check(done.report["run"]["exit"]["code"] == 0 and "mismatches=0" in done.stdout and not device_errors(done.report),
                  f"run {number} of the repaired program\n{done.about}")
        print(f"{case:<5} repaired: right in {REPAIRED_RUNS} of {REPAIRED_RUNS} runs under the same gates", flush=True)

    def not_gated(self):
        done = reported("08", "witness", "--device", "gpu", "--", self.program(NOT_GATED))
        found = device_errors(done.report)
        check(done.returncode == 66 and found, f"expected errors, 66\n{done.about}")
        for f in found:
            w = f.get("witness") or {}
            print(f"08    {f['rule']:<9} {w.get('kind')}: {w.get('detail') or ''}", flush=True)
            check(w.get("kind") not in (None, "shown") and not w.get("replay"), f"{w}\n{done.about}")


def main():
    devices.options(__doc__.split("\n", 1)[0])
    gates = Gates(programs(WORK.name))
    tally = Tally("gpu-gates")
    for case in GATED:
        tally.case(f"{case} fails, its repaired form never", gates.shown, case)
    tally.case("08 can't be gated", gates.not_gated)
    return tally.finish(OPTIONS.part, OPTIONS.jobs)


if __name__ == "__main__":
    sys.exit(main())
