#!/usr/bin/python3
"""`streamsan contract`: the shipped contracts, what breaks one, and what is told. What is kept: run_evidence.py."""
import copy
import json
import pathlib
import random
import re
import shutil
import signal
import sys
import time

import jsonschema

import precompiled
from contracts import WORK, carry_out, contract, fault
from harness import ROOT, TOOL, Skip, Tally, check, execute, only_argument, started, wants_all


def refused(path, *texts, code=65):
    done = execute([TOOL, "contract", path])
    check(done.returncode == code and not done.stdout, f"exit {done.returncode}: {done.stdout}{done.stderr}")
    for text in texts:
        check(text in done.stderr, f"no '{text}' in: {done.stderr}")


def shipped(example):
    result, _ = carry_out(ROOT / f"examples/{example}/contract.yaml", env=precompiled.environment(TOOL, "-g", "-O2"))
    check(result["state"] == "holds" and result["summary"]["faults_caught"] == len(result["faults"]) >= 5, str(result["summary"]))
    if example != "dflash":
        sizes = {run["parameters"]["size"] for run in result["runs"] if run["fault"] is None}
        check(sizes == {"1", "257", "4096", "4097"}, str(sizes))


def same_reason_once():
    """A build that fails is told once, with the line that says why, however many runs it is for."""
    folder = pathlib.Path(WORK.name) / "unbuilt"
    folder.mkdir()
    (folder / "a.cu").write_text("int other(void);\nint main() { return other(); }\n", encoding="utf-8")
    (folder / "contract.yaml").write_text("version: 1\nname: unbuilt\nbuild:\n  sources: [a.cu]\nmatrix:\n  repeats: 5\n", encoding="utf-8")
    done = execute([TOOL, "contract", folder / "contract.yaml"])
    check(done.returncode == 67 and done.stdout.count("undefined reference") == 1 and "4 more for the same reason" in done.stdout, done.stdout)


def told_where_it_helps():
    """A header that is not among the files; values that nothing uses; macros in the middle of a command."""
    folder = pathlib.Path(WORK.name) / "told"
    folder.mkdir()
    (folder / "a.cu").write_text('#include "a.h"\nint main() { return A; }\n', encoding="utf-8")
    (folder / "a.h").write_text("#define A 0\n", encoding="utf-8")
    (folder / "contract.yaml").write_text("name: told\nbuild:\n  sources: [a.cu]\nmatrix:\n  slots: [1, 2]\n", encoding="utf-8")
    done = execute([TOOL, "contract", folder / "contract.yaml"])
    check("add a.h to build.files" in done.stdout and f"{folder}/contract.yaml:5: 'matrix.slots': no text holds {{slots}}" in done.stderr, str(done))
    spec = contract("macros", build={"command": ["cc", "{macros}", "-o", "{program}", "prog.sh"], "files": ["prog.sh"], "macros": ["A=1"]},
                    faults=[fault("f", {"exit_code": [1]}, macros=["B"])])
    lines = execute([TOOL, "contract", "--dry-run", spec]).stdout.splitlines()
    check("cc -DA=1 -o ../builds/01/program prog.sh" in lines[0] and "cc -DA=1 -DB -o ../builds/02/program prog.sh" in lines[1], str(lines[:2]))


def libraries_come_last():
    folder = pathlib.Path(WORK.name) / "library"
    folder.mkdir()
    (folder / "a.cu").write_text('#include <streamsan/pipeline.h>\nint main() { return ssan_pipe_status_name(SSAN_PIPE_OK)[0] != \'S\'; }\n', encoding="utf-8")
    (folder / "contract.yaml").write_text("version: 1\nname: library\nbuild:\n  sources: [a.cu]\n  options: [-lstreamsan-pipeline]\n"
                                          "expect:\n  verdict: any\n", encoding="utf-8")
    done = execute([TOOL, "contract", folder / "contract.yaml"])
    check("the build failed" not in done.stdout and "undefined" not in done.stdout, done.stdout)


