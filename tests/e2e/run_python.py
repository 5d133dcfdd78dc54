#!/usr/bin/python3
"""Python programs under the injected library, on the fake driver: places are lines of the script (run_python.py [part of a name]).

Each Python that is there, 3.9 to 3.13; what a PyTorch program needs a GPU for is in tests/gpu/run_torch.py."""
import glob
import os
import pathlib
import shutil
import sys

import harness
from harness import ROOT, Skip, Tally, check, execute, only_argument, run

BUILD = harness.TOOL.parent.parent
DRIVER = BUILD / "tests/capture/fake/libcuda.so.1"
SCRIPT = ROOT / "tests/e2e/python/side_stream.py"
ENVIRONMENT = {"STREAMSAN_TEST_GPU": "1", "STREAMSAN_SANITIZER": str(DRIVER)}


def tagged(tag):
    return 1 + [f"# @{tag}" in line for line in SCRIPT.read_text(encoding="utf-8").splitlines()].index(True)


def python_of(minor):
    """A real interpreter, not a script that starts one."""
    places = [f"/usr/bin/python3.{minor}", *sorted(glob.glob(os.path.expanduser(f"~/.pyenv/versions/3.{minor}.*/bin/python3")))]
    for place in places:
        if os.path.exists(place) and execute([place, "-c", "import ctypes"]).returncode == 0:
            return place
    raise Skip(f"no Python 3.{minor} with ctypes")


def side_stream(minor, option):
    python = python_of(minor)
    for path in (DRIVER, BUILD / "lib/streamsan/capture.so"):
        if not path.exists():
            raise Skip(f"{path.relative_to(BUILD)} is not built")
    result = run([python, SCRIPT], "--device", "gpu", "--accesses", "off", "--verbose", args=(DRIVER,), env=ENVIRONMENT)
    check(result.out == "done\n", result.about())
    errors = result.findings(("error",))
    check([f["rule"] for f in errors] == ["SSAN-RAW"], f"{[f['rule'] for f in errors]} {result.about()}")
    ops = {o["id"]: o for o in result.report["operations"]}
    for side, function in (("first", "Loader.fill"), ("then", "Loader.drain")):
        op = ops[errors[0][side]["op"]]
        check((pathlib.Path(op["at"]["file"]).name, op["at"]["line"]) == (SCRIPT.name, tagged(side)), f"{side}: {op['at']}")
        frames = [f for f in op["stack"] if f["language"] == "python"]
        name = frames[0]["function"].replace(".<locals>.<listcomp>", "") if minor > 10 else "Loader." + {"<listcomp>": "drain"}.get(frames[0]["function"], frames[0]["function"])
        check(name == function, f"{side}: {frames[0]}")
        check(op["stack"].index(frames[0]) > 0, f"{side}: no frame of a library below the script's")
    main = next(f for f in ops[errors[0]["first"]["op"]]["stack"] if f["function"] == "main")
    check(main["language"] == "python", str(main))
    text = execute([harness.TOOL, "run", "--device", "gpu", "--accesses", "off", "--", python, SCRIPT, DRIVER], env=ENVIRONMENT)
    check(f"{SCRIPT.name}:{tagged('then')}: error: " in text.stderr, f"the first line is not at the script's\n{text.stderr}")


def main():
    tally = Tally("python")
    for minor in range(9, 14):
        tally.case(f"side_stream_3.{minor}", side_stream, minor, "")
    return tally.finish(only_argument())


if __name__ == "__main__":
    sys.exit(main())
