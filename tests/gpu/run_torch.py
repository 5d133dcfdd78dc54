#!/usr/bin/python3
"""The PyTorch scripts on a GPU, unmodified (run_torch.py [part of a name]).

tests/cases/torch, both variants, scored for faults on device memory; those whose other side is the host say that host
accesses were not observed; a graph may be incomplete. Two scripts of tests/gpu/torch: a pipeline that packs in a
background thread, unsafe and safe; and a plain training loop: no error, few `possible`. Other options: devices.py.
"""
import pathlib
import re
import sys

import devices
from devices import OPTIONS, ROOT, TIMEOUT_S, execute, masked, needs_gpu, run
from case_lists import VARIANTS, score
from harness import Skip, Tally, check, lock_of, work_folder

CASES = ROOT / "tests/cases/torch"
OURS = ROOT / "tests/gpu/torch"
HOST_SIDE = ("t03_d2h_early_read", "t04_pinned_batch_overwrite")
GRAPH = "t06_graph_static_input"
POSSIBLE_AT_MOST = 5
WORK = work_folder("torch")
RUNS = {}


def needs_torch():
    needs_gpu()
    if execute([sys.executable, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"]).returncode:
        raise Skip("no torch for this python3")


def python_run(script, variant):
    """The run of a script under the tool, made once."""
    with lock_of((script, variant)):
        if (script, variant) not in RUNS:
            RUNS[script, variant] = run("gpu", [sys.executable, script], env={"VARIANT": variant}, name=f"{script.stem}-{variant}")
    return RUNS[script, variant]


def python_lines(result, script):
    """Every side of an error finding stands on a line of the script."""
    ops = {o["id"]: o for o in result.report["operations"]}
    for f in result.findings(("error",)):
        for side in ("first", "then"):
            op = ops[f[side]["op"]]
            frames = [op.get("at"), *(op.get("stack") or [])]
            check(any(frame and pathlib.Path(frame.get("file") or "").name == script.name for frame in frames),
                  f"{f['rule']}: {op['id']} has no line of {script.name}\n{result.about()}")


def scored(script, variant):
    needs_torch()
    result = python_run(script, variant)
    check(result.report is not None, f"no report\n{result.about()}")
    if script.stem == GRAPH and result.code == 67:
        return check(any("raph" in str(call) or "apture" in str(call) for call in result.report["run"]["unsupported_calls"]), f"no graph call is named\n{result.about()}")
    got = score.score(script, variant, result.report, memory="device")
    check(got.right, "\n".join([str(got), *got.lines(), result.about()]))
    python_lines(result, script)
    if got.expected:
        check(result.code == 66, f"expected 66\n{result.about()}")
    elif script.stem in HOST_SIDE:
        check("host accesses not observed" in result.verdict_line, f"the verdict is silent about the host\n{result.about()}")
    else:
        check(result.verdict == "clean", f"expected clean\n{result.about()}")
    return None


def undisturbed(script):
    """The repaired form prints and returns what it does without the tool."""
    needs_torch()
    native = execute([sys.executable, script], env={"VARIANT": "fixed"}, timeout=TIMEOUT_S)
    seen = python_run(script, "fixed")
    check(masked(native.stdout) == masked(seen.out), f"native output {native.stdout!r}\n{seen.about()}")
    check(seen.report["run"]["exit"]["code"] == native.returncode == 0, f"native exit {native.returncode}\n{native.stderr}\n{seen.about()}")


def training():
    needs_torch()
    result = python_run(OURS / "train_loop.py", "fixed")
    check(result.report is not None and re.search(r"^steps=50 falls=True$", result.out, re.M), f"the loop did not run\n{result.about()}")
    check(not result.findings(("error",)), f"an error in a plain training loop\n{result.about()}")
    possible = [f.get("message", f["rule"]) for top in result.report["findings"] for f in [top, *top["folded"]] if f.get("sureness") == "possible"]
    print(f"training loop: {len(possible)} possible", *possible, sep="\n  ", flush=True)
    check(len(possible) <= POSSIBLE_AT_MOST, f"{len(possible)} possible\n{result.about()}")
    check(result.code in (0, 67), f"exit {result.code}\n{result.about()}")


def main():
    devices.options(__doc__.split("\n", 1)[0])
    tally = Tally("gpu-torch")
    for script in [*sorted(CASES.glob("t[0-9]*.py")), OURS / "background_packing.py"]:
        for variant in VARIANTS:
            tally.case(f"{script.stem} {variant}", scored, script, variant)
        tally.case(f"{script.stem} undisturbed", undisturbed, script)
    tally.case("training loop of 50 steps", training)
    return tally.finish(OPTIONS.part, OPTIONS.jobs)


if __name__ == "__main__":
    sys.exit(main())
