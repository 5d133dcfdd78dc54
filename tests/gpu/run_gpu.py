#!/usr/bin/python3
"""One test list for either device: same program, same findings (run_gpu.py [--device gpu|virtual] [part of a name]).

Each case program, racy and fixed: scored with hooks.h; the same rules, ranges and places without; the program's output and
exit code as they are without the tool; and, with --device gpu, the findings (ids) that the virtual device gives. The
documents' program without its wait is caught in 10 of 10 runs although its output is right. Other options: devices.py.
"""
import pathlib
import sys

import devices
import harness
from devices import OPTIONS, ROOT, TIMEOUT_S, Programs, masked, needs_gpu, run
from case_lists import CASES, NOT_MODELLED, VARIANTS, cases, device_findings, is_faulty, score
from harness import SHARED, Failure, Skip, Tally, check, execute, lock_of, work_folder

SEED = SHARED / "seeds/stream_contract.cu"
WAIT = "    check(cudaStreamWaitEvent(consumer, ready, 0));\n"
SEED_RUNS = 10
SEED_OUT = "elements=4096 mismatches=0\n"


def seed_source(waits, folder):
    """The documents' program, with its wait or without, as a file of this runner."""
    def write():
        if not SEED.exists():
            raise Skip("the documents' program is not on this machine")
        text = SEED.read_text(encoding="utf-8")
        check(text.count(WAIT) == 1, "the documents' program no longer holds its wait once")
        path = pathlib.Path(folder) / ("seed_wait.cu" if waits else "seed_no_wait.cu")
        path.write_text(text if waits else text.replace(WAIT, ""), encoding="utf-8")
        return path
    return write


def programs(folder):
    """All that the lists of a device run; built below `folder` unless --built says where they are."""
    known = Programs(folder)
    for case in cases():
        for variant in VARIANTS:
            fixed = ["-DFIXED"] if variant == "fixed" else []
            known.add(f"{case.stem}-{variant}-hooks", case, *fixed, "-include", CASES / "hooks.h")
            known.add(f"{case.stem}-{variant}-plain", case, *fixed)
    for name, waits in (("seed-wait", True), ("seed-no-wait", False)):
        known.add(name, seed_source(waits, known.folder))
    return known


class List:
    """The cases of one device."""

    def __init__(self, device, folder):
        self.device, self.programs, self.reports = device, programs(folder), {}

    def ready(self):
        if self.device == "gpu":
            needs_gpu()

    def program(self, name):
        self.ready()
        return self.programs.get(self.device, name)

    def result(self, name):
        """The run of a program, made once."""
        program = self.program(name)
        with lock_of((self.device, name)):
            if name not in self.reports:
                self.reports[name] = run(self.device, program, name=f"{self.device}-{name}")
        result = self.reports[name]
        check(result.report is not None, f"no report\n{result.about()}")
        return result

    def unmodelled(self, case, result):
        """Whether the run is incomplete for calls that this case may name."""
        if case.stem not in NOT_MODELLED or result.code != 67:
            return False
        check(result.report["run"]["unsupported_calls"], f"incomplete, and no call is named\n{result.about()}")
        return True

    def scored(self, case, variant):
        result = self.result(f"{case.stem}-{variant}-hooks")
        if self.unmodelled(case, result):
            return
        got = score.score(case, variant, result.report, memory="device" if self.device == "gpu" else None)
        check(got.right, "\n".join([str(got), *got.lines(), result.about()]))
        if is_faulty(case, variant):
            check(result.code == 66 or self.device == "gpu", f"expected 66\n{result.about()}")
        else:
            check(result.code == 0 and result.verdict == "clean", f"expected clean, 0\n{result.about()}")

    def hookless(self, case, variant):
        plain, hooked = (self.result(f"{case.stem}-{variant}-{form}") for form in ("plain", "hooks"))
        if self.unmodelled(case, plain):
            return
        check(device_findings(plain.report) == device_findings(hooked.report),
              f"with hooks {device_findings(hooked.report)}\nwithout {device_findings(plain.report)}\n{plain.about()}")

    def undisturbed(self, case, variant):
        """Output as without the tool but for the count of mismatches of a racy variant; the program's own exit code."""
        name = f"{case.stem}-{variant}-plain"
        native = execute([self.program(name)], timeout=TIMEOUT_S)
        seen = self.result(name)
        if self.device == "virtual" and self.unmodelled(case, seen):
            return check(native.returncode == seen.report["run"]["exit"]["code"], f"native exit {native.returncode}\n{seen.about()}")
        faulty = variant == "racy" and is_faulty(case, variant)
        own = seen.report["run"]["exit"]["code"]
        check(own in (0, 2) if faulty else own == native.returncode == 0, f"native exit {native.returncode}, under the tool {own}\n{seen.about()}")
        texts = [text.split(" mismatches=")[0] if faulty else masked(text) for text in (native.stdout, seen.out)]
        return check(texts[0] == texts[1], f"native output {native.stdout!r}\n{seen.about()}")

    def seed_caught(self):
        for number in range(SEED_RUNS):
            result = run(self.device, self.program("seed-no-wait"), name=f"{self.device}-seed-no-wait-{number}")
            errors = [f["rule"] for f in result.findings(("error",))] if result.report else None
            check(result.code == 66 and errors == ["SSAN-RAW"], f"run {number}: expected one SSAN-RAW, 66\n{result.about()}")
            check(result.out == SEED_OUT, f"run {number}: its output is not right\n{result.about()}")

    def seed_clean(self):
        result = self.result("seed-wait")
        check(result.code == 0 and result.verdict == "clean" and result.out == SEED_OUT, f"expected clean, right, 0\n{result.about()}")


