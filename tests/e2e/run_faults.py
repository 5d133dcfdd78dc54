#!/usr/bin/python3
"""What may go wrong around a run: killed targets, full disks, cut and corrupt traces, unknown opcodes, no clang.

Never a false clean, always a clear message and the right exit code (run_faults.py [part of a name]).
"""
import os
import pathlib
import random
import re
import subprocess
import sys

import harness
from harness import ROOT, TOOL, Skip, Tally, build, build_once, check, execute, run, work_folder

PROGRAMS = ROOT / "tests/e2e/programs"
FOLDER = work_folder("faults")
WORK = pathlib.Path(FOLDER.name)
SEED = int(os.environ.get("SEED", "20261130"))
KILLS = 200


def target():
    return build_once(WORK / "target", PROGRAMS / "twin_200_streams.cu")


def kinds(trace):
    """The words of the events of a trace, in order; those that the tool appended at the end of a run left out."""
    done = execute([TOOL, "dump", trace])
    rows = [row.split()[0] for row in done.stdout.splitlines() if row and not row.startswith(("#", "streamsan-listing"))]
    while rows and rows[-1] == "line":
        rows.pop()
    return rows, done


def killed(whole, index, point):
    trace = WORK / f"killed-{index}.ssan"
    done = execute([TOOL, "run", "--trace", trace, "--", target()], env={"STREAMSAN_TEST_KILL_AFTER": str(point)})
    last = done.stderr.splitlines()[-1] if done.stderr else ""
    check(done.returncode in (66, 67) and not last.startswith("streamsan: clean"), f"record {point}: exit {done.returncode}\n{done.stderr}")
    check("SIGKILL" in done.stderr or "signal 9" in done.stderr, f"record {point}: the message does not tell the signal\n{done.stderr}")
    seen, dumped = kinds(trace)
    check(dumped.returncode == 67, f"record {point}: dump says {dumped.returncode}, not cut (67)\n{dumped.stderr}")
    check(seen[:point] == whole[:point] and len(seen) >= point,
          f"record {point}: {len(seen)} read, which differ from the whole trace or are fewer\n{seen[max(0, point - 3):]}")
    trace.unlink()


def kill_minus_nine():
    rng = random.Random(SEED)
    trace = WORK / "whole.ssan"
    done = execute([TOOL, "run", "--trace", trace, "--", target()])
    check(done.returncode == 0, f"the whole run: exit {done.returncode}\n{done.stderr}")
    whole, _ = kinds(trace)
    points = [rng.randrange(1, len(whole)) for _ in range(KILLS)]
    print(f"kill -9 at {KILLS} of {len(whole)} records, seed {SEED}", flush=True)
    for index, point in enumerate(points):
        killed(whole, index, point)


def tmpfs(name, size):
    if os.geteuid() != 0:
        raise Skip("needs root for a tmpfs")
    folder = WORK / name
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], capture_output=True, text=True)
    if done.returncode:
        raise Skip(f"no tmpfs here: {done.stderr.strip()}")
    return folder


def full_disk_for_live_traces():
    folder = tmpfs("full-live", "64k")
    try:
        done = execute([TOOL, "run", "--", target()], env={"TMPDIR": str(folder)})
        check(done.stdout == "sum=40200\n", f"the program was disturbed\n{done.stdout}{done.stderr}")
        check(done.returncode in (67, 69, 70), f"exit {done.returncode}\n{done.stderr}")
        check("streamsan: clean" not in done.stderr, done.stderr)
        check(re.search(r"space|full|lost", done.stderr), f"no word about the disk\n{done.stderr}")
    finally:
        subprocess.run(["umount", folder], check=False)


def full_disk_for_kept_trace():
    folder = tmpfs("full-kept", "4k")
    try:
        (folder / "filler").write_bytes(b"x" * 4096)
        done = execute([TOOL, "run", "--trace", folder / "t.ssan", "--", target()])
        check(done.stdout == "sum=40200\n", f"the program was disturbed\n{done.stdout}{done.stderr}")
        check(done.returncode != 0 and re.search(r"space|full", done.stderr), f"exit {done.returncode}\n{done.stderr}")
        done = execute([TOOL, "run", "--format", "json", "--output", folder / "r.json", "--", target()])
        check(done.returncode != 0 and re.search(r"space|full|write", done.stderr), f"--output: exit {done.returncode}\n{done.stderr}")
    finally:
        subprocess.run(["umount", folder], check=False)


