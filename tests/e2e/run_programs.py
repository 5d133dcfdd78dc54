#!/usr/bin/python3
"""Programs that state their own verdict, in the first comment lines (run_programs.py [--all] [part of a name]).

--all: every block that chooses no schedule is run under eager, lazy and 5 random ones: what is found does not depend on it.

    // BUILD: words for `streamsan cc` beside the file itself; @ is the folder of the programs (begins a variant)
    // OBJECT: words for `streamsan cc -c`, whose object is linked in (belongs to the variant)
    // LIBS: words behind the file (belongs to the variant)
    // RUN: options of `streamsan run`                (begins a block; a variant may hold several; none: one without options)
    // ARGS: words for the program
    // VERDICT: clean | errors | incomplete
    // EXIT: the exit code of streamsan
    // STDOUT: a line that the program prints
    // SAYS: words that stderr must hold              (any number)
    // FINDING: <severity> <rule> ['buffer' [lo,hi)...] [first=<line or kind:name>] [then=...] [nearest=<kind>] [by=R-...]
               [fix=checked or its kind]              (any number; the error and warning findings must be exactly these;
                                                      `folded` in front of the severity: inside another one)
    // FIX: words that the fix of some finding holds   (any number; statements it inserts, or its usage)
    // MAY: advice <rule>                             (any number; other advice is a failure)
"""
import pathlib
import re
import shlex
import sys

import harness
import precompiled
from harness import ROOT, TOOL, Tally, build, check, execute, run, work_folder

PROGRAMS = ROOT / "tests/e2e/programs"
WORK = work_folder("programs")
LINE = re.compile(r"^//\s*([A-Z]+):\s*(.*)$")
FINDING = re.compile(r"^(?P<folded>folded )?(?P<severity>error|warning|advice) (?P<rule>SSAN-[A-Z-]+)(?: '(?P<buffer>[^']*)')?"
                     r"(?P<ranges>(?: \[\d+,\d+\))*)(?P<rest>.*)$")


class Variant:
    def __init__(self, words):
        self.words, self.objects, self.libs, self.blocks = words, [], [], []

    def block(self):
        if not self.blocks:
            self.blocks.append({})
        return self.blocks[-1]


def words_of(text):
    return [w.replace("@", str(PROGRAMS)) for w in shlex.split(text)]


def variants(path):
    """What the first comment lines state: a list of Variant."""
    found = []
    for row in path.read_text(encoding="utf-8").splitlines():
        m = LINE.match(row)
        if not m:
            break
        word, text = m.groups()
        if word == "BUILD":
            found.append(Variant(words_of(text)))
            continue
        if not found:
            found.append(Variant([]))
        if word == "OBJECT":
            found[-1].objects.append(words_of(text))
        elif word == "LIBS":
            found[-1].libs.extend(words_of(text))
        elif word == "RUN":
            found[-1].blocks.append({"RUN": [text]})
        else:
            found[-1].block().setdefault(word, []).append(text)
    return found


def meets(report, f, want):
    ops = {o["id"]: o for o in report["operations"]}
    buffers = {b["id"]: b for b in report["buffers"]}

    def side_is(side, text):
        op = ops.get(f[side]["op"]) if f.get(side) else None
        if op is None:
            return False
        if text.isdigit():
            return (op["at"] or {}).get("line") == int(text)
        kind, _, name = text.partition(":")
        return op["kind"] == kind and (not name or name in (op.get("kernel"), op.get("function"), op.get("call")))

    if f["rule"] != want["rule"] or f["severity"] != want["severity"]:
        return False
    if want["buffer"] is not None and (buffers.get(f["buffer"]) or {}).get("name") != want["buffer"]:
        return False
    ranges = [tuple(map(int, r)) for r in re.findall(r"\[(\d+),(\d+)\)", want["ranges"] or "")]
    if ranges and [(r["begin"], r["end"]) for r in f["ranges"]] != ranges:
        return False
    for part in want["rest"].split():
        key, _, value = part.partition("=")
        if key in ("first", "then") and not side_is(key, value):
            return False
        if key == "nearest" and ((f.get("missing") or {}).get("nearest") or {}).get("kind") != value:
            return False
        if key == "by" and f["ordered_by"] != value:
            return False
        if key == "fix" and not fix_is(f["fix"] or {"kind": "none", "checked": False}, value):
            return False
    return True


def fix_is(fix, value):
    return fix["checked"] if value == "checked" else fix["kind"] == value


