#!/usr/bin/env python3
"""`streamsan witness` on a GPU as far as it goes without one: which kernels are held, what is compared, what is printed.

A stand-in gives the trace of a program out of a listing and computes what a held kernel would make it compute
(tests/support/gpu_stand_in.c); the tool is copied beside libraries that do nothing.
"""
import json
import pathlib
import shlex
import sys

import harness
from harness import ROOT, SCHEMA, TOOL, Skip, Tally, check, execute, tool_beside_nothing, work_folder

LISTINGS = ROOT / "tests/e2e/gates"
STAND_IN = TOOL.parent / "gpu_stand_in"
FOLDER = work_folder("gates")
WORK = pathlib.Path(FOLDER.name)
SANITIZER = WORK / "sanitizer.so"
GPU = {"STREAMSAN_TEST_GPU": "1", "STREAMSAN_SANITIZER": str(SANITIZER)}


def tool():
    if not STAND_IN.exists():
        raise Skip(f"{STAND_IN} is not built")
    return tool_beside_nothing(WORK, SANITIZER)


def witness(*words, options=(), code=66):
    output = WORK / f"{abs(hash((words, options)))}.json"
    done = execute([tool(), "witness", "--device", "gpu", "--format", "json", "--output", output, *options, "--", STAND_IN,
                    LISTINGS / "pipeline.litmus", *words], env=GPU)
    check(done.returncode == code, f"exit {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    report = json.loads(output.read_text(encoding="utf-8"))
    harness.keeps_to(SCHEMA, report)
    return done, {(f["first"]["op"], f["then"]["op"]): f["witness"] for f in report["findings"] if f["severity"] == "error"}


def shown():
    """Each finding that can be held happens, in one trial; the program's own output is that of the first run."""
    done, found = witness("right", "s1.3:s2.2", "s2.2:s3.2")
    check(done.stdout == "elements=16 mismatches=0\n", done.stdout)
    check(set(found) == {("s1.3", "s2.2"), ("s2.2", "s3.2"), ("s3.3", "s1.4")}, found)
    for pair, kernel in ((("s1.3", "s2.2"), "shift"), (("s2.2", "s3.2"), "square")):
        w = found[pair]
        check(w["kind"] == "shown" and w["gate"] == {"held": pair[0], "kernel": kernel, "until": pair[1]}, w)
        check(w["exit"] == {"got": {"code": 2, "signal": None}, "expected": {"code": 0, "signal": None}}, w)
        check(w["output"] == {"line": 1, "got": "elements=16 mismatches=15", "expected": "elements=16 mismatches=0"}, w)
        check(w["effect"] is None and w["order"] == [] and (w["reproduced"], w["repeats"]) == (1, 1), w)
        check(w["replay"][:7] == ["streamsan", "run", "--device", "gpu", "--gate", f"{pair[0]}:{pair[1]}", "--"], w)
    w = found["s3.3", "s1.4"]
    check(w["kind"] == "no-gate" and w["gate"] is None and w["replay"] is None and "comes behind each" in w["detail"], w)


def wrong_by_itself():
    """A first run that is wrong already is no expectation: a run in which the host waits is."""
    done, found = witness("wrong", "s1.3:s2.2")
    check(done.stdout == "elements=16 mismatches=15\n", done.stdout)
    check(found["s1.3", "s2.2"]["output"]["expected"] == "elements=16 mismatches=0", found)
    check(found["s2.2", "s3.2"]["kind"] == "infeasible" and "was held for" in found["s2.2", "s3.2"]["detail"], found)


def no_calm_run():
    """A program that can't end while the host waits behind each item is compared with its first run."""
    _, found = witness("right", "serial=wrong", "s1.3:s2.2", options=("--time", "4"))
    check(found["s1.3", "s2.2"]["kind"] == "shown", found)


def some_blocks():
    """Where all blocks leave no room for the partner, some are held."""
    _, found = witness("right", "blocks:s1.3:s2.2")
    w = found["s1.3", "s2.2"]
    check(w["kind"] == "shown" and w["replay"][5] == "s1.3:s2.2,blocks=64", w)


def host_access():
    """An access of the host is waited for as it is announced."""
    done = execute([tool(), "witness", "--device", "gpu", "--", STAND_IN, LISTINGS / "host.litmus", "right", "s1.1:a1.2"], env=GPU)
    words = " ".join(done.stderr.split())
    check("holding fill (s1.1) until the host reads 'out' gives output line 1" in words and "--gate s1.1:a1.2 --" in words, done.stderr)


def repeats():
    _, found = witness("right", "s2.2:s3.2", options=("--repeat", "3"))
    check((found["s2.2", "s3.2"]["reproduced"], found["s2.2", "s3.2"]["repeats"]) == (3, 3), found)


def text_and_replay():
    """The printed command shows it again."""
    done = execute([tool(), "witness", "--device", "gpu", "--", STAND_IN, LISTINGS / "pipeline.litmus", "right", "s1.3:s2.2"], env=GPU)
    words = " ".join(done.stderr.split())
    check("holding shift on 'A' until square on 'B' is done gives output line 1 'elements=16 mismatches=15', expected 'elements=16 mismatches=0'; "
          "exit code 2, expected 0" in words, done.stderr)
    check("none on a GPU: only kernels can be held there, and the other operation, too, comes behind each" in words, done.stderr)
    line = next(t for t in done.stderr.splitlines() if t.strip().startswith("streamsan run --device gpu --gate"))
    replay = shlex.split(line)
    done = execute([tool(), *replay[1:]], env=GPU)
    check(done.returncode == 66 and done.stdout == "elements=16 mismatches=15\n", done.stdout + done.stderr)


def gate_option():
    """What `run --gate` takes and hands on; a gate that does not hold makes the run incomplete."""
    show = 'test ! -e "$STREAMSAN_SESSION/observe" || cat "$STREAMSAN_SESSION/observe"; echo "$CUDA_MODULE_LOADING"'
    done = execute([tool(), "run", "--gate", "s1.2:s2.1,blocks=3", "--gate", "s1.4:s2.1", "--", "sh", "-c", show], env=GPU)
    check(done.stdout == "streamsan-observe 1\naccesses exact\ngate s1.2:s2.1,blocks=3\ngate s1.4:s2.1\nEAGER\n", done.stdout + done.stderr)
    done = execute([tool(), "run", "--gate", "s1.3:s2.2", "--accesses", "off", "--", STAND_IN, LISTINGS / "pipeline.litmus", "right"], env=GPU)
    check(done.returncode == 67 and "it was held for 300 ms" in done.stderr, done.stdout + done.stderr)
    for words in (["s1.2"], ["s1.2:s1.3"], ["s1.2:s2.1,blocks=0"]):
        done = execute([tool(), "run", "--gate", *words, "--", "true"], env=GPU)
        check(done.returncode == 64 and "gate" in done.stderr, done.stderr)
    for words in (["run", "--gate", "s1.2:s2.1", "--schedule", "lazy"], ["witness", "--device", "gpu", "--bisect"],
                  ["witness", "--device", "gpu", "--keep", WORK], ["witness", "--device", "gpu", "--serialize", "all"]):
        done = execute([tool(), *words, "--", "true"], env=GPU)
        check(done.returncode == 64 and "virtual device only" in done.stderr, f"{words}: {done.stderr}")


def main():
    tally = Tally("gates")
    for function in (shown, wrong_by_itself, no_calm_run, some_blocks, host_access, repeats, text_and_replay, gate_option):
        tally.case(function.__name__.replace("_", " "), function)
    return tally.finish(harness.only_argument())


if __name__ == "__main__":
    sys.exit(main())
