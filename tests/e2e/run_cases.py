#!/usr/bin/python3
"""The case programs, scored: both variants, three sizes, with hooks and without (run_cases.py [--all] [part of a name]).

--all: every size under eager, lazy and 50 random schedules.
"""
import os
import pathlib
import sys

import harness
from harness import ROOT, Tally, build_once, check, run, work_folder

CASES = ROOT / "tests/cases"
sys.path.insert(0, str(CASES))
import score  # noqa: E402  (the scorer that belongs to the cases)

NOT_MODELLED = {"07_pool_cross_stream": "cudaMallocAsync", "11_graph_missing_edge": "cudaStreamBeginCapture"}
WORK = work_folder("cases")


def built(case, variant, n, hooks):
    output = pathlib.Path(WORK.name) / f"{case.stem}-{variant}-{n}-{'hooks' if hooks else 'plain'}"
    return build_once(output, f"-DN={n}", *(["-DFIXED"] if variant == "fixed" else []),
                      *(["-include", CASES / "hooks.h"] if hooks else ["-g"]), case)


def not_modelled(case, result):
    call = NOT_MODELLED[case.stem]
    check(result.code == 67 and result.verdict == "incomplete", f"expected incomplete, 67\n{result.about()}")
    check(call in result.verdict_line, f"the verdict does not name {call}\n{result.about()}")
    check(any(call in c if isinstance(c, str) else c.get("call") == call for c in result.report["run"]["unsupported_calls"]),
          f"run.unsupported_calls does not name {call}: {result.report['run']['unsupported_calls']}")


def scored(case, variant, n, schedule):
    result = run(built(case, variant, n, True), "--schedule", schedule)
    if case.stem in NOT_MODELLED:
        return not_modelled(case, result)
    got = score.score(case, variant, result.report, n)
    check(got.right, "\n".join([str(got), *got.lines(), result.about()]))
    racy = bool(score.parse(case.read_text(encoding="utf-8"), variant, n)[0])
    check(result.code == 66 if racy else result.verdict == "clean", f"verdict and exit code\n{result.about()}")


def device_findings(report):
    """What must not depend on hooks: rule, severity, bytes and places of the error findings on device memory."""
    buffers = {b["id"]: b for b in report["buffers"]}
    ops = {o["id"]: o for o in report["operations"]}

    def line(op):
        return (ops[op]["at"] or {}).get("line")

    rows = set()
    for top in report["findings"]:
        for f in [top, *top["folded"]]:
            buffer = buffers.get(f["buffer"])
            if f["severity"] == "error" and buffer and buffer["space"] == "device":
                rows.add((f["rule"], buffer["name"], buffer["allocated"]["line"], tuple((r["begin"], r["end"]) for r in f["ranges"]),
                          line(f["first"]["op"]), line(f["then"]["op"])))
    return rows


def without_hooks(case, variant):
    plain = run(built(case, variant, 4096, False))
    if case.stem in NOT_MODELLED:
        return not_modelled(case, plain)
    hooked = run(built(case, variant, 4096, True))
    check(device_findings(plain.report) == device_findings(hooked.report),
          f"with hooks {device_findings(hooked.report)}\nwithout {device_findings(plain.report)}\n{plain.about()}")


def main():
    tally = Tally("cases")
    for case in sorted(CASES.glob("[0-9]*.cu")):
        for variant in ("racy", "fixed"):
            for n in (1000, 4096, 4097):
                subset = ("eager", "lazy", "random:7") if n == 4096 else ("eager",)
                for schedule in harness.schedules(subset):
                    tally.case(f"{case.stem} {variant} N={n} {schedule}", scored, case, variant, n, schedule)
            tally.case(f"{case.stem} {variant} without hooks", without_hooks, case, variant)
    tally.case("score.py --self-test", lambda: check(score.self_test() == 0, "self-test"))
    return tally.finish(harness.only_argument())


if __name__ == "__main__":
    os.chdir(WORK.name)
    sys.exit(main())