def template():
    """What --template prints holds for the program that it speaks of."""
    folder = pathlib.Path(WORK.name) / "template"
    folder.mkdir()
    shutil.copy(ROOT / "examples/handover/handover.cu", folder)
    done = execute([TOOL, "contract", "--template"])
    (folder / "contract.yaml").write_text(done.stdout.replace("[1, 257, 4096, 4097]", "[257]"), encoding="utf-8")
    result, _ = carry_out(folder / "contract.yaml", env=precompiled.environment(TOOL, "-g", "-O2"))
    check(result["state"] == "holds" and result["summary"]["faults_caught"] == 3, str(result))


def holds_and_breaks():
    result, _ = carry_out(contract("right"))
    check(result["state"] == "holds" and result["summary"]["right"] == 2, str(result))
    result, done = carry_out(contract("wrong-value", run={"arguments": ["{size}"], "environment": ["value=3"]}), code=66)
    check(result["state"] == "broken" and all("mismatches=3, and 0 is right" in run["why"] for run in result["runs"]), str(result))
    result, done = carry_out(contract("wrong-code", run={"arguments": ["{size}"], "environment": ["status=7"]}), code=66)
    check(all(run["exit_code"] == 7 and "exit code 7, and 0 is right" in run["why"] for run in result["runs"]), str(result))
    carry_out(contract("right-code", run={"arguments": ["{size}"], "environment": ["status=7"]}, expect={"verdict": "any", "exit_code": 7}))
    result, _ = carry_out(contract("pattern", expect={"verdict": "any", "stdout": ["^size={size} ", "mismatches=[0-9]{{1,2} ok$"]}))
    result, _ = carry_out(contract("no-pattern", expect={"verdict": "any", "stdout": ["^size=3"]}), code=66)
    result, _ = carry_out(contract("no-key", expect={"verdict": "any", "values": [{"key": "match", "equals": 0}]}), code=66)
    check("holds no match=" in result["runs"][0]["why"], str(result["runs"][0]))
    # No CUDA operation: the program is right, and yet nothing was seen of it.
    result, _ = carry_out(contract("not-seen", expect={}), code=67)
    check(result["state"] == "unfinished" and "no CUDA operation" in result["runs"][0]["why"], str(result["runs"][0]))


def values():
    for name, printed, rule, good in (("near", "1.0001", {"equals": "1", "rel": 1e-3}, True), ("far", "1.01", {"equals": "1", "rel": 1e-3}, False),
                                      ("abs", "0.5", {"equals": "0", "abs": 0.5}, True), ("form", "1.0", {"equals": "1"}, True),
                                      ("word", "done", {"equals": "done"}, True), ("word2", "done,", {"equals": "done"}, True),
                                      ("min", "3", {"min": "3"}, True), ("min2", "2.9", {"min": "3"}, False), ("max", "nan", {"max": "3"}, False),
                                      ("both", "2", {"min": "1", "max": "3"}, True)):
        path = contract(f"value-{name}", matrix={}, run={"arguments": ["x"], "environment": [f"value={printed}"]},
                        expect={"verdict": "any", "values": [{"key": "mismatches", **rule}]})
        carry_out(path, code=0 if good else 66)


