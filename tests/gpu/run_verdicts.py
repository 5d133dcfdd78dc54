#!/usr/bin/python3
"""The programs of tests/e2e/programs, which state their verdict, on a GPU (run_verdicts.py [part of a name]).

They are built by nvcc with the shared runtime; exit code, output and findings are those that their first lines state for the
virtual device, whatever it is (../e2e/run_programs.py). A block with an option of the virtual device alone (a schedule, a call
that is to fail) is skipped; one for N virtual devices sees N GPUs, and is skipped where there are fewer. Other options: devices.py.
"""
import os
import pathlib
import re
import shlex
import sys

import devices
from devices import ARCH, NVCC, OPTIONS, ROOT, execute, needs_gpu
import run_programs
from harness import TOOL, Skip, Tally, check, work_folder

WORK = work_folder("verdicts")
OPTIONS_DEF = (ROOT / "src/cli/options.def").read_text(encoding="utf-8")
DEVICE = re.compile(r"--device[ =](?:virtual(?::(\d+))?|auto|gpu)(?!\S)")
FAULTS = {"VERDICT": ["incomplete"], "EXIT": ["67"], "SAYS": ["illegal address"], "FINDING": []}
# By name of the case: why a GPU gives another verdict, and what it is; without one the case is skipped.
OTHERWISE = {
    "memory_freed_device -DOUTSIDE": ("a GPU maps whole pages, so the access behind the block does not fault", None),
    "memory_freed_device -DREAD": ("the pages are still mapped: the kernel does not fault, and reads all",
                                   {"FINDING": ["error SSAN-USE-AFTER-FREE 'p' [0,16384) then=kernel:take"]}),
    "memory_freed_device -DWRITE": ("the same", {"FINDING": ["error SSAN-USE-AFTER-FREE 'p' [0,16384) then=kernel:fill"]}),
    "memory_freed_device -DPINNED": ("the kernel faults, and what it recorded is gone with its context", FAULTS),
    "nasty_generations -DAFTER_FREE": ("the same", FAULTS),
    "nasty_faults -DBOUNDS": ("memory for records may lie right behind the block: the kernel faults, or writes there, which is told",
                              {**FAULTS, "STDOUT": []}),
    "memory_freed_pinned -DSET": ("the driver refuses the address, nothing is enqueued", None),
    "devices_no_peer_access -DOFF": ("the driver does not say whose memory a kernel was not to access", FAULTS),
    "errors_late": ("the driver does not say which kernel failed", {"FINDING": ["warning SSAN-LATE-ERROR"]}),
    "errors_late -DSPELLED": ("nor is it seen that a program spells an error", {"FINDING": ["warning SSAN-LATE-ERROR"]}),
    "warp_lanes_elsewhere -DPARTLY": ("a GPU waits for the lanes for ever", None),
    "warp_lanes_elsewhere -DELSEWHERE": ("a GPU lets lanes at different shuffles meet", None),
    "nasty_symbols -DCONSTANT": ("reads of constant memory are no global accesses, and are not seen", None),
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
    nvcc("-o", output, *variant.words, path, *objects, "-L", TOOL.parents[1] / "lib", *variant.libs)
    for target in objects:
        target.unlink()
    return output


def name_of(path, variant):
    return " ".join([path.stem, *variant.words])


def virtual_only():
    """Options of `streamsan run` that a GPU does not have: --schedule, --fail, ..."""
    names = dict(re.findall(r'^OPTION\((\w+), "([\w-]+)"', OPTIONS_DEF, re.M))
    return [f"--{names[key]}" for key in re.findall(r"^ONLY\((\w+), VIRTUAL\)", OPTIONS_DEF, re.M)] + ["--threads strict"]


def environment(run):
    """What a block with these options sees: as many GPUs as virtual devices. Skips what no GPU, or not so many, can show."""
    for option in virtual_only():
        if re.search(rf"(?<!\S){option}(?![\w-])", run):
            raise Skip(f"{option} is for the virtual device only")
    needs_gpu()
    named = DEVICE.search(run)
    count = int(named[1] or 1) if named else 1
    if count > devices.GPUS:
        raise Skip(f"needs {count} devices")
    gpus = os.environ.get("CUDA_VISIBLE_DEVICES") or ",".join(map(str, range(devices.GPUS)))
    return {"CUDA_VISIBLE_DEVICES": ",".join(gpus.split(",")[:count])}


def judged(path, variant, number, block):
    name = name_of(path, variant)
    why, words = OTHERWISE.get(name, ("", {}))
    if words is None:
        raise Skip(why)
    run = " ".join(block.get("RUN", []))
    env = environment(run)
    program, block = compiled(path, variant, number), {**block, **words, "RUN": [DEVICE.sub("", run)]}
    if "STDOUT" in block:
        block["STDOUT"] = [line for line in block["STDOUT"] if printed(program, block, line, env)]
    run_programs.holds(program, block, "--device", "gpu", env=env)


def printed(program, block, line, env):
    """Whether the program prints the line here without the tool; if not the real device is right, and the line is told."""
    done = execute([program, *shlex.split(" ".join(block.get("ARGS", [])))], env)
    if line not in done.stdout.splitlines():
        print(f"{program.name}: without the tool {done.stdout.splitlines()[:3]}, not {line!r}", flush=True)
    return line in done.stdout.splitlines()


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