def kept():
    trace = WORK / "kept.ssan"
    if not trace.exists():
        small = build(WORK / "small", PROGRAMS / "twin_even_odd.cu")
        done = execute([TOOL, "run", "--trace", trace, "--", small])
        check(done.returncode == 0, f"the whole trace must be clean\n{done.stderr}")
    return trace.read_bytes()


def never_clean(path, what):
    done = execute([TOOL, "check", path])
    check(done.returncode in (65, 66, 67), f"{what}: check exits with {done.returncode}\n{done.stderr}")
    check("streamsan: clean" not in done.stderr and done.stderr.strip(), f"{what}: {done.stderr}")
    return done


def cut_anywhere():
    whole = kept()
    path = WORK / "cut.ssan"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        check(never_clean(path, f"cut at {length} of {len(whole)}").returncode in (65, 67), f"cut at {length}: judged as if whole")


def corrupt_anywhere():
    whole, rng = kept(), random.Random(SEED)
    path = WORK / "corrupt.ssan"
    print(f"200 corrupt bytes, seed {SEED}", flush=True)
    for _ in range(200):
        at = rng.randrange(len(whole))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << rng.randrange(8))]) + whole[at + 1:])
        check(never_clean(path, f"byte {at} changed").returncode in (65, 67), f"byte {at} changed: judged as if whole")


def foreign_traces():
    for name, content in (("empty", b""), ("text", b"hello\n"), ("zeros", bytes(70000)), ("elf", pathlib.Path("/bin/true").read_bytes())):
        path = WORK / name
        path.write_bytes(content)
        check(never_clean(path, name).returncode in (65, 67), f"{name}: not refused")
    done = execute([TOOL, "check", WORK / "not-there"])
    check(done.returncode == 65 and "not-there" in done.stderr, f"a missing trace: exit {done.returncode}\n{done.stderr}")


UNKNOWN = """#include <cuda_runtime.h>
#include <cstdio>
__global__ void odd(int *out)
{
    asm volatile("frobnicate.u32 %0, 7;" : "=r"(out[0]));
}
int main()
{
    int *out;
    cudaMalloc(&out, 4);
    odd<<<1, 1>>>(out);
    cudaError_t err = cudaGetLastError();
    printf("%s\\n", cudaGetErrorName(err));
    return err == cudaSuccess ? 0 : 3;
}
"""


def unknown_opcode():
    source = WORK / "odd.cu"
    source.write_text(UNKNOWN, encoding="utf-8")
    result = run(build(WORK / "odd", source))
    check(result.code != 0 and result.verdict != "clean", f"a kernel that can't be loaded\n{result.about()}")
    check("frobnicate" in result.err and re.search(r"odd\.cu:5\b", result.err), f"the message names no opcode or line\n{result.about()}")
    check(result.out.strip() not in ("", "cudaSuccess"), f"the program was told of no error\n{result.about()}")


def no_clang():
    for env in ({"STREAMSAN_CLANG": "/nonexistent/clang"}, {"PATH": "/nonexistent"}):
        done = execute([TOOL, "cc", "-o", WORK / "x", PROGRAMS / "no_operation.cu"], env=env)
        check(done.returncode == 69 and "clang" in done.stderr, f"{env}: exit {done.returncode}\n{done.stderr}")
    check("apt" in done.stderr, f"does not say what to install\n{done.stderr}")


def main():
    tally = Tally("faults")
    for function in (kill_minus_nine, cut_anywhere, corrupt_anywhere, foreign_traces, full_disk_for_live_traces, full_disk_for_kept_trace,
                     unknown_opcode, no_clang):
        tally.case(function.__name__.replace("_", " "), function)
    target(), kept()
    return tally.finish(harness.only_argument())


if __name__ == "__main__":
    sys.exit(main())
