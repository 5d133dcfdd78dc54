#!/usr/bin/python3
"""The pipeline library under the tool: run_pipeline.py PART --mutants ARCHIVE [--programs FOLDER] [--only WORDS].

programs  builds what the other parts run into --programs; without that option each builds its own
matrix    a covering array of schedules, slots, producers, consumers, devices, sizes and ways: results right, and the checker
          clean with host threads strict and documented order only, the hardest of both axes
mutants   each edge of src/pipeline/edges.def dropped: the checker reports an error
explore   one and two slots with two batches, all schedules
failures  calls fail by themselves, and launches and copies when they run, which ends all use of CUDA (run --fail): told, no deadlock,
          no error of ours
install   an outside project finds the installed libraries by CMake and by pkg-config; both forms link with a toolkit's cudart
bench     the benchmark for GPUs runs on the virtual device
"""
import argparse
import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from harness import ROOT, TOOL, Skip, Tally, build_once, check, execute, run, shown_files, work_folder  # noqa: E402

from pairwise import all_pairs, covering_array, pairs_of  # noqa: E402

SOURCE = ROOT / "tests/pipeline/programs/matrix.cu"
STRICT = ("--threads", "strict", "--order", "documented")
SEED = 6
WORK_FOLDER = work_folder("pipeline")
WORK = PROGRAMS = pathlib.Path(WORK_FOLDER.name)
ALL = bool(os.environ.get("STREAMSAN_TEST_ALL"))
TIME_S = 60  # of one run: a deadlock is a failure, not a hang


def program():
    return build_once(PROGRAMS / "matrix", "-g", SOURCE, "-lstreamsan-pipeline")


def mutants_program(archive):
    return build_once(PROGRAMS / "mutants", "-g", "-DWITH_MUTANTS", f"-I{ROOT / 'src'}", SOURCE, archive)


def words(**shape):
    return [f"{name}={value}" for name, value in shape.items()]


def devices_option(count):
    return () if count == 1 else ("--device", f"virtual:{count}")


def schedules():
    return ["eager", "lazy", *(f"random:{seed}" for seed in range(1, 21 if ALL else 4))]


WAYS = {  # how a batch gets to its consumer
    "host": {}, "host timed": {"timing": 1, "blocking": 1}, "staged": {"staged": 1}, "staged, one landing": {"staged": 1, "landings": 1}, "peer": {"peer": 1},
    "peer without copy": {"peer": 1, "copy_out": 0},
}
SIZES = {"0": 0, "1": 1, "257": 257, "4096": 4096, "4097": 4097, "mixed": -1}
BOUNDS = {"slots": {}, "depth": {"depth": 1}, "bytes": {"max_kb": 40}, "abandon": {"abandon": 1}, "streams": {"copy_streams": 3}}


def factors():
    return {
        "schedule": schedules(), "slots": range(1, 9), "producers": range(1, 5), "consumers": range(1, 5),
        "devices": range(1, 4), "size": tuple(SIZES), "way": tuple(WAYS), "bound": tuple(BOUNDS),
        "order": ("in order", "completed"), "share": (0, 1),
    }


def one_row(row):
    shape = words(jobs=12, slots=row["slots"], producers=row["producers"], consumers=row["consumers"], devices=row["devices"],
                  elems=SIZES[row["size"]], share=row["share"], in_order=int(row["order"] == "in order"), **WAYS[row["way"]], **BOUNDS[row["bound"]])
    done = run(program(), *STRICT, "--schedule", row["schedule"], *devices_option(row["devices"]), args=shape, timeout=TIME_S)
    check(done.code == 0 and done.verdict == "clean", f"{' '.join(shape)} under {row['schedule']}\n{done.about()}")
    check(done.out == "jobs=12 wrong=0 told=0\n", done.about())


def matrix(tally, _archive):
    choice = factors()
    rows = covering_array(choice, SEED)
    wanted, held = all_pairs(choice), {p for row in rows for p in pairs_of(row)}
    check(wanted <= held, "the array does not hold all pairs")
    print(f"pipeline matrix: {len(rows)} rows hold all {len(wanted)} pairs of {len(choice)} factors, seed {SEED}")
    for number, row in enumerate(rows):
        tally.case(f"row {number}: {', '.join(f'{k} {v}' for k, v in row.items())}", one_row, row)