def odd_outputs():
    """Bytes 0 hide nothing, whole numbers are not rounded, no escape reaches the terminal, and nobody waits for a pipe."""
    def one(name, lines, code, *texts, **expect):
        path = contract(f"odd-{name}", matrix={}, run={"arguments": ["x"], "timeout": 20}, expect={"verdict": "any", **expect})
        (path.parent / "prog.sh").write_text(f"#!/bin/sh\n{lines}\n", encoding="utf-8")
        for expected in ("right.bin", "golden.bin"):
            (path.parent / expected).write_bytes(b"a")
        result, done = carry_out(path, code=code)
        check(all(text in result["runs"][0]["why"] for text in texts), str(result["runs"][0]))
        return path

    value = {"values": [{"key": "n", "equals": "1"}]}
    one("hidden", "printf 'n=1\\n\\000n=99\\n'", 66, "n=99, and 1 is right", **value)
    one("padded", "printf '\\000\\000n=1\\000\\000'", 0, **value)
    one("line", "printf 'a\\000b\\nlast\\n'", 0, stdout=["^a b$", "^last$"])
    one("sum", "echo sum=18446744073709551614", 66, values=[{"key": "sum", "equals": "18446744073709551615"}])
    one("most", "echo sum=9007199254740993", 66, values=[{"key": "sum", "max": "9007199254740992"}])
    one("said", "printf 'a\\000b' >&2; yes | head -c 2000000 >&2", 67, "no CUDA operation", verdict="clean")
    for name, make in (("pipe", "mkfifo out.bin"), ("folder", "mkdir out.bin"), ("device", "ln -s /dev/zero out.bin")):
        one(name, make, 66, "out.bin is no plain file", files=[{"output": "out.bin", "expected": "right.bin", "type": "u8"}])
    # A program that writes what it is compared with.
    right, golden = "../../sources/right.bin", "../../sources/golden.bin"
    one("golden", f"printf b >b.bin; until [ {golden} -nt ../../contract.yaml ]; do cp b.bin {golden}; done; cp {right} a.bin", 67, "golden.bin is not as it was copied",
        files=[{"output": "b.bin", "expected": "golden.bin", "type": "u8"}, {"output": "a.bin", "expected": "right.bin", "type": "u8"}])
    table = execute([TOOL, "contract", one("escape", "printf 'n=\\033[2J\\n'", 66, **value)])
    check("n=?[2J, and 1 is right" in table.stdout and "\033" not in table.stdout, repr(table.stdout))


def files():
    def path(name, written, **rule):
        file = contract(f"file-{name}", matrix={}, run={"arguments": ["x"], "environment": [f"write={written}"]},
                        expect={"verdict": "any", "files": [{"output": "out.bin", "expected": "right.bin", "type": "uint16", **rule}]})
        (file.parent / "right.bin").write_bytes(b"\x01\x00\x02\x00")
        return file

    carry_out(path("same", r"\001\000\002\000"))
    result, _ = carry_out(path("other", r"\001\000\003\000"), code=66)
    check("1 of 2 elements differ" in result["runs"][0]["why"], str(result["runs"][0]))
    carry_out(path("near", r"\001\000\003\000", abs=1))
    result, _ = carry_out(path("shorter", r"\001\000"), code=66)
    check("2 elements" in result["runs"][0]["why"] and "1 elements" in result["runs"][0]["why"], str(result["runs"][0]))
    result, _ = carry_out(path("none", ""), code=66)
    missing = path("lost", r"\001\000\002\000")
    (missing.parent / "right.bin").unlink()
    refused(missing, "contract.yaml:", "expect.files[0]", "right.bin")


def faults():
    # A fault is planted by the size here: the script prints it.
    faulty = contract("caught", matrix={"sizes": ["0"]}, expect={"verdict": "any", "values": [{"key": "size", "equals": "0"}]},
                      faults=[fault("other-size", {"values": ["size"]}, sizes=["5", "6"])])
    result, _ = carry_out(faulty)
    check(result["faults"][0]["caught"] == 2 and "size=5, and 0 is right" in result["faults"][0]["why"], str(result["faults"]))
    for name, caught, sizes, code in (("missed", {"values": ["size"]}, ["0"], 66), ("one-missed", {"values": ["size"]}, ["5", "0"], 66),
                                      ("some", {"values": ["size"], "where": "some"}, ["5", "0"], 0), ("none", {"values": ["size"], "where": "some"}, ["0", "0"], 66),
                                      ("both", {"values": ["size"], "exit_code": [1]}, ["5"], 66), ("code", {"exit_code": [2, 0]}, ["5"], 66),
                                      ("found", {"finding": ["SSAN-RAW"]}, ["5"], 66), ("said", {"stdout": ["^size=5"]}, ["5"], 0)):
        file = contract(f"fault-{name}", matrix={"sizes": ["0"]}, expect={"verdict": "any", "values": [{"key": "size", "equals": "0"}]},
                        faults=[fault("planted", caught, sizes=sizes)])
        result, _ = carry_out(file, code=code)
        check(result["faults"][0]["state"] == ("missed" if code else "caught"), f"{name}: {result['faults']}")
        text = execute([TOOL, "contract", file])
        check(("NOT CAUGHT" in text.stdout) == (code == 66) and text.returncode == code, text.stdout)
    none = contract("no-fault", matrix={})
    none.write_text(none.read_text(encoding="utf-8").replace("{size}", "1"), encoding="utf-8")
    check("no fault is planted" in execute([TOOL, "contract", "-q", none]).stdout, "a contract without a fault says so")


