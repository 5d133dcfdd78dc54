#!/usr/bin/python3
"""`streamsan witness`: every faulty case program happens, its replay shows it again, its trace shows the pair turned round.

run_witness.py [--all] [part of a name]. A fixed subset of replays by default; --all: ten of each by hand, all sizes.
"""
import math
import os
import pathlib
import re
import select
import shlex
import signal
import sys
import tempfile
import threading
import time

import harness
from harness import ROOT, SHARED, TOOL, Failure, Result, Skip, Tally, build_once, check, execute, json, run, started, work_folder

CASES = ROOT / "tests/cases"
OURS = ROOT / "tests/e2e/witness"
NOT_MODELLED = ("07_pool_cross_stream", "11_graph_missing_edge")
WORK = work_folder("witness")
WAIT = "    check(cudaStreamWaitEvent(consumer, ready, 0));\n"
SPENT, SPENT_LOCK = {}, threading.Lock()
FIELD = re.compile(r" (\w+)=(\"(?:[^\"\\]|\\.)*\"|\[[^\]]*\]|\S+)")


def witness(program, *options, **how):
    return run(program, *options, verb="witness", **how)


def errors_of(result):
    return [f for f in result.report["findings"] if f["severity"] == "error"]


def shown(result, count=None):
    """The error findings, each with a witness that has an effect and was replayed every time."""
    found = errors_of(result)
    check(result.code == 66 and found and (count is None or len(found) == count), f"errors and 66\n{result.about()}")
    for f in found:
        w = f["witness"]
        check(w and w["kind"] == "shown" and w["replay"], f"{f['message']}: {w}\n{result.about()}")
        check(w["effect"] or w["output"] or w["exit"], f"nothing changed: {w}")
        check(w["reproduced"] == w["repeats"] >= 1, f"replayed {w['reproduced']} of {w['repeats']}")
    return found


def case_program(case, variant, n=None):
    name = f"{case.stem}-{variant}" + (f"-{n}" if n else "")
    return build_once(pathlib.Path(WORK.name) / name, *([f"-DN={n}"] if n else []), *(["-DFIXED"] if variant == "fixed" else []),
                      "-include", CASES / "hooks.h", case)


def ours(name, *words):
    return build_once(pathlib.Path(WORK.name) / "-".join([name, *words]), *words, OURS / f"{name}.cu")


# -- the trace of a replay, read by nothing of the tool but its listing --

def events(trace):
    for text in execute([TOOL, "dump", trace]).stdout.splitlines():
        kind = text.split(" ", 1)[0]
        if kind in ("op", "op_closed", "host_access", "alloc", "free", "pool_alloc", "pool_free"):
            yield kind, dict(FIELD.findall(text.split("  # ")[0]))


def places(trace):
    """Where each operation (s1.2) ended and where each host access (h1.3, counted with allocations and frees) stands; what all are."""
    seq, op_ids, ended, host, hosts, seen = {}, {}, {}, {}, {}, {}
    for at, (kind, fields) in enumerate(events(trace)):
        if kind == "op":
            stream = fields["stream"]
            seq[stream] = seq.get(stream, 0) + 1
            name = op_ids[fields["op"]] = f"s{stream}.{seq[stream]}"
            seen[name] = {"is": ("op", fields.get("name", fields["kind"]), fields.get("site")), "at": at, "ended": math.inf}
        elif kind == "op_closed":
            ended[op_ids[fields["op"]]] = seen[op_ids[fields["op"]]]["ended"] = at
        elif kind in ("host_access", "alloc", "free", "pool_alloc", "pool_free"):
            thread = fields.get("thread", "1")
            host[thread] = host.get(thread, 0) + 1
            name = f"h{thread}.{host[thread]}"
            hosts[name] = at
            seen[name] = {"is": (kind, fields.get("access"), fields.get("site")), "at": at, "ended": at}
    return ended, hosts, seen