# The edge, the shape that needs it, and a call that fails (in the failure paths).
MUTANTS = {
    "UPLOADED_RECORD": {}, "UPLOADED_WAIT": {}, "PRODUCED_RECORD": {}, "PRODUCED_WAIT": {}, "COPIED_RECORD": {}, "COPIED_JOIN": {},
    "PRODUCED_JOIN": {"peer": 1, "copy_out": 0}, "LANDED_RECORD": {"staged": 1}, "LANDED_WAIT": {"staged": 1},
    "CONSUMED_RECORD": {"staged": 1, "landings": 1}, "CONSUMED_WAIT": {"staged": 1, "landings": 1}, "RECLAIMED_RECORD": {"staged": 1, "slots": 1},
    "RECLAIMED_COPY_WAIT": {"staged": 1, "slots": 1}, "RECLAIMED_COMPUTE_WAIT": {"peer": 1, "slots": 1}, "SUBMITTED_HANDOVER": {},
    "PUBLISHED_HANDOVER": {}, "RETURNED_HANDOVER": {"slots": 1}, "LANDING_HANDOVER": {"staged": 1, "landings": 1, "two_threads_release": 1},
    "FLUSHED_HANDOVER": {"flush": 1}, "DRAINED_HANDOVER": {"drain": 1}, "DESTROYED_HANDOVER": {"quick_end": 1},
    "DESTROY_CONSUMED_JOIN": {"staged": 1}, "FAILED_UPLOAD_JOIN": {"fail": "cudaStreamWaitEvent:1"}, "FAILED_COMPUTE_JOIN": {"fail_compute": 0},
    "FAILED_COPY_JOIN": {"fail": "cudaEventRecord:3"}, "FAILED_PUBLISH_JOIN": {"fail": "cudaEventSynchronize:1"},
    "FAILED_TRANSFER_JOIN": {"staged": 1, "fail": "cudaEventRecord:4"}, "FAILED_RELEASE_JOIN": {"staged": 1, "landings": 1, "fail": "cudaEventRecord:6"},
}


def mutant_shape(needs):
    """Words, and options of run. Where a call or a stage fails, one thread makes all calls, so that the k-th is always the same."""
    shape, options = dict(needs), []
    if "fail" in shape:
        options = ["--fail", shape.pop("fail") + "=cudaErrorUnknown"]
    if options or "fail_compute" in shape:
        shape.update(failing=1, one_thread=1, slots=1)
    return shape, options


def without(archive, edge, needs, schedule):
    shape, options = mutant_shape(needs)
    return run(mutants_program(archive), *STRICT, "--schedule", schedule, *options, args=words(mutant=edge, **shape), timeout=TIME_S)


def all_edges(archive, needs):
    done = without(archive, "NONE", needs, "lazy")
    check(done.code == 0 and done.verdict == "clean", done.about())


def one_mutant(archive, name, needs, killed):
    for schedule in ("eager", "lazy"):
        if without(archive, name, needs, schedule).findings(("error",)):
            return killed.append(name)
    return check(False, f"the checker reports no error without {name}")


def mutants(tally, archive):
    names = re.findall(r"^EDGE\((\w+),", (ROOT / "src/pipeline/edges.def").read_text(encoding="utf-8"), re.M)
    killed = []
    check(sorted(names) == sorted(MUTANTS), f"edges without a mutant, or the other way round: {set(names) ^ set(MUTANTS)}")
    for needs in {str(needs): needs for needs in MUTANTS.values()}.values():
        tally.case(f"all edges, {' '.join(words(**needs))}", all_edges, archive, needs)
    for name in names:
        tally.case(name, one_mutant, archive, name, MUTANTS[name], killed)
    return lambda: print(f"pipeline mutants: {len(killed)} of {len(names)}")


def one_exploration(shape):
    args = words(jobs=2, elems=1, **shape)
    report = execute([TOOL, "explore", "--threads", "strict", "--time", "300", "--", program(), *args], timeout=400)
    check(report.returncode == 0, f"{' '.join(args)}: exit {report.returncode}\n{report.stderr}")
    print(f"pipeline explore: {' '.join(args)}: " + next(line for line in report.stderr.splitlines() if line.startswith("explore:")))


def explore(tally, _archive):
    for slots in (1, 2):
        for way in ("host", "staged", "peer") if ALL else ("host", "staged") if slots == 2 else ("host",):
            for one_thread in (1, 0):
                name = f"{slots} slots, {way}, {'one thread' if one_thread else 'threads'}"
                tally.case(name, one_exploration, {"slots": slots, "one_thread": one_thread, **WAYS[way]})


FAILING = {  # calls, and the errors that they fail with: their own, or sticky ones of work that runs
    "cudaMemcpyAsync": ("cudaErrorUnknown", "cudaErrorIllegalAddress"), "cudaLaunchKernel": ("cudaErrorInvalidConfiguration", "cudaErrorIllegalAddress"),
    "cudaEventRecord": ("cudaErrorUnknown", "cudaErrorLaunchFailure"), "cudaStreamWaitEvent": ("cudaErrorUnknown",),
    "cudaEventSynchronize": ("cudaErrorUnknown", "cudaErrorLaunchFailure"), "cudaMemcpyPeerAsync": ("cudaErrorUnknown", "cudaErrorIllegalAddress"),
}