def caught_by_what_is_shown():
    """What a run without the fault has too, a crash, and a value that is not printed show nothing of a fault."""
    bad = 'case $1 in crash) kill -SEGV $$;; silent) exit 0;; wrong) value=3; status=7;; hang) sleep 30;; esac\n'

    def one(name, caught, size, code, text, where="why", **parts):
        file = contract(f"shown-{name}", matrix={"sizes": ["0"]}, **{"expect": {"verdict": "any", "values": [{"key": "mismatches", "equals": "0"}],
                        "files": [{"output": "out.bin", "expected": "right.bin", "type": "u8"}]}, "run": {"arguments": ["{size}"], "environment": ["write=a"]}, **parts},
                        faults=[fault("planted", caught, sizes=[size])])
        script = file.parent / "prog.sh"
        script.write_text(script.read_text(encoding="utf-8").replace("\n", "\n" + bad, 1), encoding="utf-8")
        (file.parent / "right.bin").write_bytes(b"a")
        result, _ = carry_out(file, code=code)
        check(text in result["faults"][0][where], f"{name}: {result['faults']}")
        return file

    one("same-code", {"exit_code": [0]}, "wrong2", 66, "a run without the fault has that too")
    one("same-line", {"stdout": ["ok$"]}, "wrong", 66, "a run without the fault has that too")
    one("other-line", {"stdout": ["mismatches=3 ok$"]}, "wrong", 0, "its output")
    one("value", {"values": ["mismatches"]}, "wrong", 0, "mismatches=3")
    one("silent", {"values": ["mismatches"]}, "silent", 66, "not printed")
    one("no-file", {"files": ["out.bin"]}, "silent", 66, "not written")
    one("crash", {"values": ["mismatches"]}, "crash", 66, "crashed (exit code 139)")
    one("crash-line", {"stdout": [".*"]}, "crash", 66, "crashed")
    one("crash-code", {"exit_code": [139]}, "crash", 0, "exit code 139")
    hang = {"arguments": ["{size}"], "environment": ["write=a"], "timeout": 1}
    one("hang", {"timeout": True}, "hang", 0, "did not end within 1 s", run=hang)
    file = one("no-hang", {"timeout": True}, "wrong", 66, "it ended in time", run=hang)
    text = execute([TOOL, "contract", file]).stdout
    check("printed: size=wrong mismatches=3 ok" in text and "runs/0" not in text and "--evidence FOLDER" in text, text)


def parts_that_do_not_run():
    slow = {"arguments": ["{size}"], "environment": ["delay=30"], "timeout": 1}
    result, _ = carry_out(contract("slow", run=slow), code=67)
    check(all("did not end within 1 s" in run["why"] for run in result["runs"]), str(result))
    result, _ = carry_out(contract("no-build", build={"command": ["false"]}), code=67)
    check(all("build failed" in run["why"] for run in result["runs"]), str(result))
    result, _ = carry_out(contract("no-tool", build={"command": ["no-such-tool-anywhere"]}), code=67)
    check("can't be started" in result["builds"][0]["why"], str(result["builds"]))
    result, _ = carry_out(contract("no-program", build={"command": ["true"]}), code=67)
    check("127" in result["runs"][0]["why"], str(result["runs"][0]))
    result, _ = carry_out(contract("bad-option", run={"arguments": ["{size}"], "options": ["--no-such-option"]}), code=67)
    check("--no-such-option" in result["runs"][0]["why"], str(result["runs"][0]))
    # One that can't run beside one that is wrong: what is known to be wrong counts more.
    mixed = contract("mixed", matrix={"sizes": ["0"]}, expect={"verdict": "any", "values": [{"key": "size", "equals": "1"}]},
                     faults=[fault("none", {"exit_code": [9]}, options=["--no-such-option"])])
    result, _ = carry_out(mixed, code=66)
    check(result["faults"][0]["state"] == "not-run", str(result["faults"]))


