#!/usr/bin/python3
"""What observation costs on a GPU, all in one run on one machine (bench_gpu.py [--built FOLDER] [part of a name]).

For each workload: milliseconds native, with streamsan's callbacks only (--accesses off), under an empty subscriber of the
same callback domains and calls, under an empty patch, with streamsan's exact accesses, and under memcheck; then the ratios
to meet. Each figure is the best round of a process (of --repeat processes); the whole process's time is in the JSON.

  --build FOLDER  builds the programs there (nvcc; SANITIZER_API=DIR for the floors), runs nothing
  --built FOLDER  uses them; --json FILE writes all figures; --modes a,b,... runs only these
  --limit S       starts no process after S seconds, so that the table is printed in any case
  --no-torch      leaves the steps of torch_steps.py out
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TOOL = pathlib.Path(os.environ.get("STREAMSAN", ROOT / "build/release/bin/streamsan"))
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
ARCH = os.environ.get("STREAMSAN_GPU_ARCH", "sm_90")
SANITIZER = pathlib.Path(os.environ.get("SANITIZER_API", "/usr/local/cuda/compute-sanitizer"))
MEMCHECK = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
TIMEOUT_S = int(os.environ.get("STREAMSAN_GPU_TIMEOUT", "150"))
MODES = ("native", "callbacks", "empty-callbacks", "empty-patch", "exact", "memcheck")
PROGRAMS = ("axpy", "matmul", "gather", "empty")
STEPS = ("layer", "layer-fp32", "layer-large", "conv")
FEWER_ROUNDS = {"memcheck": "2"}  # its rounds take seconds, and vary little
FIGURE = re.compile(r"^(\S+) ms=([\d.]+) median=([\d.]+) rounds=(\d+)$", re.M)
# workload, figure, of what, at most; an exact figure may be within FLOOR of the empty patch instead
GOALS = (("empty", "callbacks", "empty-callbacks", 1.3), ("axpy", "exact", "memcheck", 0.75), ("matmul", "exact", "memcheck", 0.15),
         ("gather", "exact", "memcheck", 1.0), ("empty", "exact", "memcheck", 0.15), ("layer", "exact", "native", 3.0), ("layer-fp32", "exact", "native", 3.0),
         ("layer-large", "exact", "native", 3.0))
FLOOR = 1.15


def build(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name in PROGRAMS:
        subprocess.run([NVCC, "-O2", "-lineinfo", f"-arch={ARCH}", "-cudart", "static", "-o", folder / name, HERE / f"{name}.cu"], check=True)
    # Not of the table below: prints one of its own (FOLDER/pipeline).
    subprocess.run([NVCC, "-O2", "-std=c++17", f"-arch={ARCH}", "-cudart", "static", "-I", ROOT / "include", "-o", folder / "pipeline", HERE / "pipeline.cu",
                    TOOL.parents[1] / "lib/libstreamsan-pipeline.a", "-lpthread"], check=True)
    library = next((p for p in (SANITIZER / "libsanitizer-public.so", SANITIZER / "lib/libsanitizer-public.so") if p.exists()), None)
    if not library:
        sys.exit(f"bench_gpu: no libsanitizer-public.so in {SANITIZER} (SANITIZER_API=DIR): no floors")
    toolkit = pathlib.Path(NVCC).resolve().parents[1]
    subprocess.run(["gcc", "-std=c11", "-O2", "-shared", "-fPIC", "-Wl,-z,nodelete", "-I", SANITIZER / "include", "-I", toolkit / "include",
                    HERE / "empty_injection.c", library, "-o", folder / "libempty.so"], check=True)
    subprocess.run([NVCC, "-fatbin", "--compile-as-tools-patch", f"-arch={ARCH}", "-I", SANITIZER / "include", HERE / "empty_patch.cu",
                    "-o", folder / "empty.fatbin"], check=True)


def subscribed():
    """What streamsan listens to, for the empty subscriber: all domains of items, and the calls of api_calls.def."""
    domains = {"DRIVER": 1, "RUNTIME": 2}
    rows = re.findall(r"^API_CALL\((\w+), (\d+),", (ROOT / "src/capture/api_calls.def").read_text(encoding="utf-8"), re.M)
    return ",".join([*map(str, range(3, 13)), *(f"{domains[domain]}:{number}" for domain, number in rows)])


def prepared(mode, command, folder):
    """The command of a mode, and its environment."""
    empty = {"CUDA_INJECTION64_PATH": str(folder / "libempty.so"),
             "LD_LIBRARY_PATH": ":".join(filter(None, [str(SANITIZER), str(SANITIZER / "lib"), os.environ.get("LD_LIBRARY_PATH")]))}
    return {
        "native": (command, {}),
        "callbacks": ([TOOL, "run", "-q", "--device", "gpu", "--accesses", "off", "--", *command], {}),
        "empty-callbacks": (command, {**empty, "EMPTY_DOMAINS": subscribed()}),
        "empty-patch": (command, {**empty, "EMPTY_DOMAINS": "3", "EMPTY_PATCH": str(folder / "empty.fatbin")}),
        "exact": ([TOOL, "run", "-q", "--device", "gpu", "--accesses", "exact", "--", *command], {}),
        "memcheck": ([MEMCHECK, "--tool", "memcheck", *command], {}),
    }[mode]


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder, self.figures, self.processes = options, folder, {}, []
        self.begun = time.monotonic()

    def process(self, mode, command):
        """One process: its figures go into the table, and what it was into the list."""
        if time.monotonic() - self.begun > self.options.limit:
            return print(f"  {mode} of {command[-1]}: left out, the time is over", flush=True)
        words, env = prepared(mode, [str(w) for w in command], self.folder)
        if mode in FEWER_ROUNDS:
            env = {**env, "ROUNDS": FEWER_ROUNDS[mode]}
        start = time.monotonic()
        try:
            done = subprocess.run([str(w) for w in words], env={**os.environ, **env}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  errors="replace", timeout=TIMEOUT_S)
            code, out, err = done.returncode, done.stdout, done.stderr
        except (subprocess.TimeoutExpired, OSError) as failed:
            code, out, err = str(failed)[:200], "", ""
        for name, best, median, _ in FIGURE.findall(out):
            kept = self.figures.setdefault(name, {}).get(mode)
            if not kept or float(best) < kept["ms"]:
                self.figures[name][mode] = {"ms": float(best), "median": float(median)}
        last = [line for line in err.splitlines() if line.strip()][-1:] or [""]
        self.processes.append({"command": " ".join(map(str, command)), "mode": mode, "exit": code, "wall_s": round(time.monotonic() - start, 2), "last": last[0]})
        if code != 0:
            print(f"  {mode} of {command[-1]}: exit {code}: {last[0][:300]}", flush=True)
        return None

    def run(self):
        jobs = [[self.folder / name] for name in PROGRAMS if self.wanted(name)]
        steps = [name for name in STEPS if self.wanted(name) and not self.options.no_torch]
        if steps and subprocess.run([sys.executable, "-c", "import importlib.util, sys; sys.exit(not importlib.util.find_spec('torch'))"]).returncode == 0:
            jobs.append([sys.executable, HERE / "torch_steps.py", *steps])
        elif steps:
            print("no torch for this python3: " + " ".join(steps) + " left out")
        for command in jobs:
            for _ in range(self.options.repeat):
                for mode in self.options.modes:
                    self.process(mode, command)

    def wanted(self, name):
        return not self.options.part or self.options.part in name

    def ratio(self, name, figure, of):
        one, other = (self.figures.get(name, {}).get(mode) for mode in (figure, of))
        return one["ms"] / other["ms"] if one and other and other["ms"] else None

    def verdicts(self):
        """The goals, each with its ratio and how it was met."""
        rows = []
        for name, figure, of, most in GOALS:
            if not self.wanted(name):
                continue
            ratio, floor = self.ratio(name, figure, of), self.ratio(name, figure, "empty-patch") if figure == "exact" else None
            met = "no figure" if ratio is None else "met" if ratio <= most else "met by the floor" if floor and floor <= FLOOR else "NOT MET"
            rows.append({"workload": name, "figure": figure, "of": of, "ratio": ratio, "most": most, "of_floor": floor, "verdict": met})
        return rows

    def tell(self):
        print(f"{'ms':<14}" + "".join(f"{mode:>16}" for mode in MODES))
        for name, row in self.figures.items():
            print(f"{name:<14}" + "".join(f"{row[mode]['ms']:>16.4f}" if mode in row else f"{'-':>16}" for mode in MODES))
        for row in self.verdicts():
            ratio, floor = (f"{value:.3f}" if value is not None else "-" for value in (row["ratio"], row["of_floor"]))
            print(f"{row['workload']:<11} {row['figure']} / {row['of']}: {ratio} (at most {row['most']})"
                  + (f", / empty patch: {floor} (or at most {FLOOR})" if row["figure"] == "exact" else "") + f": {row['verdict']}")


def machine():
    done = subprocess.run("nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; uname -r; nproc", shell=True, capture_output=True, text=True)
    return " | ".join(done.stdout.split("\n")).strip(" |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--built", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--modes", type=lambda text: text.split(","), default=list(MODES))
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--limit", type=float, default=1e9)
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("part", nargs="?")
    options = parser.parse_args()
    if options.build:
        return build(options.build)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.built or pathlib.Path(scratch)
        if not options.built:
            build(folder)
        bench = Bench(options, folder.resolve())
        print(machine(), flush=True)
        bench.run()
        bench.tell()
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "figures": bench.figures, "goals": bench.verdicts(), "processes": bench.processes}, indent=1) + "\n",
                                encoding="utf-8")
    return None


if __name__ == "__main__":
    sys.exit(main())