def turned_round(program, finding, name):
    """Runs the words of the witness with its trace kept; the two operations stand the other way round in it."""
    words = finding["witness"]["replay"]
    at = words.index("--")
    trace = pathlib.Path(WORK.name) / f"{name}-{finding['id']}.trace"
    done = execute([TOOL, *words[1:at], "--trace", trace, *words[at:]])
    ended, hosts, seen = places(trace)
    first, then = finding["first"]["op"], finding["then"]["op"]
    when = ended.get(then, hosts.get(then))
    check(when is not None and first in ended, f"the trace of the replay has no {first} or {then}")
    check(when < ended[first] or instance_turned(first, then, seen), f"{first} at {ended[first]}, {then} at {when}: not turned round")
    trace.unlink()
    return done


def instance_turned(first, then, seen):
    """Another instance of the pair (same lines, same names): the one submitted later ended before the other."""
    like = [[s for s in seen.values() if one in seen and s["is"] == seen[one]["is"]] for one in (first, then)]
    return any(a["at"] < b["at"] and b["ended"] < a["ended"] for a in like[0] for b in like[1])


# -- cases --

def faulty(case, n=None):
    program = case_program(case, "racy", n)
    start = time.monotonic()
    result = witness(program, "--repeat", "10")
    with SPENT_LOCK:
        SPENT[case.stem] = time.monotonic() - start
    found = shown(result)
    for f in found:
        check(f["witness"]["repeats"] == 10, f"{f['witness']['repeats']} replays, not 10")
        for _ in range(10 if harness.wants_all() else 1):
            done = turned_round(program, f, f"{case.stem}-{n}")
            expected = f["witness"]["output"]
            if expected:
                check(done.stdout.splitlines()[expected["line"] - 1] == expected["got"], f"the replay prints {done.stdout!r}, not {expected}")
            check(done.returncode == 66, f"the replay ends with {done.returncode}")


def repaired(case, variant):
    result = witness(case_program(case, variant))
    check(result.code == 0 and not errors_of(result), f"no error, 0\n{result.about()}")
    check(all(f["witness"] is None for f in result.report["findings"]), "a witness of what is no error")


def seed():
    path = SHARED / "seeds/stream_contract.cu"
    if not path.exists():
        if os.environ.get("CI") == "true":
            raise Failure("CI=true, but the documents' program is not there")
        raise Skip("the documents' program is not on this machine")
    source = path.read_text(encoding="utf-8")
    check(source.count(WAIT) == 1, "the documents' program no longer holds its wait")
    bad, good = pathlib.Path(WORK.name) / "without.cu", pathlib.Path(WORK.name) / "with.cu"
    bad.write_text(source.replace(WAIT, ""), encoding="utf-8")
    good.write_text(source, encoding="utf-8")
    program = build_once(bad.with_suffix(""), bad)
    result = witness(program, "--bisect")
    f = shown(result, 1)[0]
    check(result.out == "elements=4096 mismatches=0\n", f"the first run's output\n{result.about()}")
    check(f["witness"]["order"] == ["s1.1", "s2.1", "s2.2", "s1.2", "s1.3"], f"order {f['witness']['order']}")
    effect = f["witness"]["effect"]
    check((effect["index"], effect["type"], effect["got"], effect["expected"]) == (1, "f32", 2, 3), f"effect {effect}")
    done = turned_round(program, f, "seed")
    check(int(re.search(r"mismatches=(\d+)", done.stdout)[1]) > 0, f"the replay prints {done.stdout!r}")
    diagnosis = result.report["diagnosis"]
    check(diagnosis["cured"] and diagnosis["smallest"] and [w["operation"] for w in diagnosis["waits"]] == ["scale"], f"{diagnosis}")
    result = witness(build_once(good.with_suffix(""), good), "--bisect")
    check(result.code == 0 and result.verdict == "clean" and not result.report["diagnosis"]["wrong"], f"clean\n{result.about()}")


def text_form():
    program = case_program(CASES / "10_pingpong_guard.cu", "racy")
    done = execute([TOOL, "witness", "--", program])
    lines = done.stderr.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("  witness    "))
    command = next(line for line in lines[at:] if line.startswith("             streamsan run --schedule "))
    check(len(lines[at]) <= 100 and command.endswith(f"-- {program}"), "\n".join(lines[at:]))
    check(lines[-1].startswith("streamsan: errors: "), lines[-1])


