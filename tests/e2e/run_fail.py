#!/usr/bin/python3
"""Calls that --fail lets fail, and errors that nobody asks for (run_fail.py [part of a name])."""
import pathlib
import sys

from harness import ROOT, TOOL, Tally, build_once, check, execute, run, work_folder

SOURCES = ROOT / "tests/e2e/fail"
FOLDER = work_folder("fail")
WORK = pathlib.Path(FOLDER.name)


def program(name):
    return build_once(WORK / name, "-g", SOURCES / f"{name}.cu")


def failing(name, *failures, schedule="eager", args=()):
    return run(program(name), "--schedule", schedule, *(word for failure in failures for word in ("--fail", failure)), args=args)


def own_errors():
    """No effect, the error, the last error once; later work goes on."""
    for call, error, out, code in (
            ("cudaMalloc", "cudaErrorMemoryAllocation", "pointer untouched\nerror: cudaErrorMemoryAllocation, last cudaErrorMemoryAllocation, "
             "then cudaSuccess\n", 3),
            ("cudaStreamCreate", "cudaErrorUnknown", "cudaStreamCreate(&stream): cudaErrorUnknown, last cudaErrorUnknown, then cudaSuccess\n", 3),
            ("cudaEventRecord", "cudaErrorInvalidResourceHandle",
             "cudaEventRecord(event, stream): cudaErrorInvalidResourceHandle, last cudaErrorInvalidResourceHandle, then cudaSuccess\n", 3),
            ("cudaStreamSynchronize", "cudaErrorUnknown",
             "cudaStreamSynchronize(stream): cudaErrorUnknown, last cudaErrorUnknown, then cudaSuccess\n", 3),
            ("cudaLaunchKernel:3", "cudaErrorInvalidConfiguration",
             "cudaGetLastError(): cudaErrorInvalidConfiguration, last cudaSuccess, then cudaSuccess\n", 3),
            ("cudaMemcpy", "cudaErrorInvalidValue", None, 3), ("cudaFree", "cudaErrorInvalidValue", None, 3)):
        for schedule in ("eager", "lazy"):
            done = failing("pipeline", f"{call}={error}", schedule=schedule, args=["asks"])
            check(out is None or done.out == out, done.about())
            check(done.report["run"]["altered"] == f"--fail {call}={error}", done.about())
            check(done.report["run"]["exit"]["code"] == code, done.about())


def sticky_errors():
    """A launch or copy succeeds and fails when it runs; other calls return the error; then all do."""
    for schedule, call, place in (("eager", "cudaLaunchKernel:2", "cudaEventRecord(event, stream)"),
                                  ("lazy", "cudaLaunchKernel:2", "cudaStreamSynchronize(stream)"),
                                  ("lazy", "cudaMemcpyAsync", "cudaStreamSynchronize(stream)"),
                                  ("lazy", "cudaMemcpy", "cudaMemcpy(&out, device, sizeof out, cudaMemcpyDeviceToHost)"),
                                  ("lazy", "cudaEventRecord", "cudaEventRecord(event, stream)")):
        done = failing("pipeline", f"{call}=cudaErrorIllegalAddress", schedule=schedule)
        name = "cudaErrorIllegalAddress"
        check(done.out == f"{place}: {name}, last {name}, then {name}\n", done.about())


def counted_over_threads():
    for failures, expected in ((["cudaMalloc:6=cudaErrorMemoryAllocation"], "00000100"),
                               (["cudaMalloc:all=cudaErrorMemoryAllocation"], "11111111"),
                               (["cudaMalloc:1=cudaErrorMemoryAllocation", "cudaMalloc:8=cudaErrorMemoryAllocation"], "10000001"),
                               (["cudaMalloc:all=cudaErrorMemoryAllocation", "cudaMalloc:3=cudaErrorUnknown"], "11011111")):
        done = failing("threads", *failures)
        check(done.out == expected + "\n", done.about())


def did_not_happen():
    done = failing("pipeline", "cudaLaunchKernel:4=cudaErrorUnknown", "cudaMallocPitch=cudaErrorUnknown")
    told = "streamsan: --fail cudaLaunchKernel:4=cudaErrorUnknown did not happen: cudaLaunchKernel was called 3 times\n" \
           "streamsan: --fail cudaMallocPitch:1=cudaErrorUnknown did not happen: cudaMallocPitch was called 0 times\n"
    check(told in done.err and done.code == 0, done.about())


def wrong_words():
    for word, says in (("cudaMaloc=cudaErrorUnknown", "did you mean cudaMalloc?"), ("cudaMalloc=cudaErrorUnknow", "did you mean cudaErrorUnknown?"),
                       ("cudaMalloc", "CALL=ERROR"), ("cudaMalloc:0=cudaErrorUnknown", "'0' is no number")):
        for verb in ("run", "explore", "witness"):
            done = execute([TOOL, verb, "--fail", word, "--", program("pipeline")])
            check(done.returncode == 64 and says in done.stderr, f"{verb} {word}: {done.returncode}\n{done.stderr}")
    done = execute([TOOL, "run", "--fail", "cudaFree=cudaErrorUnknown", "--fail", "cudaFree:1=cudaErrorInvalidValue", "--", program("pipeline")])
    check(done.returncode == 64 and "twice" in done.stderr, f"{done.returncode}\n{done.stderr}")


def in_explore_and_witness():
    """All runs are of the altered program."""
    for verb in ("explore", "witness"):
        done = execute([TOOL, verb, "--fail", "cudaLaunchKernel:3=cudaErrorInvalidConfiguration", "--", program("pipeline"), "asks"])
        check("program altered (--fail cudaLaunchKernel:3=cudaErrorInvalidConfiguration)" in done.stderr, done.stderr)
        check(done.returncode == 0, f"{done.returncode}\n{done.stderr}")


def from_a_file():
    path = WORK / "fail.schedule"
    path.write_text("streamsan-schedule 1\npolicy lazy\nfail cudaMemcpyAsync 1 cudaErrorInvalidValue\n", encoding="utf-8")
    done = run(program("pipeline"), "--schedule", f"file:{path}")
    check("cudaErrorInvalidValue" in done.out and done.report["run"]["altered"] == "calls made to fail by the schedule", done.about())


def main():
    tally = Tally("run_fail")
    for function in (own_errors, sticky_errors, counted_over_threads, did_not_happen, wrong_words, in_explore_and_witness, from_a_file):
        tally.case(function.__name__, function)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
