#!/usr/bin/python3
"""Calls that --fail lets fail, and errors that nobody asks for (run_fail.py [part of a name])."""
import pathlib
import sys

from harness import ROOT, TOOL, Tally, build_once, check, execute, only_argument, run, work_folder

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


def while_a_kernel_runs():
    """The context dies under a kernel: it and what waits for it end, whether the process is left at once or not."""
    for way in ("leaves", "joins"):
        done = failing("running", "cudaSetDevice=cudaErrorIllegalAddress", schedule="lazy", args=[way])
        check(done.code == 3 and done.verdict == "clean" and done.report["run"]["open_operations"] == 0, done.about())


def line_of(name, text):
    return next(n for n, line in enumerate((SOURCES / f"{name}.cu").read_text(encoding="utf-8").splitlines(), 1) if text in line)


def told():
    """What failed, where; a planned fault leaves the verdict to the rest; so does a program that came to no operation."""
    launch = {"file": "pipeline.cu", "line": line_of("pipeline", "add<<<")}
    record = {"file": "pipeline.cu", "line": line_of("pipeline", "CHECK(cudaEventRecord(")}

    def short(place):
        return place and {**place, "file": pathlib.Path(place["file"]).name}

    done = failing("pipeline", "cudaLaunchKernel:2=cudaErrorIllegalAddress", "cudaFree:all=cudaErrorUnknown")
    fault, failures = done.report["run"]["fault"], done.report["run"]["planned_failures"]
    check(done.verdict == "clean" and done.code == 3 and done.report["run"]["complete"], done.about())
    check([(f["call"], f["error"], short(f["at"]), f["count"]) for f in failures] == [("cudaLaunchKernel", "cudaErrorIllegalAddress", launch, 1)],
          failures)
    check(fault["planned"] and fault["error"] == "cudaErrorIllegalAddress" and fault["kernel"] == "add"
          and short(fault["called_at"]) == launch and fault["returned_by"] == "cudaEventRecord" and short(fault["returned_at"]) == record, fault)
    done = failing("pipeline", "cudaMalloc=cudaErrorMemoryAllocation")
    check(done.verdict == "clean" and done.code == 3 and done.report["summary"]["totals"]["operations"] == 0, done.about())
    text = execute([TOOL, "run", "--fail", "cudaLaunchKernel:2=cudaErrorIllegalAddress", "--", program("pipeline")]).stderr
    for words in ("failed as asked for\n", "device fault, as asked for\n", ", the first call that returned the", "  failed     add of "):
        check(words in text, text)


def unchecked():
    """The program that asks ends by itself; the one that doesn't is reported, with the kernel."""
    done = failing("pipeline", "cudaLaunchKernel:2=cudaErrorLaunchOutOfResources", args=["asks"])
    check(done.code == 3 and done.verdict == "clean" and not done.findings(), done.about())
    done = failing("pipeline", "cudaLaunchKernel:2=cudaErrorLaunchOutOfResources")
    found = done.findings()
    check(done.code == 66 and [(f["rule"], f["severity"]) for f in found] == [("SSAN-UNCHECKED-LAUNCH", "error")], done.about())
    check("add" in found[0]["message"] and "cudaErrorLaunchOutOfResources" in found[0]["message"], found[0])
    fix = found[0]["fix"]
    place = next(op["at"] for op in done.report["operations"] if op["id"] == found[0]["then"]["op"])
    check(fix["kind"] == "ask-error" and not fix["checked"], fix)
    check([(e["file"], e["line"], e["insert_before"]) for e in fix["edits"]] == [(place["file"], place["line"], None)], (fix, place))
    trace = WORK / "unchecked.ssan"
    done = failing("pipeline", "cudaLaunchKernel:all=cudaErrorUnknown")
    check([(f["rule"], f["count"]) for f in done.findings()] == [("SSAN-UNCHECKED-LAUNCH", 3)], done.findings())
    run(program("pipeline"), "--trace", trace, "--fail", "cudaLaunchKernel:2=cudaErrorUnknown")
    again = execute([TOOL, "check", trace])
    check(again.returncode == 66 and "SSAN-UNCHECKED-LAUNCH" in again.stderr, again.stderr)
    check(f"+   {fix['edits'][0]['insert_behind']}\n" in again.stderr, again.stderr)
    for verb in ("explore", "witness"):
        done = execute([TOOL, verb, "--fail", "cudaLaunchKernel:2=cudaErrorUnknown", "--", program("pipeline")])
        check(done.returncode == 66 and "SSAN-UNCHECKED-LAUNCH" in done.stderr, f"{verb} {done.returncode}\n{done.stderr}")


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
    check([(m["failure"], m["calls"]) for m in done.report["run"]["missed_failures"]]
          == [("cudaLaunchKernel:4=cudaErrorUnknown", 3), ("cudaMallocPitch:1=cudaErrorUnknown", 0)], done.report["run"])
    check(done.report["run"]["altered"] is None and "program not altered (--fail cudaLaunchKernel:4=cudaErrorUnknown did not happen, nor did others)" in done.err,
          done.about())
    done = failing("pipeline", "cudaMalloc:90=cudaErrorUnknown", "cudaMallocHost=cudaErrorMemoryAllocation")
    check("cudaMalloc:90" in done.report["run"]["altered"] and "program altered" in done.err, done.about())
    done = execute([TOOL, "explore", "--fail", "cudaFree:2=cudaErrorUnknown", "--fail", "cudaMallocHost=cudaErrorMemoryAllocation", "--",
                    program("pipeline")])
    for words in ("  --fail cudaFree:2=cudaErrorUnknown did not happen: cudaFree was called 0 times\n", "  failed as asked for: cudaMallocHost at "):
        check(words in done.stderr, done.stderr)


def wrong_words():
    for word, says in (("cudaMaloc=cudaErrorUnknown", "did you mean cudaMalloc?"), ("cudaMalloc=cudaErrorUnknow", "did you mean cudaErrorUnknown?"),
                       ("cudaMalloc=700", "the name of the error is wanted"), ("cudaMalloc", "CALL=ERROR"), ("cudaMalloc:0=cudaErrorUnknown", "'0' is no number")):
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
    tally = Tally("fail")
    for function in (own_errors, sticky_errors, while_a_kernel_runs, told, unchecked, counted_over_threads, did_not_happen, wrong_words, in_explore_and_witness, from_a_file):
        tally.case(function.__name__, function)
    return tally.finish(only_argument())


if __name__ == "__main__":
    sys.exit(main())