def threads():
    program = ours("two_threads")
    shown(witness(program, "--repeat", "10"), 1)
    keep = pathlib.Path(WORK.name) / "kept"
    f = shown(witness(program, "--keep", keep, "--repeat", "10"), 1)[0]
    words = f["witness"]["replay"]
    check(words[3] == f"file:{keep}/streamsan-witness-{f['id']}.schedule", f"{words}")
    check("\ncalls t" in pathlib.Path(words[3][len("file:"):]).read_text(encoding="utf-8"), "the schedule has no order of calls")
    turned_round(program, f, "threads")
    result = witness(ours("two_threads", "-DFIXED"))
    check(result.code == 0 and not errors_of(result), f"no error, 0\n{result.about()}")


def standard_input():
    numbers = pathlib.Path(WORK.name) / "numbers"
    numbers.write_text("41\n", encoding="utf-8")
    with numbers.open(encoding="utf-8") as file:
        w = shown(witness_from(file), 1)[0]["witness"]
    check(w["output"] == {"line": 1, "got": "read 1, got 1", "expected": "read 1, got 42"}, f"{w['output']}")
    w = shown(witness(ours("input"), text="41\n"), 1)[0]["witness"]  # a pipe can't be read twice
    check(w["output"]["expected"] == "read -1, got 0", f"{w['output']}")


def witness_from(file):
    with tempfile.NamedTemporaryFile(suffix=".json", dir=WORK.name) as report:
        with started([TOOL, "witness", "--format", "json", "--output", report.name, "--", ours("input")], stdin=file) as child:
            out, err = child.communicate(timeout=harness.TIMEOUT_S)
            text = pathlib.Path(report.name).read_text(encoding="utf-8")
    child.stdout, child.stderr = out, err
    return Result(child, json.loads(text))


def time_limit():
    w = shown(witness(ours("hang"), "--time", "4"), 1)[0]["witness"]
    check(w["exit"]["got"] is None, f"{w['exit']}")


def noise():
    w = errors_of(witness(ours("noise")))[0]["witness"]
    check(w["kind"] == "silent" and w["replay"] and not (w["effect"] or w["output"] or w["exit"]), f"{w}")
    w = shown(witness(ours("noise", "-DREAD")), 1)[0]["witness"]
    check((w["effect"]["got"], w["effect"]["expected"], w["output"]) == (5, 6, None), f"{w}")


def ordered():
    program = build_once(pathlib.Path(WORK.name) / "ordered", "-DA", ROOT / "tests/e2e/programs/litmus_l19_free_in_flight.cu")
    result = witness(program, "--order", "documented")
    f = errors_of(result)[0]
    check(result.code == 66 and f["witness"]["kind"] == "ordered" and f["ordered_by"] == "R-IMPL-4", f"{f}")
    text = execute([TOOL, "witness", "--order", "documented", "--", program]).stderr
    check("where R-IMPL-4 orders the two in every schedule" in " ".join(text.split()), text)
    check(witness(program).code == 0, "a warning is no error")


def processes():
    program = case_program(CASES / "10_pingpong_guard.cu", "racy")
    result = witness("sh", args=("-c", f"{program}; {program}; true"))
    check(result.code == 66 and all(f["witness"]["kind"] == "processes" for f in errors_of(result)), result.about())


def only_error(result):
    found = errors_of(result)
    check(result.code == 66 and len(found) == 1, f"one error\n{result.about()}")
    return found[0]


def without():
    for word, kind in (("ALWAYS", "always"), ("DIVERGED", "diverged"), ("INFEASIBLE", "infeasible"), ("SEEN", "infeasible")):
        w = only_error(witness(ours("kinds", f"-D{word}")))["witness"]
        check(w["kind"] == kind and not w["replay"] and not w["order"], f"{kind}: {w}")
        check((w["detail"] is not None) == (kind == "infeasible"), f"{kind}: {w}")


