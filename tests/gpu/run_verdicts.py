#!/usr/bin/python3
"""The programs of tests/e2e/programs, which state their verdict, on a GPU (run_verdicts.py [part of a name]).

They are built by nvcc with the shared runtime; exit code, output and findings are those that their first lines state for the
virtual device, whatever it is (../e2e/run_programs.py). A block that names a schedule is about the virtual device alone, and
is skipped. Other options: devices.py.
"""
import pathlib
import sys

import devices
from devices import ARCH, NVCC, OPTIONS, ROOT, execute, needs_gpu
import run_programs
from harness import Skip, Tally, check, work_folder

WORK = work_folder("verdicts")
VIRTUAL_ONLY = {  # by name of the case: why a GPU gives another verdict
    "memory_freed_device -DOUTSIDE": "a GPU maps whole pages, so the access behind the block does not fault",
}


def nvcc(*words):
    done = execute([NVCC, "-O2", "-g", "-lineinfo", f"-arch={ARCH}", "-cudart", "shared", "-Xlinker", "-rpath=/usr/local/cuda/lib64", "--extended-lambda",
                    "-I", ROOT / "include", *words], timeout=600)
    check(done.returncode == 0, f"nvcc: exit {done.returncode}\n{done.stdout}{done.stderr}")


def output_of(path, number):
    return pathlib.Path(OPTIONS.build or OPTIONS.built or WORK.name) / "verdicts" / f"{path.stem}-{number}"


def compiled(path, variant, number):
    output = output_of(path, number)
    if output.exists():
        return output
    check(not OPTIONS.built, f"--built holds no verdicts/{output.name}")
    if not pathlib.Path(NVCC).exists():
        raise Skip("no nvcc here, and no --built folder")
    output.parent.mkdir(parents=True, exist_ok=True)
    objects = [output.with_name(f"{output.name}-{i}.o") for i, _ in enumerate(variant.objects)]
    for words, target in zip(variant.objects, objects):
        nvcc("-c", "-o", target, *words)
    nvcc("-o", output, *variant.words, path, *objects)
    for target in objects:
        target.unlink()
    return output


def name_of(path, variant):
    return " ".join([path.stem, *variant.words])


def judged(path, variant, number, block):
    name = name_of(path, variant)
    if name in VIRTUAL_ONLY:
        raise Skip(VIRTUAL_ONLY[name])
    if any("--schedule" in text for text in block.get("RUN", [])):
        raise Skip("the block names a schedule of the virtual device")
    needs_gpu()
    run_programs.holds(compiled(path, variant, number), block, "--device", "gpu")


def main():
    devices.options(__doc__.split("\n", 1)[0])
    tally = Tally("gpu-verdicts")
    for path in sorted(run_programs.PROGRAMS.glob("*.cu")):
        for number, variant in enumerate(run_programs.variants(path)):
            name = name_of(path, variant)
            if OPTIONS.build:
                tally.case(name, compiled, path, variant, number)
                continue
            for block in variant.blocks:
                tally.case(" ".join([name, *block.get("RUN", []), *block.get("ARGS", [])]), judged, path, variant, number, block)
    return tally.finish(OPTIONS.part, OPTIONS.jobs)


if __name__ == "__main__":
    sys.exit(main())
