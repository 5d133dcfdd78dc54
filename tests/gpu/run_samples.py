#!/usr/bin/python3
"""Other people's programs: NVIDIA's public samples give the same output and exit code, and no false error.

CUDA_SAMPLES=TREE run_samples.py --build FOLDER builds those of SAMPLES from a checkout of NVIDIA's sample programs (nothing of it
is kept in this repository); run_samples.py --built FOLDER runs each as it is and under streamsan, compares output (times
and rates masked) and exit code, and lists the verdicts. Without either all are skipped. Other options: devices.py.
"""
import os
import pathlib
import re
import sys

import devices
from devices import ARCH, NVCC, OPTIONS, TIMEOUT_S, execute, masked, needs_gpu, run
from harness import Skip, Tally, check, work_folder

# Folder below Samples, arguments. All sources of the folder make one program.
SAMPLES = (
    ("0_Introduction/simpleStreams", ()),
    ("0_Introduction/asyncAPI", ()),
    ("0_Introduction/simpleMultiCopy", ()),
    ("0_Introduction/simpleHyperQ", ()),
    ("0_Introduction/simpleCallback", ()),
    ("0_Introduction/simpleZeroCopy", ()),
    ("0_Introduction/vectorAdd", ()),
    ("0_Introduction/matrixMul", ()),
    ("0_Introduction/mergeSort", ()),
    ("2_Concepts_and_Techniques/reduction", ("--n=1048576",)),
    ("2_Concepts_and_Techniques/scan", ()),
    ("2_Concepts_and_Techniques/threadFenceReduction", ()),
    ("2_Concepts_and_Techniques/convolutionSeparable", ()),
    ("3_CUDA_Features/StreamPriorities", ()),
    ("3_CUDA_Features/globalToShmemAsyncCopy", ()),
)
# True errors of a sample: the rule, and why it is no false one.
TRUE_ERRORS = {
    "StreamPriorities": ("SSAN-RAW", "cudaMemcpy from pageable memory may return before the device side is written (R-COPY-8), and its kernels run on "
                                     "non-blocking streams, which nothing makes wait"),
}
# Lines that tell how fast the program was in words that no mask knows.
VARYING = re.compile(r"^.*(?:time|Time|elapsed|bandwidth|Bandwidth|throughput|Throughput|speedup|Perform|CPU executed).*$", re.M)
WORK = work_folder("samples")


def compiled(tree, place, output):
    folder = tree / "Samples" / place
    if not folder.is_dir():
        raise Skip(f"no {folder}")
    sources = sorted([*folder.glob("*.cu"), *folder.glob("*.cpp")])
    output.parent.mkdir(parents=True, exist_ok=True)
    done = execute([NVCC, "-O2", "-lineinfo", "-std=c++17", f"-arch={ARCH}", "-cudart", "static", "-I", tree / "Common", "-I", folder,
                    "-o", output, *sources], timeout=900)
    check(done.returncode == 0, f"nvcc: exit {done.returncode}\n{done.stdout}{done.stderr}")


def comparable(text):
    return masked(VARYING.sub("~", text))


def compared(program, args):
    needs_gpu()
    if not program.exists():
        raise Skip(f"--built holds no {program.name}")
    name = program.name
    native = execute([program, *args], cwd=WORK.name, timeout=TIMEOUT_S)
    seen = run("gpu", program, args=args, name=f"sample-{name}")
    print(f"{name:<24} exit {native.returncode}, {seen.report['run']['exit']['code'] if seen.report else seen.code}: {seen.verdict_line[:230]}", flush=True)
    check(seen.report is not None, f"no report\n{seen.about()}")
    check(native.returncode == seen.report["run"]["exit"]["code"], f"native exit {native.returncode}\n{native.stderr}\n{seen.about()}")
    check(comparable(native.stdout) == comparable(seen.out), f"native output\n{native.stdout}\n{seen.about()}")
    rule, why = TRUE_ERRORS.get(name, (None, ""))
    errors = [f["rule"] for f in seen.findings(("error",))]
    check(set(errors) <= {rule}, f"errors to look at: {errors}\n{seen.about()}")
    if errors:
        print(f"{name}: a true {rule}: {why}", flush=True)


def main():
    devices.options(__doc__.split("\n", 1)[0])
    tree = pathlib.Path(os.environ.get("CUDA_SAMPLES", "samples")).resolve()
    tally = Tally("gpu-samples")
    for place, args in SAMPLES:
        name = pathlib.PurePath(place).name
        if OPTIONS.build:
            tally.case(name, compiled, tree, place, OPTIONS.build / "samples" / name)
        elif OPTIONS.built:
            tally.case(name, compared, OPTIONS.built / "samples" / name, args)
        else:
            tally.case(name, skipped)
    return tally.finish(OPTIONS.part, OPTIONS.jobs)


def skipped():
    needs_gpu()
    raise Skip("NVIDIA's sample programs are not here (--built FOLDER)")


if __name__ == "__main__":
    sys.exit(main())