def environment_is_its_own():
    result, _ = carry_out(contract("environment"), env={"STREAMSAN_OPTIONS": "--no-such-option", "STREAMSAN_SCHEDULE": "nonsense"})
    check(result["state"] == "holds", str(result))


def planned(path):
    done = execute([TOOL, "contract", "--dry-run", path])
    check(done.returncode == 0, str(done))
    return [line for line in done.stdout.splitlines() if line.startswith("runs/")]


def matrices():
    axes = {"sizes": [str(n) for n in range(5)], "slots": ["1", "2", "3"], "schedules": ["eager", "lazy"],
            "parameters": [{"name": "mode", "values": ["a", "b", "c", "d"]}]}
    full = planned(contract("full", matrix=axes))
    check(len(full) == 120 and len(set(full)) == 120, f"{len(full)} runs")
    few = planned(contract("pairwise", matrix={**axes, "mode": "pairwise"}))
    check(20 <= len(few) <= 30, f"{len(few)} runs for 20 pairs of the two longest axes")
    rows = [dict(word.split("=") for word in line.split(": ")[1].split()) for line in few]
    names = {"size": axes["sizes"], "slots": axes["slots"], "schedule": axes["schedules"], "mode": axes["parameters"][0]["values"]}
    for one in names:
        for other in names:
            if one < other:
                missing = [(a, b) for a in names[one] for b in names[other] if not any(row[one] == a and row[other] == b for row in rows)]
                check(not missing, f"{one} and {other}: {missing}")
    check(len(planned(contract("repeats", matrix={"sizes": ["1"], "repeats": 7}))) == 7, "repeats")
    refused(contract("too-many", matrix={"sizes": [str(n) for n in range(1000)], "slots": [str(n) for n in range(1000)]}), "'matrix'", "pairwise")


def wrong_specs():
    good = json.loads(contract("spec").read_text(encoding="utf-8"))

    def wrong(name, change, *texts):
        spec = copy.deepcopy(good)
        change(spec)
        path = contract(f"spec-{name}")
        path.write_text(json.dumps(spec, indent=1), encoding="utf-8")
        refused(path, f"{path}:", *texts)

    wrong("key", lambda s: s.update(bild=1), "'bild'", "did you mean 'build'?")
    wrong("inner", lambda s: s["matrix"].update(size=["1"]), "'matrix.size'", "did you mean 'sizes'?")
    wrong("missing", lambda s: s.pop("name"), "'name' is missing")
    wrong("kind", lambda s: s.update(matrix=["1"]), "'matrix'")
    wrong("mode", lambda s: s["matrix"].update(mode="half"), "'matrix.mode'", "half")
    wrong("placeholder", lambda s: s["run"].update(arguments=["{sizes}"]), "'run.arguments[0]'", "{sizes}")
    wrong("device", lambda s: s["matrix"].update(devices=["cpu"]), "'matrix.devices[0]'", "cpu")
    wrong("schedule", lambda s: s["matrix"].update(schedules=["eagre"]), "'matrix.schedules[0]'", "eagre")
    wrong("pattern", lambda s: s["expect"].update(stdout=["(("]), "'expect.stdout[0]'", "regular expression")
    wrong("check", lambda s: s.update(faults=[fault("f", {"finding": ["SSAN-RAWW"]}, macros=["A"])]), "'faults[0].caught.finding[0]'", "SSAN-RAW'?")
    wrong("caught", lambda s: s.update(faults=[fault("f", {}, macros=["A"])]), "'faults[0].caught'", "by what")
    wrong("planted", lambda s: s.update(faults=[fault("f", {"exit_code": [1]})]), "'faults[0]'", "plants nothing")
    wrong("twice", lambda s: s.update(faults=[fault("f", {"exit_code": [1]}, macros=["A"])] * 2), "'faults[1]'", "taken")
    wrong("outside", lambda s: s["build"].update(files=["../x"]), "'build.files[0]'", "..")
    wrong("absent", lambda s: s["build"].update(files=["absent.h"]), "'build.files[0]'", "absent.h")
    wrong("place", lambda s: s.update(faults=[fault("f", {"exit_code": [1]}, ignore=["prog.sh:/nowhere/"])]), "'faults[0].ignore[0]'", "0 lines")
    wrong("version", lambda s: s.update(version=2), "'version'")
    wrong("fail", lambda s: s.update(faults=[fault("f", {"exit_code": [1]}, fail=["cudaMaloc=cudaErrorMemoryAllocation"])]), "'faults[0].fail[0]'", "cudaMalloc?")
    # What is missing is told before anything is built, and without a run too.
    for name, change, key in (("source", lambda s: s.update(build={"sources": ["gone.cu"]}), "'build.sources[0]': gone.cu"),
                              ("ignored", lambda s: s.update(faults=[fault("f", {"exit_code": [1]}, ignore=["gone.cu:/x/"])]), "'faults[0].ignore[0]'"),
                              ("expected", lambda s: s["expect"].update(files=[{"output": "o", "expected": "gone.bin"}]), "'expect.files[0]': gone.bin"),
                              ("folder", lambda s: s["build"].update(files=["sub"]), "'build.files[0]': sub")):
        spec = copy.deepcopy(good)
        change(spec)
        path = contract(f"gone-{name}")
        path.write_text(json.dumps(spec, indent=1), encoding="utf-8")
        (path.parent / "sub").mkdir()
        done = execute([TOOL, "contract", "--dry-run", path])
        check(done.returncode == 65 and key in done.stderr and f"{path}:" in done.stderr and not done.stdout, str(done))
    path = contract("line")
    path.write_text("name: line\nbuild:\n  command: ['true']\nmatrix:\n  sizes: [1]\n  modus: full\n", encoding="utf-8")
    refused(path, f"{path}:6: 'matrix.modus': there is no key 'modus'")
    path.write_text("name: [\n", encoding="utf-8")
    refused(path, f"{path}:")
    path.write_text("", encoding="utf-8")
    refused(path, "no contract", "--template")
    refused(path.parent / "absent.yaml", "absent.yaml", "No such file")


