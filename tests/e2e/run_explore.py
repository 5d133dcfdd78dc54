#!/usr/bin/python3
"""`streamsan explore`: all orders of small programs (run_explore.py [--all] [part of a name]).

The documents' program with and without its wait, the case programs, two submitting threads, queries, torn results, programs
that are not deterministic, replay of wrong results, exit codes. --all: the cases at three sizes, to the end or the limit, and
200 random schedules of each that is right.
"""
import os
import pathlib
import re
import shlex
import shutil
import sys

import harness
from harness import ROOT, SHARED, TOOL, Failure, Skip, Tally, build_once, check, execute, run, wants_all, work_folder

CASES = ROOT / "tests/cases"
PROGRAMS = ROOT / "tests/e2e/explore"
SEED = SHARED / "seeds/stream_contract.cu"
WAIT = "    check(cudaStreamWaitEvent(consumer, ready, 0));\n"
NOT_MODELLED = ("07_pool_cross_stream", "11_graph_missing_edge")
WORK = work_folder("explore")
FOLDER = pathlib.Path(WORK.name)
COUNTED = re.compile(r"^(\d+|about \S+) of (\d+|about \S+) (orders|runs) wrong( \((not all|(about )?\S+ in all)\))?(, \d+ of \d+ early runs wrong)?$", re.M)


def explore(program, *options, args=(), cwd=None):
    """Explores a program; its report must keep to the schema, and its numbers to each other."""
    result = run(program, *options, args=args, verb="explore", cwd=cwd, timeout=300)
    if result.report is None:
        return result
    facts, counted = result.report["explore"], COUNTED.search(result.err)
    check(counted, f"no line `W of T orders wrong`\n{result.about()}")
    check(counted[0] in result.verdict_line, f"the verdict does not hold {counted[0]}\n{result.about()}")
    if facts["random"] is None and facts["orders"]["total"] is not None:
        for key in ("wrong", "different_memory"):
            name_of = {"wrong": "wrong", "different_memory": "memory"}[key]
            total = sum(r["orders"] for r in facts["results"] if r["verdict"] == name_of)
            check(abs(total - facts["orders"][key]) <= total * 1e-9, f"orders {key}: {total}\n{facts}")
    if facts["random"] is None and not facts["orders"]["run_estimated"]:
        told = sum(r["orders"] for r in facts["results"] if r["orders"])
        check(told == facts["orders"]["run"], f"results of {told} orders, and {facts['orders']['run']} were run\n{facts}")
    if facts["all_run"] and not facts["orders"]["run_estimated"]:
        check(facts["orders"]["run"] == facts["orders"]["total"], f"all run, and yet\n{facts['orders']}")
    check(result.report["summary"]["exit_code"] == result.code, f"exit code\n{result.about()}")
    return result


def results(result, verdict="wrong"):
    return [r for r in result.report["explore"]["results"] if r["verdict"] == verdict]


def expect(result, code, wrong, total, line=None):
    orders = result.report["explore"]["orders"]
    check(result.code == code, f"expected exit {code}\n{result.about()}")
    check((orders["wrong"], orders["total"]) == (wrong, total), f"expected {wrong} of {total} orders wrong\n{result.about()}")
    check(line is None or line in result.err, f"expected {line!r}\n{result.about()}")


def seed(name, text):
    if not SEED.exists():
        if os.environ.get("CI") == "true":
            raise Failure("CI=true, but the documents' program is not there")
        raise Skip("the documents' program is not on this machine")
    source = SEED.read_text(encoding="utf-8")
    check(source.count(WAIT) == 1, "the documents' program no longer holds its wait once")
    path = FOLDER / f"{name}.cu"
    path.write_text(source if text else source.replace(WAIT, ""), encoding="utf-8")
    return build_once(path.with_suffix(""), path)


def with_wait():
    expect(explore(seed("with_wait", True)), 0, 0, 1, "0 of 1 orders wrong")


def without_wait():
    result = explore(seed("without_wait", False))
    expect(result, 66, 7, 10, "7 of 10 orders wrong")
    facts = result.report["explore"]
    check(facts["items"] == 5 and facts["classes"]["run"] == 6 and facts["torn"]["wrong"] > 0, f"facts\n{facts}")
    for wrong in results(result):
        check("mismatches=0" not in wrong["output"]["got"] and wrong["exit"]["code"] == 2, f"a wrong result\n{wrong}")
        again = run(seed("without_wait", False), "--schedule", wrong["schedule"])
        check(again.out.splitlines()[wrong["output"]["line"] - 1] == wrong["output"]["got"], f"replay of {wrong}\n{again.about()}")