def host_waits():
    """The operation is kept from a host that gives the device time, until it has read or written."""
    for word in ("SLEEPS", "POLLS"):
        program = ours("kinds", f"-D{word}")
        f = only_error(witness(program, "--repeat", "5"))
        w = f["witness"]
        check(w["kind"] == "shown" and w["reproduced"] == 5, f"{word}: {w}")
        check(w["replay"][3] == "order:" + ",".join(w["order"]) and w["order"][-2:] == ["a1.1", "s1.1"], f"{word}: {w}")
        turned_round(program, f, f"host-{word}")
        text = " ".join(execute([TOOL, "witness", "--", program]).stderr.split())
        check(f"a1.1 {'reads' if word == 'SLEEPS' else 'writes'} 'out')" in text, text)


def host_function_numbers():
    """Numbers of the program's threads, and so of their calls, do not depend on when a host function runs."""
    keep = pathlib.Path(WORK.name) / "kept-numbers"
    f = shown(witness(ours("kinds", "-DTHREADS"), "--keep", keep, "--repeat", "3"), 1)[0]
    check("calls t1." in (keep / f"streamsan-witness-{f['id']}.schedule").read_text(encoding="utf-8"), f"{f['witness']['replay']}")
    check(" t2.1" in (keep / f"streamsan-witness-{f['id']}.schedule").read_text(encoding="utf-8"), "the second thread is no t2")


def legend():
    """Each stream that a command names is told, of findings or not, and stands in the JSON."""
    program = ours("kinds", "-DLEGEND")
    f = only_error(witness(program))
    result = witness(program)
    streams = {s["id"]: s["name"] for s in result.report["streams"]}
    check(streams == {"s1": "a", "s2": "b", "s3": "legacy", "s4": "copies"}, f"{streams}")
    check({item.split(".")[0] for item in f["witness"]["order"]} == set(streams), f"{f['witness']['order']}")
    text = " ".join(execute([TOOL, "witness", "--", program]).stderr.split())
    check("where s1 'a', s2 'b', s3 'legacy', s4 'copies'" in text, text)


def interleaved():
    program = ours("kinds", "-DTORN")
    w = only_error(witness(program))["witness"]
    check(w["kind"] == "shown" and w["interleaved"] and not w["replay"], f"{w}")
    text = " ".join(execute([TOOL, "witness", "--", program]).stderr.split())
    check("interleaved by block, gives " in text and "needs a file: --keep FOLDER" in text, text)
    keep = pathlib.Path(WORK.name) / "kept-torn"
    f = shown(witness(program, "--keep", keep, "--repeat", "3"), 1)[0]
    check("\ntogether " in (keep / f"streamsan-witness-{f['id']}.schedule").read_text(encoding="utf-8"), "no items together")
    check(len(list(keep.iterdir())) == 1, "more than one file kept")
    turned_round(program, f, "torn")


def reset():
    w = only_error(witness(ours("kinds", "-DRESET")))["witness"]
    check((w["effect"]["got"], w["effect"]["expected"]) == (5, 6), f"{w}")


def altered():
    program = ours("kinds", "-DRESET")
    result = witness(program, "--serialize", "all")
    check(not errors_of(result) and "--serialize all" in result.report["run"]["altered"], result.about())
    result = witness(program, "--serialize", "s3")
    words = only_error(result)["witness"]["replay"]
    check(words[4:6] == ["--serialize", "s3"] and "s3" in result.report["run"]["altered"], f"{words}")
    check("program altered" in execute([TOOL, *words[1:]]).stderr, "the replay is of the program as it is")


def several_devices():
    program = build_once(pathlib.Path(WORK.name) / "peer", "-DASYNC", ROOT / "tests/e2e/programs/litmus_l29_peer_copy.cu")
    result = witness(program, "--device", "virtual:2")
    f = shown(result, 1)[0]
    check(f["witness"]["replay"][4:6] == ["--device", "virtual:2"], f"{f['witness']['replay']}")
    check(execute([TOOL, *f["witness"]["replay"][1:]]).stdout != "8\n", "the replay shows the right result")
    devices = {s["id"]: s["device"] for s in result.report["streams"]}
    ops = {o["id"]: o for o in result.report["operations"]}
    check([devices[ops[f[side]["op"]]["stream"]] for side in ("first", "then")] == [0, 1], f"{devices}")
    check(result.report["run"]["devices"] == 2, f"{result.report['run']}")
    check([b["device"] for b in result.report["buffers"] if b["id"] == f["buffer"]] == [1], f"{result.report['buffers']}")


