#!/usr/bin/python3
"""The programs of docs/rules: what each page calls wrong and right is so (run_rules.py [--all] [part of a name]).

Each page holds one ```cuda block under "Minimal wrong program" and one under "Minimal right program". The wrong one must
get the page's check, as a finding or folded into one; the right one no finding at all and the verdict clean. A page that
says "under `--threads strict` only" is run so. --all: under every schedule, instead of eager.
"""
import pathlib
import re
import sys

import harness
from harness import ROOT, Tally, build, check, run, work_folder

WORK = work_folder("rules")
PART = re.compile(r"^## Minimal (wrong|right) program\n+```cuda\n(.*?)^```$", re.M | re.S)


def rules_of(report):
    return {g["rule"] for f in report["findings"] for g in [f, *f["folded"]]}


def case(page, side):
    text = page.read_text(encoding="utf-8")
    rule = re.match(r"# (SSAN-[A-Z-]+)", text)[1]
    programs = dict(PART.findall(text))
    check(programs.keys() == {"wrong", "right"}, "the page lacks a program")
    source = pathlib.Path(WORK.name) / f"{page.stem}-{side}.cu"
    source.write_text(programs[side], encoding="utf-8")
    strict = ["--threads", "strict"] if "`--threads strict` only" in text else []
    program = build(source.with_suffix(""), "-std=c++17", source)
    for schedule in harness.schedules(("eager",)):
        result = run(program, "--schedule", schedule, *strict)
        found = rules_of(result.report)
        if side == "wrong":
            check(rule in found, f"{schedule}: no {rule}, but {sorted(found)}\n{result.about()}")
        else:
            check(not found and result.verdict == "clean", f"{schedule}: {sorted(found)}, verdict {result.verdict}\n{result.about()}")


def main():
    tally = Tally("rules")
    for page in sorted((ROOT / "docs/rules").glob("*.md")):
        for side in ("wrong", "right"):
            tally.case(f"{page.stem} {side}", case, page, side)
    return tally.finish(harness.only_argument())


if __name__ == "__main__":
    sys.exit(main())