def equal_steps():
    """For a number of jobs, whatever the timing, the same search."""
    program = seed("without_wait", False)
    first, second = (explore(program, "--jobs", "2", "--keep", FOLDER / "kept-equal") for _ in range(2))
    check(first.report["explore"] == second.report["explore"], "two explorations differ")
    other = explore(program, "--jobs", "1").report["explore"]
    check(other["orders"] == first.report["explore"]["orders"], "one job counts differently")


def built(name, *words):
    return build_once(FOLDER / "-".join([name, *[w.strip("-") for w in words]]), "-g", *words, PROGRAMS / f"{name}.cu")


def threads(fixed):
    result = explore(built("threads", *(["-DFIXED"] if fixed else [])), "--keep", FOLDER / f"kept-threads-{fixed}")
    expect(result, 0 if fixed else 66, 0 if fixed else 7, 1 if fixed else 10)
    check(result.report["explore"]["threads"] == 3, "threads that made calls")
    check("orders wrong, calls of 3 threads in the order of the first run" in result.verdict_line, result.about())
    for wrong in results(result):
        again = run(built("threads"), "--schedule", wrong["schedule"])
        check(again.out.strip() == wrong["output"]["got"], f"replay\n{wrong}\n{again.about()}")


def host_function(fixed):
    result = explore(built("host_function", *(["-DFIXED"] if fixed else [])))
    expect(result, 0 if fixed else 66, 0 if fixed else 2, 1 if fixed else 4)
    check(fixed or [r["output"]["got"] for r in results(result)] == ["sum=0"], f"results\n{results(result)}")


def queries():
    result = explore(built("queries"), "--keep", FOLDER / "kept-queries")
    expect(result, 66, 6, 6)
    wrong, = results(result)
    check(wrong["way"] == "query" and wrong["output"] == {"line": 1, "got": "mixed", "expected": "agreed"}, f"{wrong}")
    again = run(built("queries"), "--schedule", wrong["schedule"])
    check(again.out == "mixed\n", f"replay\n{again.about()}")


def torn():
    result = explore(built("torn"), "--keep", FOLDER / "kept-torn")
    expect(result, 66, 0, 2)
    facts = result.report["explore"]
    check(facts["torn"]["wrong"] > 0 and facts["torn"]["tried"] == 20, f"torn\n{facts['torn']}")
    check(facts["orders"]["different_memory"] == 1, f"the other order leaves other memory\n{facts['orders']}")
    again = execute([TOOL, *facts["torn"]["replay"][1:]])
    check(again.stdout == "mixed\n", f"replay\n{again.stdout}{again.stderr}")


def device_fault():
    result = explore(built("fault"))
    expect(result, 66, 1, 2)
    check(results(result)[0]["exit"] == {"code": 3, "signal": None}, f"{results(result)}")


def pending():
    result = explore(built("pending"))
    expect(result, 66, 0, 2)
    check(result.report["explore"]["orders"]["different_memory"] == 1, "the end runs them in either order")


def grows():
    """The program goes another way in another order: both ways are found, with their own orders."""
    result = explore(built("grows"))
    expect(result, 66, 1, 3)
    check(result.report["explore"]["all_run"], f"{result.report['explore']}")
    check([r["output"]["got"] for r in results(result)] == ["count=2"], f"{results(result)}")


def wide():
    """200 streams: too many down-sets to count, and classes all the same."""
    result = explore(built("wide"))
    facts = result.report["explore"]
    check(result.code == 66 and facts["all_run"] and facts["classes"]["run"] == 2 and facts["streams"] == 201, f"{facts}")
    check(facts["orders"]["total_estimated"] and facts["orders"]["total"] is None, "more orders than a number of JSON holds")
    check([r["output"]["got"] for r in results(result)] == ["last=1"], f"{results(result)}")


def quoted():
    """The command that is printed can be given to a shell, whatever the path."""
    folder = FOLDER / "it's two words"
    folder.mkdir()
    program = shutil.copy(built("fault"), folder)
    done = execute([TOOL, "explore", "--", program])
    commands = re.findall(r"^ *streamsan (run --schedule .*)$", done.stderr, re.M)
    check(len(commands) == 1, f"one command to run again\n{done.stderr}")
    again = execute([TOOL, *shlex.split(commands[0])])
    check(again.returncode == 67 and "device fault" in again.stderr and program in shlex.split(commands[0]), f"{commands[0]}\n{again.returncode} {again.stderr}")