def schema_agrees():
    """The schema for editors refuses and takes what the tool does, over changes of a contract that has every key."""
    done = execute([TOOL, "contract", "--print-schema"])
    validator = jsonschema.Draft202012Validator(json.loads(done.stdout))
    base = json.loads(contract("schema").read_text(encoding="utf-8"))
    base.update(version=1, about="x", faults=[fault("f", {"values": ["mismatches"], "exit_code": [1], "finding": ["SSAN-RAW"], "stdout": ["x"], "where": "some"},
                                                    macros=["A"], ignore=["prog.sh:3"], fail=["cudaMalloc=cudaErrorUnknown"], options=["-q"], about="y")])
    base["matrix"] = {"sizes": ["1"], "slots": ["1"], "devices": ["virtual"], "schedules": ["eager"], "mode": "full", "repeats": 2,
                      "parameters": [{"name": "p", "values": ["1"]}]}
    base["run"].update(environment=["A=b"], options=["-q"], timeout=9)
    base["build"]["macros"] = ["B=1"]
    base["expect"].update(exit_code=0, stdout=["x"], files=[{"output": "out.bin", "expected": "prog.sh", "type": "u8", "abs": 1, "rel": 0.5, "ulp": 1, "nan": "bits", "inf": "never", "zero": "distinct"}])
    rng = random.Random(7)

    def places(node, path=()):
        yield path
        for key, value in (node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()):
            yield from places(value, (*path, key))

    def at(spec, path):
        for step in path:
            spec = spec[step]
        return spec

    path = contract("schema-change")
    every = [p for p in places(base) if p]
    cases = [(p, v) for p in every for v in ({"x": 1}, ["x"], "", "remove", "key")]
    seen = {True: 0, False: 0}
    for place, value in [((), None), *rng.sample(cases, len(cases) if wants_all() else 60)]:
        spec = copy.deepcopy(base)
        if place:
            outer = at(spec, place[:-1])
            if value == "remove":
                del outer[place[-1]]
            elif value == "key":
                if isinstance(outer, dict):
                    outer["strange"] = 1
            else:
                outer[place[-1]] = value
        path.write_text(json.dumps(spec), encoding="utf-8")
        done = execute([TOOL, "contract", "--dry-run", path])
        taken = validator.is_valid(spec)
        # The tool knows more than a schema says: it may refuse what the schema takes, never the other way round.
        check(done.returncode in (0, 65), f"{place} {value}: {done}")
        check(taken or done.returncode == 65, f"{place} = {value!r}: the schema refuses it, the tool does not")
        seen[taken] += 1
    check(min(seen.values()) > 5, str(seen))
    path.write_text(json.dumps(base), encoding="utf-8")
    check(execute([TOOL, "contract", "--dry-run", path]).returncode == 0 and validator.is_valid(base), "the contract with every key")


