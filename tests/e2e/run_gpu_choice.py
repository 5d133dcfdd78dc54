#!/usr/bin/env python3
"""Runs on a GPU as far as they go without one: which device is chosen, what the program gets, what is refused.

The tool is copied beside libraries that do nothing, and STREAMSAN_TEST_GPU says that a GPU is there.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import harness
from harness import ROOT, SCHEMA, TOOL, Tally, build_once, check, execute, started, tool_beside_nothing, work_folder

PROGRAMS = ROOT / "tests/e2e/programs"
FOLDER = work_folder("gpu")
WORK = pathlib.Path(FOLDER.name)
SANITIZER = WORK / "sanitizer.so"
GPU = {"STREAMSAN_TEST_GPU": "1", "STREAMSAN_SANITIZER": str(SANITIZER)}
NONE = {"STREAMSAN_TEST_GPU": "1", "HOME": str(WORK), "PATH": "/nowhere:" + os.environ["PATH"], "VIRTUAL_ENV": "", "CONDA_PREFIX": ""}


def tool():
    """The tool, with a capture.so beside it that does nothing."""
    return tool_beside_nothing(WORK, SANITIZER)


def cuda_program():
    """A program that looks as if nvcc had made it."""
    path = WORK / "foreign"
    with harness.LOCKS_GUARD:
        if not path.exists():
            source = WORK / "foreign.c"
            source.write_text('#include <stdio.h>\nconst char device_code[] __attribute__((section(".nv_fatbin"))) = "code";\n'
                              'int main(void) { puts(device_code); return 5; }\n', encoding="utf-8")
            subprocess.run(["cc", "-o", path, source], check=True)
    return path


def expect(words, code, *parts, env=None):
    done = execute([tool(), *words], env={**GPU, **(env or {})})
    check(done.returncode == code, f"{words}: exit {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    for part in parts:
        check(part in done.stdout + done.stderr, f"{words}: no word of {part!r}\n{done.stdout}{done.stderr}")
    return done


SHOW = 'test "$CUDA_INJECTION64_PATH" = "$NVTX_INJECTION64_PATH" || echo NVTX; echo "$CUDA_INJECTION64_PATH|$LD_PRELOAD|$STREAMSAN_SANITIZER"; test ! -e "$STREAMSAN_SESSION/observe" || cat "$STREAMSAN_SESSION/observe"'


def environment():
    capture = (WORK / "tree/lib/streamsan/capture.so").resolve()
    done = expect(["run", "--device", "gpu", "--", "sh", "-c", SHOW], 67, "no CUDA operation was seen")
    check(done.stdout == f"{capture}|{capture}|{SANITIZER.resolve()}\n", done.stdout)
    done = expect(["run", "--", "sh", "-c", SHOW], 67, env={"LD_PRELOAD": str(SANITIZER)})
    check(done.stdout == f"{capture}|{capture}:{SANITIZER}|{SANITIZER.resolve()}\n", done.stdout)
    done = expect(["run", "--", cuda_program()], 67)
    check(done.stdout == "code\n", done.stdout)


def plan():
    done = expect(["run", "--accesses", "footprint", "--kernel", "a *", "--exclude-kernel", "a b", "--launch-skip", "2", "--launch-count", "3",
                   "--window", "nvtx:one step", "--device-memory", "1K", "--", "sh", "-c", SHOW], 67)
    check(done.stdout.split("\n", 1)[1] == "streamsan-observe 1\naccesses footprint\nkernel +a%20*\nkernel -a%20b\nlaunch-skip 2\nlaunch-count 3\n"
          "window nvtx one step\ndevice-memory 1024\n", done.stdout)


def virtual_environment():
    """Nothing of the GPU's reaches a run for the virtual device."""
    for words in (["--device", "virtual"], ["--schedule", "lazy"]):
        done = expect(["run", *words, "--", "sh", "-c", SHOW], 67)
        check(done.stdout == f"||{SANITIZER}\n", done.stdout)
    expect(["run", "--device", "virtual", "--", "sh", "-c", f"true; {cuda_program()}; true"], 67, f"{cuda_program()} was built for a GPU, which this run does not use")
    expect(["run", "--device", "virtual", "--", "sh", "-c", "true"], 67, "only those that 'streamsan cc' has built")
    done = execute([tool(), "run", "--", "sh", "-c", SHOW], env={**GPU, "STREAMSAN_SANITIZER": "/nowhere"})
    check(done.returncode == 67 and done.stdout == "||/nowhere\n", done.stdout + done.stderr)


def refused():
    ours = build_once(WORK / "ours", PROGRAMS / "litmus_l01_two_streams.cu", "-DB")
    expect(["run", "--device", "gpu", "--", ours], 69, "was built by 'streamsan cc' for the virtual device", "leave --device gpu out")
    expect(["run", "--device", "gpu", "--schedule", "lazy", "--", "true"], 64, "--schedule is for the virtual device only", "--help")
    expect(["run", "--device", "gpu", "--threads", "strict", "--", "true"], 64, "--threads strict is for the virtual device only")
    for words in (["--kernel", "a"], ["--accesses", "off"], ["--window", "profiler"]):
        expect(["run", *words, "--", ours], 64, f"{words[0]} is for the GPU only")
        expect(["run", "--device", "virtual", *words, "--", "true"], 64, f"{words[0]} is for the GPU only")
    expect(["run", "--accesses", "exact", "--", ours], 0)
    expect(["run", "--", ours], 0, env={"STREAMSAN_OPTIONS": "--accesses off"})
    expect(["run", "--device", "virtual", "--", cuda_program()], 69, "was not built for the virtual device", "streamsan cc")
    expect(["explore", "--device", "gpu", "--", "true"], 64)


