#!/usr/bin/env python3
"""Suppressions, the short form, words that are wrong, the manual and completion (run_usability.py [part of a name])."""
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys

import harness
from harness import ROOT, SCHEMA, TOOL, Skip, Tally, build_once, check, execute, started, work_folder

FOLDER = work_folder("usability")
WORK = pathlib.Path(FOLDER.name)
LISTING = ROOT / "tests/golden/handover.listing"  # a RAW with three folded ones, an advice
BUILD = TOOL.parents[1]
PAGE = BUILD / "share/man/man1/streamsan.1"
COMPLETION = BUILD / "share/bash-completion/completions/streamsan"
SHORT = re.compile(r"^\S+:\d+: (error|warning|advice): .* \[SSAN-[A-Z-]+\] id=[0-9a-f]{8}$")


NAMELESS = """streamsan-listing 1
stream_create stream=1 context=1 flavour=non-blocking thread=1 at="a.cu:26"
stream_create stream=2 context=1 flavour=non-blocking thread=1 at="a.cu:27"
alloc alloc=1 context=1 memory=device address=0x1000 size=4096 call="cudaMalloc" thread=1 at="a.cu:25"
op op=1 stream=1 kind=kernel call="cudaLaunchKernel" name="scale" thread=1 at="a.cu:32"
set op=1 access=write width=4 runs=[0x1000+4096]
op_closed op=1
op op=2 stream=2 kind=kernel call="cudaLaunchKernel" name="add" thread=1 at="a.cu:34"
set op=2 access=read width=4 runs=[0x1000+4096]
op_closed op=2
sync sync=1 kind=device object=1 call="cudaDeviceSynchronize" thread=1 at="a.cu:36"
sync_return sync=1 ok=1
"""