def block_reuse():
    """What a query found done stays done when the class that came of it runs as late as possible."""
    expect(explore(built("block_reuse")), 0, 0, 4, "clean")


def first_come():
    """An item with other memory is another item, so each way of the program has its own orders."""
    result = explore(built("first_come"))
    facts = result.report["explore"]
    check(result.code == 66 and 0 < facts["orders"]["wrong"] < facts["orders"]["total"], f"one way is right\n{result.about()}")


def trap():
    """What a fault keeps from running has an order too: behind the fault."""
    result = explore(built("trap"))
    expect(result, 66, 1, 2)
    check(results(result)[0]["exit"] == {"code": 4, "signal": None}, f"{results(result)}")


def released():
    """A kernel that waits for the host is not wrong for not being done early."""
    result = explore(built("released"))
    expect(result, 67, 0, 1)
    check("1 schedule could not be reached" in result.verdict_line, result.about())


def printing():
    expect(explore(built("printing")), 66, 5, 6)


def asks(times):
    """A query may find work unfinished again and again; only then is there a race."""
    result = explore(built("asks_twice", f"-DTIMES={times}"), "--keep", FOLDER / f"kept-asks-{times}")
    expect(result, 66, 2, 3)
    again = run(built("asks_twice", f"-DTIMES={times}"), "--schedule", results(result)[0]["schedule"])
    check(again.out.strip() == results(result)[0]["output"]["got"], f"replay\n{again.about()}")


def gives_up(*words):
    """Only where all polls are in vain is there a race; with the last one in time the same items are submitted."""
    result = explore(built("gives_up", *words), "--keep", FOLDER / ("kept-gives-up" + "".join(words)))
    check(result.code == 66 and result.report["explore"]["all_run"], result.about())
    check(0 < result.report["explore"]["orders"]["wrong"] < result.report["explore"]["orders"]["total"], result.about())
    again = run(built("gives_up", *words), "--schedule", results(result)[0]["schedule"])
    check(again.out.strip() == results(result)[0]["output"]["got"], f"replay\n{again.about()}")


def gives_up_rightly():
    for words in ((), ("-DWORK",)):
        result = explore(built("gives_up", "-DFIXED", *words))
        check(result.code == 0 and result.report["explore"]["all_run"], result.about())


def not_deterministic():
    result = explore(built("by_time"), "--limit", "30")
    check(result.code == 67 and result.verdict == "incomplete", f"expected 67\n{result.about()}")
    calls = result.report["explore"]["not_deterministic"]
    check(calls and all("by_time.cu:11: cudaMemset" in c for c in calls.values()) and calls["expected"] != calls["found"], f"{calls}")
    check("not deterministic" in result.verdict_line, result.about())


def own_output():
    result = explore(built("own_output"))
    expect(result, 0, 0, 1)
    check(result.report["explore"]["varying_lines"] == [1] and not result.report["explore"]["output_varies"], "its output is never the same")


def own_words():
    """Words that vary by themselves do not count, those beside them do."""
    result = explore(built("own_words"))
    expect(result, 66, 1, 2)
    check(result.report["explore"]["varying_lines"] == [2], f"{result.report['explore']}")
    wrong, = results(result)
    check(wrong["output"]["line"] == 2 and wrong["output"]["got"].endswith("result 1"), f"{wrong}")
    expect(explore(built("own_words", "-DFIXED")), 0, 0, 1)


def short_and_quiet():
    """One line a finding and a wrong result; the verdict alone with -q; streams by name behind orders."""
    program = seed("without_wait", False)
    lines = execute([TOOL, "explore", "--format", "short", "--", program]).stderr.splitlines()
    check(len(lines) == 5 and " error: " in lines[0] and lines[3] == "7 of 10 orders wrong", "\n".join(lines))
    check(all(re.match(r"explore: wrong: \d orders?: exit 2: output line 1: .*: streamsan run --schedule ", line) for line in lines[1:3]), "\n".join(lines))
    quiet = execute([TOOL, "explore", "-q", "--", program])
    check(quiet.stderr.count("7 of 10 orders wrong") == 1 and len(quiet.stderr.splitlines()) == 1, quiet.stderr)
    check("  streams: s1 'producer', s2 'consumer'\n" in execute([TOOL, "explore", "--", program]).stderr, "streams")