def ends_early():
    """A signal ends the programs too, nothing stays behind, and the result is told as far as it goes."""
    path = contract("interrupted", run={"arguments": ["{size}"], "environment": ["delay=60"]},
                    faults=[fault(name, {"exit_code": [1]}, macros=["A"]) for name in ("one", "two")])
    temp = pathlib.Path(WORK.name) / "interrupted-tmp"
    temp.mkdir()
    with started([TOOL, "contract", "--jobs", "1", path], env={"TMPDIR": str(temp)}) as child:
        while not list(temp.glob("streamsan-contract-*/runs/0001/stdout")):
            check(child.poll() is None, "it ended by itself")
            time.sleep(0.01)
        child.send_signal(signal.SIGTERM)
        out, err = child.communicate(timeout=60)
    check(child.returncode == -signal.SIGTERM, f"exit {child.returncode}: {out}{err}")
    check("unfinished" in out and "ended by signal 15" in out and "2 of 2 faults not run" in out and "fault one" not in out, out)
    check(not list(temp.glob("streamsan-contract-*")), "a folder stays behind")


def jobs():
    path = contract("jobs", matrix={"sizes": [str(n) for n in range(12)]})
    for number in ("1", "3", "64"):
        result, _ = carry_out(path, "--jobs", number)
        check(result["summary"]["right"] == 12, str(result["summary"]))


def other_device():
    result, _ = carry_out(contract("device"), "--device", "virtual:3")
    check(all("virtual:3" in run["command"] for run in result["runs"]), str(result["runs"]))
    source = contract("gpu", build={"sources": ["prog.sh"], "macros": ["A={size}"]}, matrix={"sizes": ["1", "2"], "schedules": ["eager", "lazy"]})
    nvcc = pathlib.Path(WORK.name) / "toolkit/bin/nvcc"
    nvcc.parent.mkdir(parents=True)
    nvcc.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    nvcc.chmod(0o755)
    done = execute([TOOL, "contract", "--dry-run", "--device", "gpu", source], env={"CUDA_HOME": str(nvcc.parents[1])})
    builds = [line for line in done.stdout.splitlines() if line.startswith("builds/")]
    runs = [line for line in done.stdout.splitlines() if line.startswith("runs/")]
    check(len(builds) == 2 and all(f"{nvcc} -lineinfo -I" in line and "-DA=" in line for line in builds), done.stdout)
    check(len(runs) == 2 and all("--device gpu" in line and "--schedule" not in line for line in runs), done.stdout)
    faults_stay_virtual({"CUDA_HOME": str(nvcc.parents[1])})
    if not shutil.which("nvidia-smi"):
        nothing_runs(source)


def misspelt_macro():
    """A fault whose macro stands in no file of the build can't be caught, and the table says so."""
    spec = contract("mention", build={"sources": ["p.cu"], "files": ["p.h"]}, run={}, matrix={}, expect={"verdict": "any"},
                    faults=[fault("typo", {"exit_code": [3]}, macros=["BRAEK=3", "BREAK_IT=4"]), fault("missed", {"exit_code": [3]}, macros=["BREAK_IT=4"]),
                            fault("caught", {"exit_code": [3]}, macros=["BREAK_IT=3"])])
    (spec.parent / "p.cu").write_text('#include "p.h"\nint main() { return broken(); }\n', encoding="utf-8")
    (spec.parent / "p.h").write_text("#ifndef BREAK_IT\n#define BREAK_IT 0\n#endif\nstatic int broken() { return BREAK_IT == 3 ? 3 : 0; }\n", encoding="utf-8")
    result, _ = carry_out(spec, code=66)
    whys = {one["name"]: one["why"] for one in result["faults"]}
    check("no file of the build mentions 'BRAEK=3'" in whys["typo"], str(whys))
    check("mentions" not in whys["missed"] and result["faults"][2]["state"] == "caught", str(result["faults"]))