def one_failure(way, call, nth, error, schedule):
    """The program counts its jobs: each came right, was told as failed, or was refused with the batch that broke the pipeline."""
    shape = words(failing=1, jobs=6, slots=2, devices=2, producers=2, consumers=2, elems=257, **WAYS[way])
    done = run(program(), *STRICT, "--schedule", schedule, "--device", "virtual:2", "--fail", f"{call}:{nth}={error}", args=shape, timeout=TIME_S)
    check(done.report["run"]["exit"]["code"] == 0 and not done.findings(("error",)), done.about())
    happened = "did not happen" not in done.err
    check(not happened or re.fullmatch(r"jobs=\d wrong=0 told=\d+\n", done.out), done.about())
    return happened


def unasked_program():
    return build_once(PROGRAMS / "unasked", "-g", ROOT / "tests/pipeline/programs/unasked.cu", "-lstreamsan-pipeline")


def unasked_launch():
    done = run(unasked_program(), timeout=TIME_S)
    check([found["rule"] for found in done.findings(("error",))] == ["SSAN-UNCHECKED-LAUNCH"], done.about())


def failures(tally, _archive):
    happened = []
    tally.case("a launch of compute's that nobody asks for", unasked_launch)

    def one(*case):
        happened.append(one_failure(*case))

    for way in ("host", "staged", "peer"):
        for call, errors in FAILING.items():
            for error in errors:
                for nth in (1, 2, 5, 9, 14) if ALL else (5,):
                    for schedule in ("eager", "lazy", "random:1", "random:2") if ALL else ("lazy",):
                        if (call == "cudaMemcpyPeerAsync") <= (way == "peer"):
                            tally.case(f"{way}, {call}:{nth}={error}, {schedule}", one, way, call, nth, error, schedule)
    return lambda: print(f"pipeline failures: {sum(happened)} happened of {len(happened)}")


def programs(tally, archive):
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    for name, build in (("matrix", program), ("unasked", unasked_program), ("mutants", lambda: mutants_program(archive))):
        (PROGRAMS / name).unlink(missing_ok=True)
        tally.case(name, build)