def places():
    """The wait ignored is the program without it; everything serialized leaves one order."""
    if not SEED.exists():
        raise Skip("the documents' program is not on this machine")
    lines = SEED.read_text(encoding="utf-8").splitlines()
    line = 1 + next(i for i, text in enumerate(lines) if "cudaStreamWaitEvent" in text)
    program = build_once(FOLDER / "places", "-g", SEED)
    expect(explore(program, "--ignore", f"{SEED.name}:{line}"), 66, 7, 10)
    program = seed("without_wait", False)
    expect(explore(program, "--serialize", "all"), 0, 0, 1)


def limits():
    program = seed("without_wait", False)
    result = explore(program, "--limit", "3")
    check(result.report["explore"]["runs"] == 3 and not result.report["explore"]["all_run"], f"{result.report['explore']}")
    check(result.code == 66 and "the limit of 3 runs" in result.verdict_line, result.about())
    result = explore(seed("with_wait", True), "--limit", "3")
    check(result.code == 67 and result.verdict == "incomplete", result.about())
    result = explore(seed("with_wait", True), "--time", "0.000001")
    check(result.code == 67 and "the limit of 1e-06 s" in result.verdict_line, result.about())


def early():
    """A result that is wrong only where one item is done early: beside the orders, and cut by a limit it is not clean."""
    program = built("early")
    result = explore(program, "--keep", FOLDER / "kept-early")
    expect(result, 66, 0, result.report["explore"]["orders"]["total"])
    facts = result.report["explore"]
    check(facts["early"]["wrong"] > 0 and f"{facts['early']['wrong']} of {facts['early']['tried']} early runs wrong" in result.verdict_line, result.about())
    check([r["way"] for r in results(result)] == ["early"], f"{results(result)}")
    told = execute([TOOL, "explore", "--", program], text="text").stderr
    check("No finding of the first run explains this" in told and "standard input is a pipe" in told, told)
    result = explore(program, "--limit", "6")
    check(result.code == 67 and not result.report["explore"]["all_run"], result.about())
    check("the limit of 6 runs came before all schedules" in result.verdict_line, result.about())


def early_places():
    """What the limit of early placements leaves out is told."""
    done = execute([TOOL, "explore", "--", built("early"), "many"])
    check(done.returncode == 0, done.stderr)
    check(re.search(r"^  early places: 64 of \d\d\d tried \(a place: one item done when one call returns, before the host waits for it\)$", done.stderr, re.M), done.stderr)


def cut():
    """The share of wrong orders is that of those that were run."""
    done = execute([TOOL, "explore", "--limit", "5", "--", seed("without_wait", False)])
    check(re.search(r"^\d of [4-9] orders wrong \(10 in all\)$", done.stderr, re.M), done.stderr)


def single_blocks():
    result = explore(built("torn", "-DBLOCKS=1"))
    check(result.report["explore"]["torn"] == {"tried": 0, "wrong": 0, "pairs": 0, "replay": None}, f"{result.report['explore']['torn']}")


def random():
    result = explore(seed("without_wait", False), "--random", "12", "--seed", "5")
    facts = result.report["explore"]
    check(result.code == 66 and facts["random"]["tried"] == 12 and facts["random"]["seed"] == 5 and facts["random"]["wrong"] > 0, f"{facts}")
    text = execute([TOOL, "explore", "--random", "12", "--seed", "5", "--", seed("without_wait", False)]).stderr
    told = re.findall(r"^  (\d+) runs? +(wrong|as|same)", text, re.M)
    check(sum(int(runs) for runs, _ in told) == 12 and sum(int(runs) for runs, kind in told if kind == "wrong") == facts["random"]["wrong"], text)
    wrong = results(result)[0]
    check(re.fullmatch(r"random:\d+", wrong["schedule"]), f"{wrong}")
    again = run(seed("without_wait", False), "--schedule", wrong["schedule"])
    check(again.out.strip() == wrong["output"]["got"], again.about())
    result = explore(seed("with_wait", True), "--random", "12")
    check(result.code == 0 and "0 of 12 runs wrong" in result.err, result.about())


