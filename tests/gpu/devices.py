"""What the runners of tests/gpu share: which device is there, how a program is built for it, where built programs lie.

A runner takes
  --device gpu|virtual   (default gpu; virtual only where a runner says so)
  --built FOLDER         programs built before, by --build on a machine with nvcc: FOLDER/gpu/NAME, FOLDER/virtual/NAME
  --build FOLDER         builds all its programs there, runs nothing
  --keep FOLDER          keeps each report there
  part of a name         runs the cases whose name holds it
Without a GPU every case for one is skipped, with the reason, and counted.
"""
import argparse
import ctypes
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))
import harness  # noqa: E402  (it lies in the folder just named)
from harness import TOOL, Skip, Tally, check, execute, lock_of  # noqa: E402

NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
ARCH = os.environ.get("STREAMSAN_GPU_ARCH", "sm_90")
DEVICES = ("gpu", "virtual")
TIMEOUT_S = int(os.environ.get("STREAMSAN_GPU_TIMEOUT", "90"))
OPTIONS = argparse.Namespace(device="gpu", built=None, build=None, keep=None, part=None, all=False)


def options(about, virtual=False, **flags):
    """Reads the command line into OPTIONS; `flags`: those that only this runner has, and what they are for."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--device", choices=DEVICES if virtual else DEVICES[:1], default="gpu")
    parser.add_argument("--built", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--build", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--all", action="store_true", help="as the other runners; changes nothing here")
    parser.add_argument("--jobs", type=int, default=None)
    for flag, use in flags.items():
        parser.add_argument(f"--{flag}", action="store_true", help=use)
    parser.add_argument("part", nargs="?")
    parser.parse_args(namespace=OPTIONS)
    for folder in ("built", "build", "keep"):
        if getattr(OPTIONS, folder):
            setattr(OPTIONS, folder, getattr(OPTIONS, folder).resolve())
    if OPTIONS.keep:
        OPTIONS.keep.mkdir(parents=True, exist_ok=True)
    return OPTIONS


def find_gpus():
    """How many GPUs there are, and, where there is none, why no program can run on one."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0, "no GPU: no CUDA driver (libcuda.so.1) on this machine"
    code, count = driver.cuInit(0), ctypes.c_int(0)
    if code or driver.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
        return 0, f"no GPU: the CUDA driver finds none (cuInit returns {code})"
    return count.value, None


GPUS, NO_GPU = find_gpus()


def needs_gpu():
    if NO_GPU:
        raise Skip(NO_GPU)


def compile_for(device, output, source, *words):
    """Builds one program: by `streamsan cc` for the virtual device, by nvcc with the static runtime for the GPU."""
    output.parent.mkdir(parents=True, exist_ok=True)
    if device == "virtual":
        return harness.build(output, "-g", source, *words)
    if not pathlib.Path(NVCC).exists():
        raise Skip("no nvcc here, and no --built folder")
    done = execute([NVCC, "-O2", "-g", "-lineinfo", f"-arch={ARCH}", "-cudart", "static", "-I", ROOT / "include", "-o", output, source, *words])
    check(done.returncode == 0, f"nvcc {source}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return output


class Programs:
    """The programs of one runner, each built once: name -> (source, words)."""

    def __init__(self, work):
        self.folder, self.known = OPTIONS.build or OPTIONS.built or pathlib.Path(work), {}

    def add(self, name, source, *words):
        self.known[name] = source, words
        return name

    def get(self, device, name):
        output = self.folder / device / name
        with lock_of(output):
            if OPTIONS.built:
                check(output.exists(), f"--built holds no {device}/{name}")
                return output
            source, words = self.known[name]
            source = source() if callable(source) else source
            # --build may find those of an older tool or source, whose traces this one does not read.
            if not output.exists() or output.stat().st_mtime < max(path.stat().st_mtime for path in (TOOL, pathlib.Path(source))):
                compile_for(device, output, source, *words)
        return output

    def build_all(self, devices):
        """The runner's work under --build; a tally of its own."""
        tally = Tally("gpu-build")
        for device in devices:
            for name in self.known:
                tally.case(f"{device} {name}", self.get, device, name)
        return tally.finish(OPTIONS.part)


def run(device, program, *words, args=(), env=None, name=None, cwd=None):
    """A run under streamsan on the device; the report is kept where --keep says."""
    result = harness.run(program, "--device", device, *words, args=args, env=env, cwd=cwd, timeout=TIMEOUT_S)
    if OPTIONS.keep and name:
        stem = re.sub(r"[^\w.-]+", "-", name)
        if result.report is not None:
            (OPTIONS.keep / f"{stem}.json").write_text(harness.json.dumps(result.report, indent=1), encoding="utf-8")
        (OPTIONS.keep / f"{stem}.txt").write_text(result.about(), encoding="utf-8")
    return result


def masked(text):
    """Output without what differs from run to run: times, rates, numbers with a fraction, addresses."""
    text = re.sub(r"0x[0-9a-fA-F]+", "0x", text)
    text = re.sub(r"\d+\.\d+(?:[eE][-+]?\d+)?", "#", text)
    return re.sub(r"\b\d+(?=\s*(?:ms|us|ns|s|sec|seconds|GB/s|MB/s|GFlop/s|GFLOP/s)\b)", "#", text)