def missing():
    if not pathlib.Path("/dev/nvidiactl").exists():
        done = execute([tool(), "run", "--device", "gpu", "--", "true"])
        check(done.returncode == 69 and "there is no GPU" in done.stderr, done.stderr)
    expect(["run", "--device", "gpu", "--", "true"], 69, "STREAMSAN_SANITIZER names '/nowhere'", env={"STREAMSAN_SANITIZER": "/nowhere"})
    alone = WORK / "alone/bin/streamsan"
    alone.parent.mkdir(parents=True)
    shutil.copy(TOOL, alone)
    done = execute([alone, "run", "--device", "gpu", "--", "true"], env=GPU)
    check(done.returncode == 69 and "capture.so" in done.stderr, done.stderr)


def toolkits():
    """Where the library is looked for, and what of it is too old."""
    def toolkit(name, below):
        folder = WORK / name / below
        folder.mkdir(parents=True)
        shutil.copy(SANITIZER, folder / "libsanitizer-public.so")
        return WORK / name

    tool()
    none = {**NONE, "STREAMSAN_SANITIZER": ""}
    old = toolkit("cuda-12.3", "compute-sanitizer")
    done = execute([tool(), "run", "--device", "gpu", "--", "true"], env={**none, "CUDA_HOME": str(old)})
    if done.returncode == 69:  # no other is installed here
        check("older than CUDA 12.4" in done.stderr, done.stderr)
    for name, below, variable in (("cuda-12.4", "compute-sanitizer", "CUDA_HOME"), ("wheel", "nvidia/cu13/lib", "SANITIZER_API"),
                                  ("plain", "", "SANITIZER_API"), ("cuda-13.0", "compute-sanitizer", "CUDA_PATH"),
                                  ("venv", "lib/python3.9/site-packages/nvidia/cu13/compute-sanitizer", "VIRTUAL_ENV")):
        folder = toolkit(name, below)
        done = execute([tool(), "run", "--device", "gpu", "--", "sh", "-c", "echo $STREAMSAN_SANITIZER"], env={**none, variable: str(folder)})
        check(done.stdout.strip() == str((folder / below / "libsanitizer-public.so").resolve()), f"{name}: {done.stdout}{done.stderr}")


def report():
    done = expect(["run", "--format", "json", "--output", WORK / "r.json", "--", cuda_program()], 67)
    whole = json.loads((WORK / "r.json").read_text(encoding="utf-8"))
    harness.keeps_to(SCHEMA, whole)
    run = whole["run"]
    check(run["schedule"] == "gpu" and run["source"] == "gpu" and run["scope"]["accesses"] == "exact", json.dumps(run))
    check(done.stdout == "code\n", done.stdout)


def live():
    """An error is told while the program still runs; the report comes at its end."""
    racy = build_once(WORK / "racy", PROGRAMS / "litmus_l01_two_streams.cu", "-g", "-DA")
    with started([TOOL, "run", "--live", "always", "--", "sh", "-c", f"{racy}; read line"], stdin=subprocess.PIPE) as child:
        line = child.stderr.readline()
        check(re.match(r"streamsan so far: error: .*litmus_l01_two_streams\.cu:\d+ '.*' against .*:\d+ '.*' \[SSAN-\w+\]\n", line), line)
        check(child.poll() is None, "the program has ended")
        _, err = child.communicate("go\n", harness.TIMEOUT_S)
        check(child.returncode == 66 and "streamsan: errors: 1 error" in err.splitlines()[-1], err)
    done = execute([TOOL, "run", "--live", "never", "--", racy])
    check("so far" not in done.stderr, done.stderr)


def disk_bound():
    """A trace at its limit ends there: what came before counts, the run is incomplete, and says why."""
    many = build_once(WORK / "many", PROGRAMS / "nasty_many.cu")
    kept = WORK / "many.ssan"
    done = execute([TOOL, "run", "--trace-limit", "20K", "--trace", kept, "--", many])
    check(done.returncode == 67 and "no error, but the trace reached its limit (--trace-limit)" in done.stderr, done.stderr)
    check(20000 < kept.stat().st_size < 200000, f"{kept.stat().st_size} bytes")
    operations = int(re.search(r"(\d+) operations", done.stderr)[1])
    check(0 < operations < 9001, done.stderr)
    done = execute([TOOL, "check", kept])
    check(done.returncode == 67 and f" {operations} operations" in done.stderr, done.stderr)
    check(execute([TOOL, "run", "--trace-limit", "1G", "--", many]).returncode == 0, "below its limit")


def doctor():
    expect(["doctor"], 69, "device patches   missing", "device gate      missing", "capture.so", "make capture")
    expect(["doctor"], 69, "CUDA_LAUNCH_BLOCKING is set", env={"CUDA_LAUNCH_BLOCKING": "1"})


def main():
    tally = Tally("gpu-choice")
    for function in (environment, plan, virtual_environment, refused, missing, toolkits, report, live, disk_bound, doctor):
        tally.case(function.__name__.replace("_", " "), function)
    return tally.finish(harness.only_argument())


if __name__ == "__main__":
    sys.exit(main())