def several_devices():
    """Copy and record of one device, kernel and copy of another, a join between: 10 orders without the wait."""
    peer = ROOT / "tests/e2e/programs/litmus_l29_peer_copy.cu"
    racy, fixed = [build_once(FOLDER / f"peer-{len(words)}", *words, peer) for words in (["-DASYNC"], ["-DASYNC", "-DEVENT"])]
    result = explore(racy, "--device", "virtual:2")
    expect(result, 66, 7, 10)
    replay = results(result)[0]["replay"]
    check(replay[4:6] == ["--device", "virtual:2"], f"{replay}")
    check(execute([TOOL, *replay[1:]]).stdout != "8\n", "the replay shows the right result")
    expect(explore(fixed, "--device", "virtual:2"), 0, 0, 1)


def exit_codes():
    text = FOLDER / "no_program"
    text.write_text("text", encoding="utf-8")
    for words, code in ((["--", FOLDER / "nothing_there"], 127), (["--", text], 126), ([], 64), (["--limit", "0", "--", "true"], 64),
                        (["--jobs", "x", "--", "true"], 64)):
        done = execute([TOOL, "explore", *words])
        check(done.returncode == code, f"{words}: expected {code}, not {done.returncode}\n{done.stderr}")
    done = execute([TOOL, "explore", "--", "true"])
    check(done.returncode == 67 and "no CUDA operation" in done.stderr.splitlines()[-1], f"{done.returncode}\n{done.stderr}")
    check(done.stderr.count("no CUDA operation was seen") == 1 and "streamsan cc" in done.stderr, done.stderr)
    done = execute([TOOL, "explore", "--keep", "/proc/nothing", "--", seed("without_wait", False)])
    check(done.returncode == 65 and "can't create /proc/nothing" in done.stderr, f"{done.returncode}\n{done.stderr}")
    done = execute([TOOL, "explore", "--error-exitcode", "7", "--", seed("without_wait", False)])
    check(done.returncode == 7 and done.stdout == "", f"{done.returncode}\n{done.stdout}\n{done.stderr}")
    check(done.stderr.splitlines()[-1].startswith("streamsan: errors: 7 of 10 orders wrong; 1 error "), done.stderr)
    check("streamsan run --schedule lazy -- " in done.stderr, done.stderr)


def case(path, variant, n, options, racy):
    binary = build_once(FOLDER / f"{path.stem}-{variant}-{n}", f"-DN={n}", "-DDELAY=1000", *(["-DFIXED"] if variant == "fixed" else []), path)
    result = explore(binary, *options)
    facts = result.report["explore"]
    wrong = facts["random"]["wrong"] if facts["random"] else facts["orders"]["wrong"] + facts["early"]["wrong"]
    if racy:
        check(wrong > 0 and result.code == 66, f"expected a wrong order\n{result.about()}")
    else:
        check(wrong == 0 and result.code == 0 and (facts["random"] or facts["all_run"]), f"expected none wrong, and all run\n{result.about()}")


def add_cases(tally):
    for path in sorted(CASES.glob("*.cu")):
        if path.stem in NOT_MODELLED:
            continue
        for variant in ("racy", "fixed"):
            racy = variant == "racy" and "trap" not in path.stem
            for n in (256, 4096, 1000) if wants_all() else (256,):
                limit = "400" if wants_all() else "40" if racy else "200"
                tally.case(f"{path.stem} {variant} {n}", case, path, variant, n, ["--limit", limit, "--time", "200"], racy)
            if wants_all() and not racy:
                tally.case(f"{path.stem} {variant} random", case, path, variant, 256, ["--random", "200", "--time", "200"], racy)


def main():
    tally = Tally("explore")
    for function in (with_wait, without_wait, equal_steps, queries, torn, device_fault, pending, grows, wide, quoted, block_reuse, first_come, trap,
                     released, printing, gives_up_rightly, not_deterministic, own_output, own_words, short_and_quiet, places, limits,
                     early, early_places, cut, single_blocks,
                     random, several_devices, exit_codes):
        tally.case(function.__name__, function)
    for times in (2, 3):
        tally.case(f"asks {times} times", asks, times)
    for words in ((), ("-DWORK",), ("-DTIMES=60",)):
        tally.case(f"gives up {' '.join(words)}".strip(), gives_up, *words)
    for fixed in (False, True):
        tally.case(f"threads {'fixed' if fixed else 'racy'}", threads, fixed)
        tally.case(f"host_function {'fixed' if fixed else 'racy'}", host_function, fixed)
    add_cases(tally)
    return tally.finish(harness.only_argument())


if __name__ == "__main__":
    sys.exit(main())
