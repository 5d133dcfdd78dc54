#!/usr/bin/env python3
"""How the parts for a GPU are built: the injected library, the device code, the library for 64-bit Arm, the folder to carry.

No GPU is needed, and nothing is fetched: what is not installed is skipped. --all also builds the folder to carry.
"""
import pathlib
import re
import shutil
import subprocess
import sys

import harness
from harness import ROOT, TOOL, Skip, Tally, check, execute, wants_all, work_folder

FOLDER = work_folder("capture-build")
WORK = pathlib.Path(FOLDER.name)
CAPTURE = TOOL.parent.parent / "lib/streamsan/capture.so"
OFFLINE = {"PIP_NO_INDEX": "1"}


def needed(path):
    """The shared libraries that a file names."""
    done = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True, check=True)
    return set(re.findall(r"\(NEEDED\)\s+Shared library: \[(\S+)\]", done.stdout))


def exported(path):
    done = subprocess.run(["readelf", "--dyn-syms", "-W", path], capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return {row[7].split("@")[0] for row in rows if len(row) == 8 and row[4] in ("GLOBAL", "WEAK") and row[6].isdigit()}


def listed():
    text = (ROOT / "src/capture/capture.syms").read_text(encoding="utf-8")
    return {name for name in re.findall(r"(\w+);", text.split("local:")[0]) if name}


def library():
    """It is loaded into any program: it needs the C library alone, exports its list, and is never unloaded."""
    others = {name for name in needed(CAPTURE) if not re.match(r"(libc|ld-linux[\w-]*)\.so", name)}
    check(not others, f"capture.so needs {others}")
    check(listed() and exported(CAPTURE) == listed(), f"capture.so exports {exported(CAPTURE)}, not {listed()}")
    flags = subprocess.run(["readelf", "-dW", CAPTURE], capture_output=True, text=True, check=True).stdout
    check("NODELETE" in flags, "it can be unloaded")


def device_code():
    build = WORK / "build"
    (build / "lib/streamsan").mkdir(parents=True)
    shutil.copy(CAPTURE, build / "lib/streamsan")
    done = execute([ROOT / "scripts/build-capture", build], env={**OFFLINE, "TARGETS": "90"}, timeout=600)
    if done.returncode == 69 and ("could not fetch" in done.stderr or "no pip" in done.stderr):
        raise Skip("no nvcc or no Sanitizer headers here")
    check(done.returncode == 0, f"exit {done.returncode}\n{done.stdout}{done.stderr}")
    for part in ("nvcc", "Sanitizer headers", "Sanitizer library", "patches", "injected library"):
        check(re.search(rf"^{part}\s+\S", done.stdout, re.M), f"no line of {part}\n{done.stdout}")
    for name in ("patches", "gate"):
        code = (build / f"lib/streamsan/{name}.fatbin").read_bytes()
        check(b"ssan_" in code, f"{name}.fatbin holds no function of ours")
    check((build / "lib/streamsan/libsanitizer-public.so").exists(), "no link to the library")


def wrong_folder():
    done = execute([ROOT / "scripts/build-capture", WORK / "none"], env={**OFFLINE, "SANITIZER_API": str(WORK)})
    check(done.returncode == 69 and f"SANITIZER_API={WORK} holds no" in done.stderr, done.stdout + done.stderr)
    done = execute([ROOT / "scripts/build-capture", WORK / "none"], env={**OFFLINE, "TARGETS": "12"})
    check(done.returncode == 69, done.stdout + done.stderr)


def for_arm():
    if not shutil.which("aarch64-linux-gnu-gcc"):
        raise Skip("no aarch64-linux-gnu-gcc")
    build = WORK / "aarch64"
    for command in (["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSSAN_CAPTURE_ONLY=ON",
                     f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/cmake/aarch64.cmake"], ["cmake", "--build", build, "--target", "ssan_capture_so"]):
        done = execute(command, timeout=600)
        check(done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:])
    path = build / "lib/streamsan/capture.so"
    header = subprocess.run(["readelf", "-hW", path], capture_output=True, text=True, check=True).stdout
    check("AArch64" in header, header)
    check(exported(path) == listed(), f"it exports {exported(path)}")
    others = {name for name in needed(path) if not re.match(r"(libc|ld-linux[\w-]*)\.so", name)}
    check(not others, f"it needs {others}")


def to_carry():
    if not wants_all():
        raise Skip("with --all")
    done = execute([ROOT / "scripts/carry-build", WORK / "carry"], timeout=1200)
    if "SSAN_ARCHIVE" in done.stderr or "NOTFOUND" in done.stderr:
        raise Skip("archives of the libraries are not installed")
    check(done.returncode == 0, done.stdout + done.stderr)
    tool = WORK / "carry/bin/streamsan"
    others = {name for name in needed(tool) if not re.match(r"(libc|libm|ld-linux[\w-]*)\.so", name)}
    check(not others, f"the tool needs {others}")
    done = execute([tool, "run", "--device", "gpu", "--", "true"], env={"STREAMSAN_TEST_GPU": "1", "STREAMSAN_SANITIZER": str(CAPTURE)})
    check(done.returncode == 67 and "no CUDA operation was seen" in done.stderr, done.stdout + done.stderr)
    size = sum(file.stat().st_size for file in (WORK / "carry").rglob("*") if file.is_file())
    check(size < 20 << 20, f"{size} bytes")


def main():
    tally = Tally("capture-build")
    for function in (library, device_code, wrong_folder, for_arm, to_carry):
        tally.case(function.__name__.replace("_", " "), function)
    return tally.finish(harness.only_argument())


if __name__ == "__main__":
    sys.exit(main())