OUTSIDE = ROOT / "tests/pipeline/outside"
BUILD = TOOL.parents[1]
TOOLKIT = pathlib.Path(shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc").parents[1]


def do(*command, env=None, code=0):
    done = execute(command, env=env, timeout=300)
    check(code is None or done.returncode == code, f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def installed():
    """The tree of `make install`, below a DESTDIR."""
    do("cmake", "--install", BUILD, "--prefix", "/opt/ssan", env={"DESTDIR": str(WORK / "installed")})
    return WORK / "installed/opt/ssan"


def runs_right(program, tree):
    done = do(tree / "bin/streamsan", "run", "--threads", "strict", "--", program, env={"LD_LIBRARY_PATH": str(tree / "lib")})
    check(done.stdout == "10 of 10 batches right\n" and "streamsan: clean" in done.stderr, done.stdout + done.stderr)


def by_cmake(tree):
    folder = WORK / "by-cmake"
    do("cmake", "-S", OUTSIDE, "-B", folder, f"-DCMAKE_PREFIX_PATH={tree}", env={"CC": f"{tree}/bin/streamsan cc"})
    do("cmake", "--build", folder)
    for form in ("pipeline", "pipeline_shared"):
        runs_right(folder / f"app_{form}", tree)
    check(do(folder / "app_compare").stdout == "1 of 2 differs\n", "the comparison library")
    linked = do("ldd", folder / "app_pipeline").stdout, do("ldd", folder / "app_pipeline_shared").stdout
    check("libstreamsan" not in linked[0] and "libstreamsan-pipeline.so.0" in linked[1], "\n".join(linked))


def cuda_by_cmake(tree):
    """CUDA sources on the virtual device. A mistake in compute is told at lines of the program, not at ones of the library."""
    folder = WORK / "cuda-by-cmake"
    do("cmake", "-S", OUTSIDE / "cuda", "-B", folder, f"-DCMAKE_PREFIX_PATH={tree}", "-DCMAKE_BUILD_TYPE=Debug", env={"CXX": f"{tree}/bin/streamsan cc"})
    do("cmake", "--build", folder)
    runs_right(folder / "app", tree)
    told = do(TOOL, "run", *STRICT, "--", folder / "app", "wrong", code=66).stderr
    check("app.cu:26: error: increment on 'own'" in told and "in ssan_pipe_submit" in told and not re.search(r"submit\.c|parts\.h", told), told)


def built_nowhere(tree):
    """What is installed names no folder of the machine that built it."""
    for library in sorted((tree / "lib").glob("libstreamsan-pipeline.*")):
        held = library.read_bytes()
        check(b"streamsan-pipeline-library" in held and not any(bytes(folder) in held for folder in (ROOT, BUILD)), str(library))


def flags_of(tree, library):
    return do("pkg-config", "--cflags", "--libs", library, env={"PKG_CONFIG_PATH": str(tree / "lib/pkgconfig")}).stdout.split()


def by_pkg_config(tree):
    if not shutil.which("pkg-config"):
        raise Skip("no pkg-config")
    do(tree / "bin/streamsan", "cc", "-O2", "-std=c11", "-o", WORK / "by-pkg-config", OUTSIDE / "app.c", *flags_of(tree, "streamsan-pipeline"))
    runs_right(WORK / "by-pkg-config", tree)
    do("cc", "-std=c11", "-o", WORK / "compare-by-pkg-config", OUTSIDE / "compare.c", *flags_of(tree, "streamsan-compare"))
    check(do(WORK / "compare-by-pkg-config").stdout == "1 of 2 differs\n", "the comparison library")


def with_cudart(tree):
    """The headers and the runtime of NVIDIA's toolkit, where there is one. Without a GPU the program says what is missing."""
    if not (TOOLKIT / "include/cuda_runtime_api.h").is_file():
        raise Skip("no CUDA toolkit")
    folder = WORK / "with-cudart"
    do("cmake", "-S", OUTSIDE, "-B", folder, f"-DCMAKE_PREFIX_PATH={tree}", "-DCUDART=ON", f"-DCUDAToolkit_ROOT={TOOLKIT}")
    do("cmake", "--build", folder)
    do("cc", "-o", WORK / "static-cudart", f"-I{tree}/include", f"-I{TOOLKIT}/include", OUTSIDE / "app.c", tree / "lib/libstreamsan-pipeline.a",
       f"-L{TOOLKIT}/lib64", "-lcudart_static", "-lpthread", "-ldl", "-lrt")
    for program in (folder / "app_pipeline", folder / "app_pipeline_shared", WORK / "static-cudart"):
        done = do(program, env={"LD_LIBRARY_PATH": f"{tree}/lib:{TOOLKIT}/lib64"}, code=None)
        check(done.stdout == "10 of 10 batches right\n" or re.fullmatch(r"pipe: cudaGetDevice failed: cudaError\w+\n", done.stderr), done.stdout + done.stderr)
    nvcc = TOOLKIT / "bin/nvcc"
    if shutil.which("pkg-config") and nvcc.is_file():
        do(nvcc, "-o", WORK / "by-nvcc", OUTSIDE / "app.c", *flags_of(tree, "streamsan-pipeline"))
        first = WORK / "first.cu"
        first.write_text(shown_files(ROOT / "docs/pipeline.md")["first.cu"], encoding="utf-8")
        do(nvcc, "-o", WORK / "first", first, *flags_of(tree, "streamsan-pipeline"))
    for source in sorted((ROOT / "src/pipeline").glob("*.c")):
        do("cc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-fsyntax-only", f"-I{ROOT}/src", f"-I{ROOT}/include",
           "-isystem", TOOLKIT / "include", source)


def install(tally, _archive):
    tree = installed()
    for way in (built_nowhere, by_cmake, cuda_by_cmake, by_pkg_config, with_cudart):
        tally.case(way.__name__, way, tree)


def smoke():
    program = build_once(WORK / "bench", ROOT / "tests/bench/gpu/pipeline.cu", "-lstreamsan-pipeline")
    for devices in (1, 2):
        done = do(TOOL, "run", "--quiet", "--device", f"virtual:{devices}", "--", program, "--smoke", code=None)
        rows = [line.split()[0] for line in done.stdout.splitlines()]
        check(rows == ["us", "way", "host", "host", *(["same"] if devices == 1 else ["peer"]) * 2], done.stdout + done.stderr)


def bench(tally, _archive):
    tally.case("smoke", smoke)


PARTS = {"programs": programs, "matrix": matrix, "mutants": mutants, "explore": explore, "failures": failures, "install": install, "bench": bench}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--mutants", type=pathlib.Path)
    parser.add_argument("--programs", type=pathlib.Path)
    parser.add_argument("--only")
    options = parser.parse_args()
    global PROGRAMS
    PROGRAMS = options.programs or PROGRAMS
    tally = Tally(f"pipeline_{options.part}")
    last = PARTS[options.part](tally, options.mutants)
    code = tally.finish(options.only)
    if last:
        last()
    return code


if __name__ == "__main__":
    sys.exit(main())
