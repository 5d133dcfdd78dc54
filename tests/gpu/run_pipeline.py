#!/usr/bin/python3
"""The pipeline library on a GPU: right results, plain and under the tool, over its shapes (run_pipeline.py [--device gpu|virtual] [part]).

Two devices are used where there are two. Other options: devices.py.
"""
import pathlib
import sys

import devices
from devices import NVCC, OPTIONS, ROOT, Programs, check, execute, needs_gpu, run
from harness import TOOL, Skip, Tally, work_folder

SOURCE = ROOT / "tests/pipeline/programs/matrix.cu"
LIBRARY = TOOL.parents[1] / "lib"
WORK = work_folder("gpu-pipeline")
PLAIN_RUNS = 5
SHAPES = ("slots=1", "slots=3", "slots=3 timing=1 blocking=1", "slots=4 producers=3 consumers=2 elems=-1", "slots=4 consumers=2 in_order=0 copy_streams=2",
          "slots=2 elems=0", "slots=3 staged=1", "slots=3 staged=1 landings=1 elems=-1", "slots=2 peer=1", "slots=2 peer=1 copy_out=0 consumers=2 share=1",
          "slots=3 abandon=1 max_kb=40", "slots=2 flush=1", "slots=2 drain=1")
TWO = ("slots=2 peer=1 devices=2", "slots=2 peer=1 copy_out=0 devices=2 producers=2 consumers=2", "slots=2 staged=1 devices=2 producers=2 elems=-1")


def device_count():
    """Of GPUs; 2 virtual ones."""
    if OPTIONS.device == "virtual":
        return 2
    needs_gpu()
    return devices.GPUS


def shape(programs, words, need):
    """Right without the tool, again and again; right under it, and no error found."""
    if device_count() < need:
        raise Skip(f"needs {need} devices")
    program, args = programs.get(OPTIONS.device, "matrix"), ["jobs=40", *words.split()]
    device = OPTIONS.device if OPTIONS.device == "gpu" else f"virtual:{need}"
    for _ in range(PLAIN_RUNS if OPTIONS.device == "gpu" else 0):
        done = execute([program, *args], timeout=devices.TIMEOUT_S)
        check(done.returncode == 0 and done.stdout == "jobs=40 wrong=0 told=0\n", f"plain: exit {done.returncode}\n{done.stdout}{done.stderr}")
    done = run(device, program, args=args, name=words)
    check(done.out == "jobs=40 wrong=0 told=0\n" and not done.findings(("error",)), done.about())
    check(done.code in (0, 67), done.about())
    print(f"{words}: {done.verdict_line[:160]}", flush=True)


def main():
    devices.options(__doc__.split("\n", 1)[0], virtual=True)
    programs = Programs(WORK.name)
    programs.add("matrix", SOURCE, "-std=c++17", "-L", LIBRARY, "-l:libstreamsan-pipeline.a", "-lpthread")
    if OPTIONS.build:
        return programs.build_all([d for d in devices.DEVICES if d == "virtual" or pathlib.Path(NVCC).exists()])
    tally = Tally("gpu-pipeline" if OPTIONS.device == "gpu" else "gpu-pipeline-virtual")
    for words, need in (*((words, 1) for words in SHAPES), *((words, 2) for words in TWO)):
        tally.case(words, shape, programs, words, need)
    return tally.finish(OPTIONS.part, OPTIONS.jobs)


if __name__ == "__main__":
    sys.exit(main())