def words_of_fix(f):
    fix = f["fix"] or {"edits": []}
    return "\n".join([fix.get("usage", ""), *(edit["insert_before"] or edit.get("insert_behind", "") for edit in fix["edits"])])


def seen_in(report, findings):
    """What there is instead, a line each."""
    names = {b["id"]: b["name"] for b in report["buffers"]}
    return "".join(f"  seen: {f['severity']} {f['rule']} {names.get(f['buffer'])!r} "
                   + " ".join(f"[{r['begin']},{r['end']})" for r in f["ranges"]) + f" {f.get('message', '')}\n" for f in findings)


def holds(program, block, *schedule, env=None):
    result = run(program, *schedule, *shlex.split(" ".join(block.get("RUN", []))), args=shlex.split(" ".join(block.get("ARGS", []))), env=env)
    for verdict in block.get("VERDICT", []):
        check(result.verdict == verdict, f"verdict {result.verdict}, not {verdict}\n{result.about()}")
    for code in block.get("EXIT", []):
        check(result.code == int(code), f"exit {result.code}, not {code}\n{result.about()}")
    for line in block.get("STDOUT", []):
        check(line in result.out.splitlines(), f"stdout lacks: {line}\n{result.about()}")
    for words in block.get("SAYS", []):
        check(words in result.err, f"stderr lacks: {words}\n{result.about()}")
    wanted = []
    for text in block.get("FINDING", []):
        m = FINDING.match(text)
        check(m, f"cannot read: {text}")
        wanted.append(m.groupdict())
    if result.report is None:
        check(not wanted, f"no report\n{result.about()}")
        return
    top = result.report["findings"]
    folded = [g for f in top for g in f["folded"]]
    for want in wanted:
        pool = folded if want["folded"] else top
        check(any(meets(result.report, f, want) for f in pool), f"no such finding: {want}\n{seen_in(result.report, pool)}{result.err}")
    for words in block.get("FIX", []):
        check(any(words in words_of_fix(f) for f in top), f"no fix holds: {words}\n" + "\n".join(map(words_of_fix, top)))
    for f in top:
        if f["severity"] != "advice":
            check(any(meets(result.report, f, w) for w in wanted if not w["folded"]), f"unexpected: {f['message']}\n{result.about()}")
        else:
            may = [m.split()[-1] for m in block.get("MAY", [])] + [w["rule"] for w in wanted]
            check(f["rule"] in may, f"unexpected advice: {f['message']}\n{result.about()}")


def schedules_of(block):
    """The words to run a block with, once for each schedule: none where it says itself how it is run."""
    if not harness.wants_all() or any("--schedule" in text for text in block.get("RUN", [])):
        return [()]
    return [("--schedule", schedule) for schedule in harness.schedules((), 5)]


def case(path, variant, number):
    check(any("VERDICT" in b for b in variant.blocks), "states no verdict")
    stem = pathlib.Path(WORK.name) / f"{path.stem}-{number}"
    objects = [build(stem.with_name(f"{stem.name}-{i}.o"), "-c", *words) for i, words in enumerate(variant.objects)]
    program = build(stem, *variant.words, path, *objects, *variant.libs)
    for block in variant.blocks:
        for schedule in schedules_of(block):
            holds(program, block, *schedule)


def same_by_precompiled_headers():
    """What the runners build faster is what users get."""
    path = PROGRAMS / "litmus_l01_two_streams.cu"
    programs = []
    for number, env in enumerate((precompiled.environment(TOOL, "-O2", "-DA", path), {})):
        check(env or number, "no precompiled headers")
        output = pathlib.Path(WORK.name) / f"same-{number}"
        done = execute([TOOL, "cc", "-O2", "-DA", "-o", output, path], env=env)
        check(done.returncode == 0 and not done.stderr, f"exit {done.returncode}\n{done.stderr}")
        programs.append(output.read_bytes())
    check(programs[0] == programs[1], "the programs differ")
    for words in (["-DNDEBUG"], ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"], ["-Ifolder"], ["-U__GNUC__"], ["-imacros", path]):
        check(not precompiled.environment(TOOL, "-O2", *words, path), f"precompiled headers with {words}")


def main():
    tally = Tally("programs")
    tally.case("the same by precompiled headers", same_by_precompiled_headers)
    for path in sorted(PROGRAMS.glob("*.cu")):
        for number, variant in enumerate(variants(path)):
            tally.case(" ".join([path.stem, *variant.words]), case, path, variant, number)
    return tally.finish(harness.only_argument())


if __name__ == "__main__":
    sys.exit(main())