def suppressed():
    rules = pathlib.Path(WORK.name) / "rules.yaml"
    rules.write_text('- rule: SSAN-WAW\n  reason: "known"\n- rule: SSAN-WAR\n  reason: "none"\n', encoding="utf-8")
    result = witness(ours("kinds", "-DRESET"), "--suppressions", rules)
    check(result.code == 0 and all(f["witness"] is None for f in result.report["findings"]), result.about())
    check([s["used"] for s in result.report["suppressions"]] == [1, 0], f"{result.report['suppressions']}")


def paths_with_spaces():
    folder = pathlib.Path(WORK.name) / "it's a folder"
    folder.mkdir(exist_ok=True)
    program, keep = folder / "the program", folder / "kept files"
    build_once(program, "-DTORN", OURS / "kinds.cu")
    done = execute([TOOL, "witness", "--keep", keep, "--", program, "a b"])
    command = next(line.strip() for line in done.stderr.splitlines() if line.startswith("             streamsan run --schedule "))
    again = execute(["sh", "-c", command.replace("streamsan", shlex.quote(str(TOOL)), 1)])
    check(again.returncode == 66 and "SSAN-RAW" in again.stderr, f"{command}\n{again.stderr}")


class Pipe:
    """A named pipe through which a program tells that it is somewhere."""

    def __init__(self, name):
        self.path = pathlib.Path(WORK.name) / name
        os.mkfifo(self.path)
        self.reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)

    def wait(self):
        poller = select.poll()
        poller.register(self.reader, select.POLLIN)
        told = any(event & select.POLLIN for _, event in poller.poll(60000))
        os.close(self.reader)
        check(told, f"nothing came through {self.path}")


def interrupted():
    program, pipe = ours("hang"), Pipe("hangs")
    env = {"TMPDIR": tempfile.mkdtemp(dir=WORK.name), "HANGS": str(pipe.path)}
    with started([TOOL, "witness", "--time", "600", "--", program], env=env) as child:
        pipe.wait()
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=30)
    check(child.returncode == 128 + signal.SIGINT, f"exit {child.returncode}")
    left = [p for d in pathlib.Path(WORK.name).glob("tmp*") if d.is_dir() for p in d.iterdir()]
    check(not left, f"left behind: {left}")


def interrupted_at_once():
    """A signal before the first run has ended is told, as the verdict."""
    pipe = Pipe("sleeps")
    with started([TOOL, "witness", "--", "sh", "-c", f"echo > {pipe.path}; exec sleep 600"]) as child:
        pipe.wait()
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=30)
    check(child.returncode == 128 + signal.SIGINT, f"exit {child.returncode}")
    check(err == "streamsan: incomplete: signal 2 (SIGINT) came before the first run had ended\n", err)


def gone_after(runs):
    """A program that is not there any more after so many runs."""
    path = pathlib.Path(WORK.name) / f"gone-after-{runs}"
    return build_once(path, f"-DGONE_AFTER={runs}", OURS / "kinds.cu")


def failed():
    """A trial that can't be run is told, with the reason; so are what --bisect does not come to and lines that nobody knows."""
    program = gone_after(2)
    w = only_error(witness(program))["witness"]
    check(w["kind"] == "failed" and "No such file" in w["detail"] and not w["replay"], f"{w}")
    diagnosis = witness(gone_after(6), "--bisect", "--jobs", "1").report["diagnosis"]
    check(diagnosis["limit"] == "failed" and diagnosis["cured"] and not diagnosis["smallest"] and not diagnosis["waits"], f"{diagnosis}")
    result = witness(ours("kinds", "-DRESET"), "--bisect", "--time", "0.000001")
    check(result.report["diagnosis"]["limit"] == "time" and errors_of(result)[0]["witness"]["kind"] == "no-time", result.about())
    blind = pathlib.Path(WORK.name) / "without-lines"
    done = execute(["objcopy", "--strip-debug", ours("kinds", "-DRESET"), blind])
    check(done.returncode == 0, done.stderr)
    diagnosis = witness(blind, "--bisect").report["diagnosis"]
    check(diagnosis["limit"] == "lines" and not diagnosis["waits"], f"{diagnosis}")


