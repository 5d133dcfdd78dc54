#!/usr/bin/python3
"""The case programs, scored: both variants, three sizes, with hooks and without (run_cases.py [--all] [part of a name]).

--all: every size under eager, lazy and 50 random schedules.
"""
import os
import pathlib
import sys

import harness
from case_lists import CASES, NOT_MODELLED, VARIANTS, cases, device_findings, is_faulty, not_modelled, score
from harness import Tally, build_once, check, run, work_folder

WORK = work_folder("cases")


def built(case, variant, n, hooks):
    output = pathlib.Path(WORK.name) / f"{case.stem}-{variant}-{n}-{'hooks' if hooks else 'plain'}"
    return build_once(output, f"-DN={n}", *(["-DFIXED"] if variant == "fixed" else []),
                      *(["-include", CASES / "hooks.h"] if hooks else ["-g"]), case)


def scored(case, variant, n, schedule):
    result = run(built(case, variant, n, True), "--schedule", schedule)
    if case.stem in NOT_MODELLED:
        return not_modelled(NOT_MODELLED[case.stem], result)
    got = score.score(case, variant, result.report, n)
    check(got.right, "\n".join([str(got), *got.lines(), result.about()]))
    check(result.code == 66 if is_faulty(case, variant) else result.verdict == "clean", f"verdict and exit code\n{result.about()}")


def without_hooks(case, variant):
    plain = run(built(case, variant, 4096, False))
    if case.stem in NOT_MODELLED:
        return not_modelled(NOT_MODELLED[case.stem], plain)
    hooked = run(built(case, variant, 4096, True))
    check(device_findings(plain.report) == device_findings(hooked.report),
          f"with hooks {device_findings(hooked.report)}\nwithout {device_findings(plain.report)}\n{plain.about()}")


def main():
    tally = Tally("cases")
    for case in cases():
        for variant in VARIANTS:
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
