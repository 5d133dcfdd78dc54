#!/usr/bin/python3
"""The documents' program, used where it lies: with its wait, without, and with each way of placing events wrongly.

Where the shared folder is missing all its cases are skipped, or fail if CI=true (run_seed.py [part of a name]).
"""
import os
import pathlib
import sys

import harness
from harness import SHARED, Failure, Skip, Tally, build, check, run, work_folder

SEED = SHARED / "seeds/stream_contract.cu"
WORK = work_folder("seed")

WAIT = "    check(cudaStreamWaitEvent(consumer, ready, 0));\n"
RECORD = "    check(cudaEventRecord(ready, producer));\n"
SCALE = "    scale<<<(count + 255) / 256, 256, 0, producer>>>(device, count);\n"
ADD = "    add<<<(count + 255) / 256, 256, 0, consumer>>>(device, count);\n"
COUNT = "constexpr int count = 4096;"
EXPECT = "+ 1.0f;\n        if (output"


def text():
    if SEED.exists():
        return SEED.read_text(encoding="utf-8")
    if os.environ.get("CI") == "true":
        raise Failure("CI=true, but the documents' program is not there")
    raise Skip("the documents' program is not on this machine")


def replaced(source, *changes):
    for old, new in changes:
        check(source.count(old) == 1, f"the documents' program no longer holds once: {old!r}")
        source = source.replace(old, new)
    return source


def program(name, source):
    path = pathlib.Path(WORK.name) / f"{name}.cu"
    path.write_text(source, encoding="utf-8")
    return path, build(path.with_suffix(""), path)


def clean(name, changes, subset=("eager", "lazy", "random:1", "random:2", "random:3"), count=4096):
    _, binary = program(name, replaced(text(), *changes))
    for schedule in harness.schedules(subset):
        result = run(binary, "--schedule", schedule)
        check(result.code == 0 and result.verdict == "clean", f"{schedule}: expected clean\n{result.about()}")
        check(result.out == f"elements={count} mismatches=0\n", f"{schedule}: output\n{result.about()}")
        check("device accesses exact, host accesses not observed" in result.verdict_line, f"scope\n{result.about()}")


def the_error(result):
    errors = result.findings()
    check(result.code == 66 and len(errors) == 1, f"expected one error finding and 66\n{result.about()}")
    f, ops = errors[0], {o["id"]: o for o in result.report["operations"]}
    buffer = {b["id"]: b for b in result.report["buffers"]}[f["buffer"]]
    check(f["severity"] == "error" and f["rule"] == "SSAN-RAW" and buffer["space"] == "device" and buffer["name"] == "device",
          f"expected SSAN-RAW on 'device'\n{result.about()}")
    check((ops[f["first"]["op"]]["kernel"], ops[f["then"]["op"]]["kernel"]) == ("scale", "add"), f"the pair\n{result.about()}")
    return f


def without_wait():
    path, binary = program("without_wait", replaced(text(), (WAIT, "")))
    schedules = ["eager", "lazy", *(f"random:{seed}" for seed in range(1, 51))]
    for schedule in schedules:
        f = the_error(run(binary, "--schedule", schedule))
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    check(f["missing"]["nearest"]["kind"] == "recorded-not-waited", f"nearest: {f['missing']}")
    check(f["fix"] and f["fix"]["checked"], f"no checked fix: {f['fix']}")
    record, add = lines.index(RECORD) + 1, lines.index(ADD) + 1
    for edit in sorted(f["fix"]["edits"], key=lambda e: -e["line"]):
        check(record < edit["line"] <= add, f"the fix is not between the record ({record}) and add ({add}): {edit}")
        lines.insert(edit["line"] - 1, edit["insert_before"] + "\n")
    _, mended = program("mended", "".join(lines))
    result = run(mended)
    check(result.code == 0 and result.verdict == "clean", f"the fix does not mend the program\n{result.about()}")


def lazy_shows_it():
    _, binary = program("lazy_shows", replaced(text(), (WAIT, "")))
    result = run(binary, "--schedule", "lazy")
    check("mismatches=0" not in result.out and "mismatches=" in result.out, f"lazy shows nothing\n{result.about()}")


def nearest(name, kind, changes):
    _, binary = program(name, replaced(text(), *changes))
    f = the_error(run(binary))
    check(f["missing"]["nearest"]["kind"] == kind, f"nearest is {f['missing']['nearest']['kind']}, not {kind}\n{f}")
    check(f["fix"] and f["fix"]["checked"], f"no checked fix: {f['fix']}")


def expectation_broken():
    _, binary = program("expectation", replaced(text(), (EXPECT, EXPECT.replace("1.0f", "2.0f"))))
    result = run(binary)
    check(result.code == 2 and result.verdict == "clean", f"expected the program's own 2\n{result.about()}")


OTHER = "    cudaEvent_t other;\n    check(cudaEventCreateWithFlags(&other, cudaEventDisableTiming));\n"


def main():
    tally = Tally("seed")
    tally.case("unchanged", clean, "unchanged", [])
    for count in (1, 257, 4097):
        tally.case(f"count {count}", clean, f"count{count}", [(COUNT, COUNT.replace("4096", str(count)))], ("eager", "lazy"), count)
    tally.case("without wait, eager, lazy, 50 seeds, the fix applied", without_wait)
    tally.case("lazy makes the fault visible", lazy_shows_it)
    tally.case("record before scale", nearest, "early", "recorded-early", [(RECORD, ""), (SCALE, RECORD + SCALE)])
    tally.case("wait after add", nearest, "late", "waited-late", [(WAIT, ""), (ADD, ADD + WAIT)])
    tally.case("another event", nearest, "another", "wrong-event",
               [(SCALE, OTHER + "    check(cudaEventRecord(other, producer));\n" + SCALE), (WAIT, WAIT.replace("ready", "other"))])
    tally.case("wait before any record", nearest, "unrecorded", "never-recorded", [(WAIT, ""), (SCALE, WAIT + SCALE)])
    tally.case("re-recorded elsewhere", nearest, "rerecorded", "re-recorded",
               [(RECORD, RECORD + "    check(cudaEventRecord(ready, consumer));\n")])
    tally.case("expectation broken", expectation_broken)
    return tally.finish(harness.only_argument())


if __name__ == "__main__":
    sys.exit(main())
