#!/usr/bin/python3
"""Other people's programs: NVIDIA's public samples give the same output and exit code, and no false error.

CUDA_SAMPLES=TREE run_samples.py --build FOLDER builds those of SAMPLES from a checkout of NVIDIA's sample programs (nothing of it
is kept in this repository); run_samples.py --built FOLDER runs each as it is and under streamsan, compares output (times
and rates masked) and exit code, and lists the verdicts. Without either all are skipped. Other options: devices.py.
"""
import os
import pathlib
import re
import shutil
import sys

import devices
from devices import ARCH, NVCC, OPTIONS, TIMEOUT_S, execute, masked, needs_gpu, run
from harness import Skip, Tally, check, work_folder

IPC = ("Common/helper_multiprocess.cpp", "-lcuda")
DYNAMIC = ("-rdc=true", "-lcudadevrt")
# By folder below Samples: a name, or a name with arguments of the program and words for nvcc (those that hold a / lie in the
# tree). All sources of the folder make one program.
SAMPLES = {
    "0_Introduction": (
        "asyncAPI", "clock", ("cudaOpenMP", (), ("-Xcompiler=-fopenmp",)), "fp16ScalarProduct", "matrixMul", "mergeSort", "simpleAWBarrier",
        "simpleAssert", "simpleAtomicIntrinsics", "simpleCallback", "simpleCooperativeGroups", "simpleCubemapTexture",
        ("simpleDrvRuntime", (), ("-lcuda",)), "simpleHyperQ", ("simpleIPC", (), IPC), "simpleLayeredTexture", "simpleMultiCopy",
        "simpleMultiGPU", "simpleOccupancy", "simpleP2P", "simplePitchLinearTexture", "simplePrintf", "simpleStreams", "simpleSurfaceWrite",
        "simpleTemplates", "simpleTexture", "simpleVoteIntrinsics", "simpleZeroCopy", "systemWideAtomics", "template",
        "vectorAdd"),
    "2_Concepts_and_Techniques": (
        "convolutionSeparable", "convolutionTexture", "dct8x8", "eigenvalues", "histogram", "inlinePTX", "interval",
        "radixSortThrust", ("reduction", ("--n=1048576",)), "reductionMultiBlockCG", "scalarProd", "scan", "segmentationTreeThrust",
        "shfl_scan", "sortingNetworks", "streamOrderedAllocation", ("streamOrderedAllocationIPC", (), IPC), "streamOrderedAllocationP2P",
        "threadFenceReduction"),
    "3_CUDA_Features": (
        "StreamPriorities", "bf16TensorCoreGemm", "binaryPartitionCG", ("cdpAdvancedQuicksort", (), DYNAMIC), ("cdpQuadtree", (), DYNAMIC),
        ("cdpSimplePrint", (), DYNAMIC), ("cdpSimpleQuicksort", (), DYNAMIC), ("cudaCompressibleMemory", (), ("-lcuda",)),
        "cudaTensorCoreGemm", "dmmaTensorCoreGemm", "globalToShmemAsyncCopy", "graphConditionalNodes", "graphMemoryFootprint",
        "graphMemoryNodes", "immaTensorCoreGemm", "jacobiCudaGraphs", "newdelete", "simpleCudaGraphs", "tf32TensorCoreGemm",
        "warpAggregatedAtomicsCG"),
    "5_Domain_Specific": (
        "BlackScholes", "HSOpticalFlow", "SobolQRNG", "binomialOptions", "dwtHaar1D", "dxtc", "fastWalshTransform",
        "quasirandomGenerator"),
}
# True errors of a sample: the rule, and why it is no false one.
PAGEABLE = ("SSAN-RAW", "cudaMemcpy from pageable memory may return before the device side is written (R-COPY-8), and its kernels run on "
                        "non-blocking streams, which nothing makes wait")
TRUE_ERRORS = {"StreamPriorities": PAGEABLE, "graphMemoryNodes": PAGEABLE}
# Kernels that nothing orders print it: which comes first is not always the same.
UNORDERED = {"graphConditionalNodes"}
# Not the same from run to run: how much the driver's pools hold, and in what order blocks come.
VARIES = {"graphMemoryFootprint", "cdpSimplePrint"}
# Lines that tell how fast the program was in words that no mask knows.
VARYING = re.compile(r"^.*(?:time|Time|elapsed|bandwidth|Bandwidth|throughput|Throughput|speedup|Perform|CPU executed).*$", re.M)
WORK = work_folder("samples")


def compiled(tree, place, words, output):
    folder = tree / "Samples" / place
    if not folder.is_dir():
        raise Skip(f"no {folder}")
    sources = sorted([*folder.glob("*.cu"), *folder.glob("*.cpp")])
    output.parent.mkdir(parents=True, exist_ok=True)
    if (folder / "data").is_dir():
        shutil.copytree(folder / "data", output.with_suffix(".data"), dirs_exist_ok=True)
    done = execute([NVCC, "-O2", "-lineinfo", "-std=c++17", f"-arch={ARCH}", "-cudart", "static", "-I", tree / "Common", "-I", folder,
                    "-o", output, *sources, *(tree / word if "/" in word else word for word in words)], timeout=900)
    check(done.returncode == 0, f"nvcc: exit {done.returncode}\n{done.stdout}{done.stderr}")


def place_of_its_own(program, side):
    """A folder to run in, with the files that the program reads: it may write beside them."""
    folder = pathlib.Path(WORK.name) / side / program.name
    folder.mkdir(parents=True)
    if program.with_suffix(".data").is_dir():
        shutil.copytree(program.with_suffix(".data"), folder / "data")
    return folder


def comparable(name, text):
    text = re.sub(r"shm\d+", "shm", masked(VARYING.sub("~", text)))
    return None if name in VARIES else sorted(text.splitlines()) if name in UNORDERED else text


def compared(program, args):
    needs_gpu()
    if not program.exists():
        raise Skip(f"--built holds no {program.name}")
    name = program.name
    native = execute([program, *args], cwd=place_of_its_own(program, "native"), timeout=TIMEOUT_S)
    seen = run("gpu", program, args=args, name=f"sample-{name}", cwd=place_of_its_own(program, "seen"))
    print(f"{name:<24} exit {native.returncode}, {seen.report['run']['exit']['code'] if seen.report else seen.code}: {seen.verdict_line[:230]}", flush=True)
    check(seen.report is not None, f"no report\n{seen.about()}")
    check(native.returncode == seen.report["run"]["exit"]["code"], f"native exit {native.returncode}\n{native.stderr}\n{seen.about()}")
    check(comparable(name, native.stdout) == comparable(name, seen.out), f"native output\n{native.stdout}\n{seen.about()}")
    rule, why = TRUE_ERRORS.get(name, (None, ""))
    errors = [f["rule"] for f in seen.findings(("error",))]
    check(set(errors) <= {rule}, f"errors to look at: {errors}\n{seen.about()}")
    if errors:
        print(f"{name}: a true {rule}: {why}", flush=True)


def main():
    devices.options(__doc__.split("\n", 1)[0])
    tree = pathlib.Path(os.environ.get("CUDA_SAMPLES", "samples")).resolve()
    tally = Tally("gpu-samples")
    for folder, sample in ((folder, sample) for folder, samples in SAMPLES.items() for sample in samples):
        name, args, words = (*sample, ())[:3] if isinstance(sample, tuple) else (sample, (), ())
        if OPTIONS.build:
            tally.case(name, compiled, tree, f"{folder}/{name}", words, OPTIONS.build / "samples" / name)
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
