#!/usr/bin/python3
"""Programs that are killed, abort or fault: a readable trace, an honest verdict (run_ends.py [--device gpu|virtual] [part]).

Other options: devices.py.
"""
import pathlib
import re
import sys

import devices
from devices import OPTIONS, ROOT, TIMEOUT_S, Programs, execute, needs_gpu
from harness import TOOL, Tally, check, work_folder

SOURCE = ROOT / "tests/gpu/programs/ends.cu"
WORK = work_folder("ends")
ACCEPTED = "accepted 40 launches\n"
KILL_AFTER = (1, 5, 20, 60, 100)


class Ends:
    def __init__(self, device):
        self.device, self.programs = device, Programs(WORK.name)
        self.programs.add("ends", SOURCE)

    def run(self, how, env=None):
        """The finished run, and the listing of its trace."""
        if self.device == "gpu":
            needs_gpu()
        trace = pathlib.Path(WORK.name) / f"{how}-{(env or {}).get('STREAMSAN_TEST_KILL_AFTER', '')}.ssan"
        done = execute([TOOL, "run", "--device", self.device, "--trace", trace, "--", self.programs.get(self.device, "ends"), how], env, timeout=TIMEOUT_S)
        listing = execute([TOOL, "dump", trace], timeout=TIMEOUT_S)
        done.verdict = (done.stderr.strip().splitlines() or [""])[-1]
        done.about = f"exit {done.returncode}\n--- stdout\n{done.stdout}--- stderr\n{done.stderr}--- dump: exit {listing.returncode}: {listing.stderr}"
        how = " ".join([how, *(f"cut behind {point}" for point in (env or {}).values())])
        print(f"{how:<20} exit {done.returncode}: {done.verdict[:220]}", flush=True)
        if OPTIONS.keep:
            (OPTIONS.keep / f"{trace.stem}.txt").write_text(done.about + listing.stdout, encoding="utf-8")
        return done, listing

    def plain(self, how="plain"):
        done, _ = self.run(how)
        check(done.returncode == 0 and done.verdict.startswith("streamsan: clean"), done.about)

    def killed(self, how, words):
        """Incomplete, the signal told; the trace is cut, and holds what was accepted."""
        done, listing = self.run(how)
        check(done.stdout == ACCEPTED and done.returncode == 67 and done.verdict.startswith("streamsan: incomplete"), done.about)
        check(re.search(words, done.stderr), done.about)
        check(listing.returncode in (0, 67) and listing.stdout.count("\nop ") >= 42, f"{listing.stdout.count(chr(10) + 'op ')} items in the trace\n{done.about}")

    def racy(self):
        """Accesses are drained every 20 ms: a program killed at once has told them, or its operations never finished."""
        done, _ = self.run("racy-kill")
        found = done.returncode == 66 and "also incomplete" in done.verdict and "SSAN-" in done.stderr
        open_ended = done.returncode == 67 and done.verdict.startswith("streamsan: incomplete") and "never finished" in done.stderr
        check(found or open_ended, done.about)

    def exits(self):
        done, _ = self.run("exit")
        check(done.stdout == ACCEPTED and done.returncode in (5, 67) and ("clean" in done.verdict) == (done.returncode == 5), done.about)

    def faults(self, how, error):
        done, listing = self.run(how)
        check(done.stdout == f"{ACCEPTED}{error}\n", done.about)
        check(done.returncode == 67 and "fault" in done.verdict and "clean" not in done.verdict, done.about)
        check(listing.returncode in (0, 67) and listing.stdout.count("\nop ") >= 42, done.about)

    def cut(self, point):
        done, listing = self.run("plain", {"STREAMSAN_TEST_KILL_AFTER": str(point)})
        check(done.returncode in (66, 67) and not done.verdict.startswith("streamsan: clean"), done.about)
        rows = [row for row in listing.stdout.splitlines() if row and not row.startswith(("#", "streamsan-listing"))]
        check(listing.returncode == 67 and len(rows) >= point, f"{len(rows)} records\n{done.about}")


def main():
    devices.options(__doc__.split("\n", 1)[0], virtual=True)
    ends = Ends(OPTIONS.device)
    if OPTIONS.build:
        return ends.programs.build_all(devices.DEVICES)
    tally = Tally("gpu-ends" if OPTIONS.device == "gpu" else "gpu-ends-virtual")
    tally.case("plain", ends.plain)
    tally.case("children", ends.plain, "children")
    tally.case("killed", ends.killed, "kill", "SIGKILL|signal 9")
    tally.case("aborted", ends.killed, "abort", "SIGABRT|signal 6")
    tally.case("racy and killed", ends.racy)
    tally.case("exits with work pending", ends.exits)
    tally.case("illegal address", ends.faults, "illegal", "cudaErrorIllegalAddress")
    tally.case("trap", ends.faults, "trap", "cudaErrorLaunchFailure")
    for point in KILL_AFTER:
        tally.case(f"killed behind record {point}", ends.cut, point)
    return tally.finish(OPTIONS.part, OPTIONS.jobs)


if __name__ == "__main__":
    sys.exit(main())