def faults_stay_virtual(env):
    """What a GPU can't be made to show is planted on a virtual device, and a fault's own devices stay."""
    caught = {"exit_code": ["1"]}
    source = contract("planted", matrix={"sizes": ["1"]}, run={"options": ["--threads", "strict", "--threads=strict", "--order", "documented"]}, faults=[
        {"name": "fails", "fail": ["cudaMalloc=cudaErrorMemoryAllocation"], "caught": caught},
        {"name": "late", "schedules": ["lazy"], "caught": caught},
        {"name": "own", "macros": ["Y"], "devices": ["virtual:2"], "caught": caught},
        {"name": "macro", "macros": ["X"], "caught": caught}])
    done = execute([TOOL, "contract", "--dry-run", "--device", "gpu", source], env=env)
    devices = [re.search(r"--device (\S+)", line)[1] for line in done.stdout.splitlines() if line.startswith("runs/")]
    check(devices == ["gpu", "virtual", "virtual", "virtual:2", "gpu"], done.stdout + done.stderr)
    for line in done.stdout.splitlines():
        check(not line.startswith("runs/") or (" --order documented" in line and ("--threads" in line) == ("--device gpu" not in line)), line)


def nothing_runs(source):
    result, _ = carry_out(source, "--device", "gpu", code=67)
    check(len(result["runs"]) == 2 and all(run["state"] == "not-run" for run in result["runs"]), str(result))
    text = execute([TOOL, "contract", "--device", "gpu", source]).stdout
    check("device gpu" in text and "schedule" not in text, text)


def nvcc_builds():
    """nvcc takes our headers beside its own, and our libraries. Without a GPU the runs are not run."""
    nvcc = pathlib.Path("/usr/local/cuda/bin/nvcc")
    if not nvcc.is_file():
        raise Skip("no nvcc")
    folder = pathlib.Path(WORK.name) / "nvcc"
    folder.mkdir()
    (folder / "a.cu").write_text('#include <streamsan/annotate.h>\n#include <streamsan/compare.h>\n#include <streamsan/pipeline.h>\n__global__ void k() {}\n'
                                 'int main() { k<<<1, 1>>>(); return !ssan_pipe_status_name(SSAN_PIPE_OK) + !ssan_compare_type_name(SSAN_COMPARE_INT8)\n'
                                 '    + (cudaDeviceSynchronize() != cudaSuccess); }\n', encoding="utf-8")
    (folder / "contract.yaml").write_text("name: nvcc\nbuild:\n  sources: [a.cu]\n  options: [-lstreamsan-pipeline, -lstreamsan-compare]\nmatrix:\n  schedules: [lazy]\n",
                                          encoding="utf-8")
    result, done = carry_out(folder / "contract.yaml", "--device", "gpu", code=None, env={"CUDA_HOME": str(nvcc.parents[1])})
    check(all(build["why"] is None and build["exit_code"] == 0 for build in result["builds"]), str(result["builds"]))
    if not shutil.which("nvidia-smi"):
        check(done.returncode == 67 and result["runs"][0]["state"] == "not-run", str(result["runs"]))


def main():
    tally = Tally("contract")
    for example in ("handover", "slots", *(("dflash",) if wants_all() else ())):
        tally.case(f"shipped {example}", shipped, example)
    for function in (template, same_reason_once, libraries_come_last, told_where_it_helps, holds_and_breaks, values, odd_outputs, files, faults, caught_by_what_is_shown, parts_that_do_not_run, environment_is_its_own,
                     matrices, wrong_specs, schema_agrees, ends_early, jobs, other_device, nvcc_builds, misspelt_macro):
        tally.case(function.__name__.replace("_", " "), function)
    return tally.finish(only_argument())


if __name__ == "__main__":
    sys.exit(main())