def told(report):
    """The findings of a report, one row each: id, rule, severity, ranges and what the two sides are."""
    ops = {o["id"]: o for o in report["operations"]}

    def side(end):
        op = ops.get(end["op"], {})
        return op.get("kernel") or op.get("kind"), (op.get("at") or {}).get("line")

    return {(f["id"], f["rule"], f["severity"], tuple((r["begin"], r["end"]) for r in f["ranges"]), side(f["first"]), side(f["then"]))
            for top in report["findings"] for f in [top, *top["folded"]]}


def same(lists, name):
    """The findings of both devices are one set."""
    lists["gpu"].ready()
    results = {device: one.result(name) for device, one in lists.items()}
    if any(r.code == 67 for r in results.values()) and any(name.startswith(case) for case in NOT_MODELLED):
        raise Skip("not modelled on one of the devices: " + ", ".join(sorted({c["call"] for r in results.values() for c in r.report["run"]["unsupported_calls"]})))
    gpu, virtual = (told(results[device].report) for device in ("gpu", "virtual"))
    if gpu != virtual:
        rows = [f"  only {device}: {row}" for device, a, b in (("gpu", gpu, virtual), ("virtual", virtual, gpu)) for row in sorted(a - b, key=repr)]
        raise Failure("\n".join(["the devices differ", *rows]))


def main():
    devices.options(__doc__.split("\n", 1)[0], virtual=True)
    work = work_folder("gpu")
    lists = {device: List(device, work.name) for device in devices.DEVICES}
    if OPTIONS.build:
        return lists["gpu"].programs.build_all(devices.DEVICES)
    device = OPTIONS.device
    tally = Tally("gpu" if device == "gpu" else "gpu-virtual")
    one = lists[device]
    for case in cases():
        for variant in VARIANTS:
            name = f"{case.stem} {variant}"
            tally.case(f"{name} scored", one.scored, case, variant)
            tally.case(f"{name} without hooks", one.hookless, case, variant)
            tally.case(f"{name} undisturbed", one.undisturbed, case, variant)
            if device == "gpu":
                tally.case(f"{name} as on the virtual device", same, lists, f"{case.stem}-{variant}-hooks")
    tally.case(f"the documents' program without its wait, {SEED_RUNS} runs", one.seed_caught)
    tally.case("the documents' program", one.seed_clean)
    return tally.finish(OPTIONS.part, OPTIONS.jobs)


if __name__ == "__main__":
    sys.exit(main())