def unexplained():
    """A result that waits cure and no finding explains: a hint, and not clean."""
    done = execute([TOOL, "witness", "--bisect", "--", ours("host_refill")])
    said = " ".join(done.stderr.split())
    check(done.returncode == 67 and "no finding explains it" in said and "SSAN_HOST_WRITE" in said, f"exit {done.returncode}\n{done.stderr}")
    check(done.stderr.splitlines()[-1].startswith("streamsan: incomplete: no error, but no finding explains the wrong result"), done.stderr)
    result = witness(ours("host_refill", "-DWARNED"), "--bisect")
    check([f["severity"] for f in result.report["findings"]] == ["warning"], f"one warning\n{result.about()}")
    check(result.code == 67 and result.verdict == "incomplete" and result.report["diagnosis"]["cured"], f"a warning explains nothing\n{result.about()}")


def said_early():
    """A folder that can't be written, and a pipe that nobody reads."""
    program = ours("host_refill")
    done = execute([TOOL, "witness", "--keep", "/nowhere/at/all", "--", program])
    check(done.returncode == 65 and "/nowhere/at/all" in done.stderr and not done.stdout, f"exit {done.returncode}\n{done.stderr}")
    done = execute([TOOL, "witness", "--", program], text="input")
    check("standard input is a pipe" in done.stderr and done.returncode == 0, f"exit {done.returncode}\n{done.stderr}")


def short_form():
    program = case_program(CASES / "10_pingpong_guard.cu", "racy")
    done = execute([TOOL, "witness", "--format", "short", "--", program])
    found = re.search(r" witness=shown replay: streamsan (run --schedule .*)$", done.stderr, re.M)
    check(found and found[1].endswith(f"-- {program}"), done.stderr)
    check(execute([TOOL, *found[1].split(" ")]).returncode == 66, f"the replay {found[1]}")


def words():
    for command, code, said in ((["witness"], 64, "a program is missing"), (["witness", "--", "/nowhere/at/all"], 127, "/nowhere/at/all"),
                                (["witness", "--time", "0", "--", "true"], 64, "--time takes a number of seconds"),
                                (["witness", "--schedule", "lazy", "--", "true"], 64, "--schedule is no option of this verb"),
                                (["witness", "--", "true"], 67, "no CUDA operation was seen"),
                                (["witness", "--help"], 0, "")):
        done = execute([TOOL, *command])
        check(done.returncode == code and said in done.stderr, f"{command}: exit {done.returncode}\n{done.stderr}")


def main():
    tally = Tally("witness")
    cases = [c for c in sorted(CASES.glob("*.cu")) if c.stem not in NOT_MODELLED]
    for case in cases:
        if "_trap_" not in case.stem:
            tally.case(f"faulty {case.stem}", faulty, case)
            if harness.wants_all():
                for n in (1000, 65536):
                    tally.case(f"faulty {case.stem} {n}", faulty, case, n)
        else:
            tally.case(f"repaired {case.stem} racy", repaired, case, "racy")
        tally.case(f"repaired {case.stem} fixed", repaired, case, "fixed")
    for function in (seed, text_form, threads, standard_input, time_limit, noise, ordered, processes, without, host_waits, host_function_numbers, legend, interleaved, reset, altered, several_devices, suppressed, paths_with_spaces,
                     interrupted, interrupted_at_once, failed, unexplained, said_early, short_form, words):
        tally.case(function.__name__.replace("_", " "), function)
    code = tally.finish(harness.only_argument())
    spent = sum(SPENT.values())
    print(f"witnesses of all faulty cases, with ten replays of each: {spent:.1f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