def expect(words, code, *parts, **how):
    done = execute([TOOL, *words], **how)
    check(done.returncode == code, f"{words}: exit {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    for part in parts:
        check(part in done.stderr, f"{words}: no word of {part!r}\n{done.stderr}")
    return done


def entries(name, text):
    path = WORK / name
    path.write_text(text, encoding="utf-8")
    return path


def racy():
    return build_once(WORK / "racy", ROOT / "tests/e2e/programs/litmus_l01_two_streams.cu", "-DA")


def clean():
    return build_once(WORK / "clean", ROOT / "tests/e2e/programs/litmus_l01_two_streams.cu", "-DB")


def judged(*words, code=66):
    """`check` of the listing: what it prints, and its JSON, which keeps to the schema."""
    path = WORK / f"{abs(hash(words))}.json"
    done = expect(["check", *words, LISTING], code)
    expect(["check", *words, "--format", "json", "--output", path, LISTING], code)
    report = json.loads(path.read_text(encoding="utf-8"))
    harness.keeps_to(SCHEMA, report)
    return done, report


def short_form():
    done = expect(["check", "--format", "short", LISTING], 66)
    lines = done.stderr.splitlines()
    check(len(lines) == 3 and all(SHORT.match(line) for line in lines[:2]), done.stderr)
    check(lines[-1].startswith("streamsan: errors: 1 error"), lines[-1])
    path = WORK / "short.txt"
    done = expect(["run", "--format=short", "--output", path, "--", racy()], 66)
    text = path.read_text(encoding="utf-8")
    check(text.count("\n") == 1 and SHORT.match(text.rstrip("\n")) and len(done.stderr.splitlines()) == 1, text + done.stderr)


def printed_entries_make_it_clean():
    for words in (["check", LISTING], ["run", "--", racy()]):
        path = WORK / f"{words[0]}.yaml"
        done = expect([words[0], "--print-suppressions", "--output", path, *words[1:]], 66)
        check(len(done.stderr.splitlines()) == 1, done.stderr)
        done = expect([words[0], "--suppressions", path, *words[1:]], 0)
        check(len(done.stderr.splitlines()) == 1 and re.match(r"streamsan: clean: 0 warnings, 0 advice, [1-9]\d* suppressed", done.stderr), done.stderr)
        done = expect([words[0], "--suppressions", path, "--print-suppressions", *words[1:]], 0, "nothing to suppress")
    both = expect(["check", "--verbose", LISTING], 66).stderr
    indented = [line for line in both.splitlines() if re.match(r" {13}(- rule|  id|  reason): ", line)]
    path = entries("verbose.yaml", "\n".join(indented) + "\n")
    expect(["check", "--suppressions", path, LISTING], 0)


def verbs_of_trials():
    """They name entries that fit nothing, count the others once, and are not clean when the report can't be written."""
    path, report_path = WORK / "trials.yaml", WORK / "trials.json"
    expect(["run", "--print-suppressions", "--output", path, "--", racy()], 66)
    known = path.read_text(encoding="utf-8")
    used = {}
    for words in (["explore", "--", racy()], ["witness", "--", racy()]):
        verb, rest = words[0], words[1:]
        entry = entries(f"{verb}.yaml", known + "- rule: SSAN-SUBMIT-RACE\n  reason: fits nothing\n")
        done = execute([TOOL, verb, "--suppressions", entry, "--format", "json", "--output", report_path, *rest])
        lines = [line for line in done.stderr.splitlines() if "this suppression fits no finding" in line]
        check(sum("SSAN-SUBMIT-RACE" in line for line in lines) == 1, done.stderr)
        report = json.loads(report_path.read_text(encoding="utf-8"))
        used[verb] = [row["used"] for row in report["suppressions"]]
        check(len(lines) == 1 and " suppressed" in done.stderr.splitlines()[-1], done.stderr)
    check(used["explore"] == used["witness"] and used["explore"][-1] == 0 and all(used["explore"][:-1]), used)
    for verb, program, code in (("explore", clean(), 67), ("explore", racy(), 66), ("witness", racy(), 66)):
        done = expect([verb, "--output", "/dev/full", "--", program], code, "No space")
        check(done.stderr.splitlines()[-1].startswith(f"streamsan: {'errors' if code == 66 else 'incomplete'}: "), done.stderr)


def the_folded_one_stays():
    path = entries("raw.yaml", "- rule: SSAN-RAW\n  kernel: scale\n  reason: checked again\n")
    done, report = judged("--suppressions", path)
    check("[SSAN-WAW]" in done.stderr and "[SSAN-RAW]" not in done.stderr and "checked: with this" in done.stderr, done.stderr)
    check("1 error" in done.stderr and "1 folded, 2 suppressed" in done.stderr.splitlines()[-1], done.stderr)
    told = [f for f in report["findings"] if not f["suppressed_by"]]
    hidden = [f for f in report["findings"] if f["suppressed_by"]]
    check([f["rule"] for f in told] == ["SSAN-EVENT-UNRECORDED", "SSAN-WAW"] and told[1]["fix"]["checked"], told)
    check([f["suppressed_by"] for f in hidden] == ["checked again"] and len(hidden[0]["folded"]) == 1, hidden)
    check(report["summary"]["suppressed"] == 2 and report["summary"]["errors"] == 1 and report["summary"]["folded"] == 1, report["summary"])
    check(report["suppressions"] == [{"file": str(path), "line": 1, "rule": "SSAN-RAW", "id": None, "buffer": None, "kernel": "scale",
                                      "reason": "checked again", "used": 2}], report["suppressions"])
    path = entries("waw.yaml", "- rule: SSAN-WAW\n  reason: x\n")
    done, report = judged("--suppressions", path)
    check("[SSAN-RAW]" in done.stderr and "SSAN-WAW" not in done.stderr and "SSAN-WAR" in done.stderr, done.stderr)
    check([f["suppressed_by"] for f in report["findings"][-1]["folded"]] == ["x", None, None], report["findings"])


def several_files_and_unused_entries():
    one = entries("one.yaml", "- buffer: d?v\n  reason: x\n- buffer: nobody\n  kernel: n*\n  reason: clean\n")
    two = entries("two.yaml", "- rule: SSAN-EVENT-UNRECORDED\n  reason: first lap\n")
    done = expect(["check", "--suppressions", one, LISTING, "--suppressions", two], 0)
    lines = done.stderr.splitlines()
    check(len(lines) == 2 and lines[0].endswith("one.yaml:3: this suppression fits no finding (buffer 'nobody', kernel 'n*')"), done.stderr)
    check(lines[0].startswith("streamsan check: ") and lines[1].startswith("streamsan: clean: 0 warnings, 0 advice, 5 suppressed"), done.stderr)
    env = {"STREAMSAN_OPTIONS": f"--suppressions '{one}' --quiet"}
    done = expect(["check", "--suppressions", two, LISTING], 0, env=env)
    check(len(done.stderr.splitlines()) == 1 and "5 suppressed" in done.stderr, done.stderr)
    expect(["check", "--suppressions", two, LISTING], 66, "1 suppressed")
    expect(["audit", LISTING], 66)
    expect(["audit", "--suppressions", one, "--suppressions", two, LISTING], 0, "5 suppressed")


def counts_so_far_know_none():
    """What SIGUSR1 prints, and SSAN_FINDINGS() of the program, count what a suppression hides; the verdict does not."""
    path = entries("all.yaml", "- buffer: '*'\n  reason: x\n")
    shell = WORK / "asked.sh"
    shell.write_text(f"#!/bin/sh\n'{racy()}'\necho ready\nread x\n", encoding="utf-8")
    shell.chmod(0o755)
    with started([TOOL, "run", "--suppressions", path, "--", shell], stdin=subprocess.PIPE) as child:
        check(child.stdout.readline() == "ready\n", "not ready")
        child.send_signal(signal.SIGUSR1)
        line = child.stderr.readline()
        check(line.startswith("streamsan so far: 1 error"), line)
        err = child.communicate("\n", timeout=60)[1]
    check(err.splitlines()[-1].startswith("streamsan: clean: ") and "1 suppressed" in err, err)


def wrong_files():
    path = entries("wrong.yaml", "- rule: SSAN-RAW\n  reasn: x\n")
    done = expect(["run", "--suppressions", path, "--", "sh", "-c", "echo ran"], 65, f"{path}:2: there is no key 'reasn'", "did you mean 'reason'?")
    check(not done.stdout and "Try" not in done.stderr, f"the program ran\n{done.stdout}{done.stderr}")
    expect(["check", "--suppressions", WORK / "nowhere.yaml", LISTING], 65, "nowhere.yaml")
    expect(["check", "--suppressions", path, LISTING], 65, "wrong.yaml:2")
    expect(["check", "--suppressions"], 64, "--suppressions takes a value: FILE")


def words_that_are_near():
    for words, said in ((["check", "--frmat", "json", "x"], "'--format'"), (["run", "--shedule=lazy", "--", "true"], "'--schedule'"),
                        (["dump", "--outptu", "x", "y"], "'--output'"), (["run", "-verbose", "--", "true"], "'--verbose'"),
                        (["ccheck", "x"], "'check'"), (["--versoin"], "'--version'"), (["hepl"], "'help'")):
        expect(words, 64, f"did you mean {said}?")
    expect(["cc", "--verbos", "x.cu"], 64, "did you mean --verbose?")
    expect(["doctor", "--hlep"], 64, "did you mean '--help'?")
    expect(["doctor", "--quiet"], 64, "--quiet is no option of this verb; it belongs to run")
    expect(["check", "--trace", "x", "y"], 64, "--trace is no option of this verb; it belongs to run")
    expect(["run", "--s", "--", "true"], 64, "fits several: --", "--schedule", "--suppressions")


def dump_tells_lines():
    done = expect(["dump", LISTING], 0)
    rows = [row for row in done.stdout.splitlines() if row.startswith(("op ", "alloc ", "stream_create "))]
    check(len(rows) > 5 and all(re.search(r"  # handover\.cu:\d+( in main|: .+)?$", row) for row in rows), done.stdout)
    done = execute([TOOL, "dump", "-"], text=LISTING.read_text(encoding="utf-8") + "#\n")
    check(done.returncode == 0 and "# handover.cu:35" in done.stdout, done.stdout + done.stderr)


def numbers_are_those_of_ids():
    other = entries("nameless.txt", NAMELESS)
    path = WORK / "numbers.json"
    expect(["check", "--format", "json", "--output", path, other, other], 66)
    report = json.loads(path.read_text(encoding="utf-8"))
    for table in ("streams", "events", "buffers"):
        for row in report[table]:
            check("#" not in row["name"] or row["name"].endswith(f"#{row['id'][1:]}"), f"{row}")
    check([s["name"] for s in report["streams"]] == ["stream #1", "stream #2", "stream #3", "stream #4"], report["streams"])
    text = expect(["check", other, other], 66).stderr
    check("streams    'stream #1' (s1) is created at a.cu:26, 'stream #2' (s2) is created at a.cu:27" in text, text)
    check("'stream #4' (s4)" in text, text)


def events_have_no_bytes():
    """A finding about an event names no accesses of it."""
    done = execute([TOOL, "check", "--threads", "strict", ROOT / "tests/litmus/L09a-record-and-wait-in-two-threads.litmus"])
    check(done.returncode == 66 and "record 'event #1'" in done.stderr and " reads " not in done.stderr and "?" not in done.stderr, done.stderr)


def verbs_with_options():
    """What the tool itself says: verb -> {option: its argument, or None}."""
    verbs = re.findall(r"^  ([a-z]+) +\S", expect(["--help"], 0).stdout, re.M)
    check(len(verbs) >= 5 and "run" in verbs, verbs)
    return {verb: dict(re.findall(r"^ +(?:-., +)?--([a-z-]+)(?:=(\S+))?", expect([verb, "--help"], 0).stdout, re.M)) if verb != "cc" else {} for verb in verbs}


def manual_tells_all():
    page = PAGE.read_text(encoding="utf-8").replace("\\-", "-")
    told = verbs_with_options()
    for verb, options in told.items():
        check(f"\\fB{verb}\\fR" in page, f"no verb {verb} in the manual")
        for option in options.keys() - {"help"}:
            check(f"\\fB--{option}\\fR" in page, f"no --{option} of {verb} in the manual")
    for row in (ROOT / "docs/env.md").read_text(encoding="utf-8").splitlines():
        name = re.match(r"\| `(\w+)`", row)
        check(not name or "Not for users" in row or re.search(rf"^\.BR? {name[1]}\b", page, re.M), f"no {name and name[1]} in the manual")
    for code in re.findall(r"\b(6[4-9]|70|12[67])\b", (ROOT / "docs/report.md").read_text(encoding="utf-8").split("## Exit codes")[1].split("##")[0]):
        check(re.search(rf"^\.BR? .*\b{code}\b", page, re.M), f"no exit code {code} in the manual")


def manual_is_well_formed():
    if not shutil.which("man") or not shutil.which("groff"):
        raise Skip("no man or no groff")
    done = execute(["man", "-l", "--warnings", "-E", "UTF-8", PAGE], env={"MANWIDTH": "100", "MANROFFSEQ": "", "LC_ALL": "C.UTF-8"})
    check(done.returncode == 0 and not done.stderr, done.stderr)
    check("VERBS" in done.stdout and "streamsan run --schedule lazy -- ./app" in done.stdout, done.stdout)


def completed(line, folder=None, breaks=" =:"):
    """What bash would put behind the last break of the line."""
    text = (f"source {shlex.quote(str(COMPLETION))}; COMP_LINE={shlex.quote(line)}; COMP_POINT={len(line)}; COMP_WORDBREAKS='{breaks}'\n"
            "_streamsan; printf '%s\\n' \"${COMPREPLY[@]}\"\n")
    done = execute(["bash", "--norc", "-u", "-c", text], cwd=folder or WORK)
    check(done.returncode == 0 and not done.stderr, f"{line}: exit {done.returncode}\n{done.stderr}")
    return set(done.stdout.split("\n")) - {""}


def completion():
    told = verbs_with_options()
    done = execute(["bash", "--norc", "-c", f"source '{COMPLETION}'; complete -p streamsan"])
    check(done.stdout.strip() == "complete -F _streamsan streamsan", done.stdout + done.stderr)
    check(completed("streamsan ") == {*told, "help", "--help", "--version"}, completed("streamsan "))
    check(completed("streamsan che") == {"check"} and completed("streamsan help du") == {"dump"}, "verbs")
    for verb, options in told.items():
        if verb != "cc":
            seen = completed(f"streamsan {verb} --")
            check(seen == {f"--{o}" for o in {*options, "help"}}, f"{verb}: {seen}")
        for option, argument in options.items():
            words = [re.match("[^A-Z]*", w)[0] for w in (argument or "").split("|")]
            wanted = {known for known, w in zip(words, (argument or "").split("|")) if known and (known == w or known.endswith(":"))}
            if wanted:
                check(completed(f"streamsan {verb} --{option} ") == wanted, f"{verb} --{option}: {completed(f'streamsan {verb} --{option} ')}")
                check(completed(f"streamsan {verb} --{option}=") == wanted, f"{verb} --{option}=")
    check(completed("streamsan run --schedule=file:/et", breaks=" ") == {"--schedule=file:/etc"}, "words that are not broken")
    check(completed("streamsan run --schedule=ra") == {"random:"} and completed("streamsan run --order doc") == {"documented"}, "values")
    check({"-o", "-ptx"} <= completed("streamsan cc -"), "options of cc")


def completion_of_files():
    folder = WORK / "files"
    folder.mkdir(exist_ok=True)
    for name in ("app", "app.ssan", "plan.txt"):
        (folder / name).write_text("", encoding="utf-8")
    for line, wanted in (("streamsan check ", {"app", "app.ssan", "plan.txt"}), ("streamsan check a.ssan --output ap", {"app", "app.ssan"}),
                         ("streamsan run --trace=pl", {"plan.txt"}), ("streamsan run --schedule file:pl", {"plan.txt"}),
                         ("streamsan run --schedule=file:pl", {"plan.txt"}), ("streamsan dump -- ap", {"app", "app.ssan"}),
                         ("streamsan run --schedule lazy -- ./ap", {"./app", "./app.ssan"}), ("streamsan run ./app pl", {"plan.txt"}),
                         ("streamsan run -- ./app --out", set()), ("streamsan doctor ", set()), ("streamsan run --error-exitcode ", set())):
        check(completed(line, folder) == wanted, f"{line!r}: {completed(line, folder)}")
    check("true" in completed("streamsan run tru", folder) and "true" in completed("streamsan run -q -- tru", folder), "programs")


def installed():
    prefix = WORK / "prefix"
    if not (BUILD / "CMakeCache.txt").exists():
        raise Skip("the tool does not stand in its build folder")
    done = execute(["cmake", "--install", BUILD, "--prefix", prefix])
    check(done.returncode == 0, done.stdout + done.stderr)
    for path, source in ((prefix / "share/man/man1/streamsan.1", PAGE), (prefix / "share/bash-completion/completions/streamsan", COMPLETION)):
        check(path.read_bytes() == source.read_bytes(), f"{path} differs")
    done = execute([prefix / "bin/streamsan", "check", "--quiet", LISTING])
    check(done.returncode == 66 and os.access(prefix / "share/doc/streamsan/docs/suppressions.md", os.R_OK), done.stderr)


def main():
    tally = Tally("usability")
    for function in (short_form, printed_entries_make_it_clean, verbs_of_trials, the_folded_one_stays, several_files_and_unused_entries,
                     counts_so_far_know_none, wrong_files, words_that_are_near, dump_tells_lines, numbers_are_those_of_ids, events_have_no_bytes,
                     manual_tells_all, manual_is_well_formed, completion, completion_of_files, installed):
        tally.case(function.__name__.replace("_", " "), function)
    return tally.finish(harness.only_argument())


if __name__ == "__main__":
    sys.exit(main())
