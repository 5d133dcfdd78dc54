#!/usr/bin/python3
"""Programs that reach the GPU by other ways than the static runtime (run_apis.py [part of a name]).

The driver API alone; a closed library (cuBLAS); programs started by a shell and in a row; accesses off;
filters of kernels and windows. 
Other options: devices.py.
"""
import pathlib
import re
import sys

import devices
from devices import ARCH, NVCC, OPTIONS, ROOT, execute, needs_gpu, run
from case_lists import VARIANTS, score
from harness import TOOL, Skip, Tally, check, work_folder

SOURCES = ROOT / "tests/gpu/programs"
WORK = work_folder("apis")
WORDS = {"driver_api.cu": ["-lcuda"], "closed_library.cu": ["-lcublas", "-cudart", "shared", "-Xlinker", "-rpath=/usr/local/cuda/lib64"],
         "six_launches.cu": ["-cudart", "static"]}
SELECTED = {  # options, and which of the six launches are then observed
    "": (1, 2, 3, 4, 5, 6), "--kernel sec*": (2, 5), "--exclude-kernel second": (1, 3, 4, 6), "--launch-skip 1 --launch-count 3": (2, 3, 4),
    "--kernel first --launch-skip 1": (4,), "--window profiler": (3, 4), "--window nvtx:part": (5,),
}


def compiled(source, variant):
    output = pathlib.Path(OPTIONS.build or OPTIONS.built or WORK.name) / "gpu" / f"{pathlib.Path(source).stem}-{variant}"
    if output.exists():
        return output
    check(not OPTIONS.built, f"--built holds no gpu/{output.name}")
    if not pathlib.Path(NVCC).exists():
        raise Skip("no nvcc here, and no --built folder")
    output.parent.mkdir(parents=True, exist_ok=True)
    done = execute([NVCC, "-O2", "-g", "-lineinfo", f"-arch={ARCH}", "-I", ROOT / "include", *(["-DFIXED"] if variant == "fixed" else []), "-o", output,
                    SOURCES / source, *WORDS[source]], timeout=300)
    check(done.returncode == 0, f"nvcc: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return output


def driver_api(variant):
    needs_gpu()
    result = run("gpu", compiled("driver_api.cu", variant), name=f"driver-api-{variant}")
    got = score.score(SOURCES / "driver_api.cu", variant, result.report, memory="device")
    check(got.right, "\n".join([str(got), *got.lines(), result.about()]))
    check(result.code == (66 if variant == "racy" else 0), result.about())
    calls = {o.get("call") for o in result.report["operations"]} - {None}
    check(all(call.startswith("cu") and not call.startswith("cuda") for call in calls), f"calls of the runtime: {calls}")


def closed_library(variant):
    """Racy: found, as an error or, where the kernel's accesses can't be seen one by one, as possible. Fixed: neither."""
    needs_gpu()
    result = run("gpu", compiled("closed_library.cu", variant), name=f"closed-library-{variant}")
    check(result.report is not None, result.about())
    buffers = {b["id"]: b["name"] for b in result.report["buffers"]}
    found = [f for f in result.findings() if f["rule"] in ("SSAN-RAW", "SSAN-WAW") and buffers.get(f["buffer"]) == "product"]
    others = [f for f in result.findings() if f not in found]
    check(bool(found) == (variant == "racy") and not others, f"{len(found)} on the product, {len(others)} others\n{result.about()}")


def shell():
    """Each program that a shell starts is checked, with one verdict."""
    needs_gpu()
    fixed, racy = compiled("driver_api.cu", "fixed"), compiled("driver_api.cu", "racy")
    for programs, code in (((fixed, fixed), 0), ((fixed, racy, fixed), 66)):
        result = run("gpu", ["sh", "-c", "; ".join(f"'{p}'" for p in programs) + "; exit 0"])
        check(result.code == code and result.out.count("elements=4096") == len(programs), f"expected {code}\n{result.about()}")


def accesses_off():
    """Nothing is claimed of accesses that were not observed."""
    needs_gpu()
    result = run("gpu", compiled("driver_api.cu", "racy"), "--accesses", "off")
    check(result.code in (0, 2, 67) and not result.findings(("error",)), f"expected no error\n{result.about()}")
    check(result.report["run"]["scope"]["accesses"] == "off" and "not observed" in result.verdict_line, f"the scope is not told\n{result.about()}")


def selected(words):
    """Which launches have sets in the trace: those that the options choose; all six have their operation."""
    needs_gpu()
    trace = pathlib.Path(WORK.name) / f"{words.replace(' ', '')}.ssan"
    result = run("gpu", compiled("six_launches.cu", "racy"), *words.split(), "--trace", trace)
    check(result.out == "sum=12\n" and not result.findings(("error",)), result.about())
    rows = execute([TOOL, "dump", trace]).stdout.splitlines()
    launches = [re.search(r"\bop=(\d+)", row)[1] for row in rows if row.startswith("op ") and " kind=kernel " in row]
    with_sets = {re.search(r"\bop=(\d+)", row)[1] for row in rows if re.match(r"set(_leaf)? ", row)}
    seen = tuple(number for number, op in enumerate(launches, 1) if op in with_sets)
    check(len(launches) == 6 and seen == SELECTED[words], f"{len(launches)} launches, observed {seen}, not {SELECTED[words]}\n{result.about()}")


def main():
    devices.options(__doc__.split("\n", 1)[0])
    tally = Tally("gpu-apis")
    for variant in VARIANTS:
        if OPTIONS.build:
            for source in WORDS:
                tally.case(f"{source} {variant}", compiled, source, variant)
            continue
        tally.case(f"driver API {variant}", driver_api, variant)
        tally.case(f"closed library {variant}", closed_library, variant)
    if not OPTIONS.build:
        tally.case("programs of a shell", shell)
        tally.case("accesses off", accesses_off)
        for words in SELECTED:
            tally.case(f"six launches {words}".strip(), selected, words)
    return tally.finish(OPTIONS.part, OPTIONS.jobs)


if __name__ == "__main__":
    sys.exit(main())
