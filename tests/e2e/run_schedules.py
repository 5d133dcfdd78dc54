#!/usr/bin/python3
"""Listed schedules: order:, file:, --ignore, --serialize (run_schedules.py [part of a name])."""
import pathlib
import re
import sys
import time

import harness
from harness import ROOT, TOOL, Tally, build_once, check, execute, run, work_folder

SOURCES = ROOT / "tests/e2e/schedules"
FOLDER = work_folder("schedules")
WORK = pathlib.Path(FOLDER.name)


def program(name, *words, output=None):
    return build_once(WORK / (output or name), "-g", *words, SOURCES / f"{name}.cu")


def schedule(name, *lines):
    path = WORK / f"{name}.schedule"
    path.write_text("\n".join(["streamsan-schedule 1", *lines, ""]), encoding="utf-8")
    return f"file:{path}"


def executed(trace):
    """Items in the order in which they were done, as s1.2, and the threads of the operations as submitted."""
    done = execute([TOOL, "dump", trace])
    check(done.returncode == 0, done.stderr)
    names, counts, order, threads = {}, {}, [], []
    for line in done.stdout.splitlines():
        fields = dict(re.findall(r"(\w+)=(\S+)", line))
        if line.startswith("op "):
            counts[fields["stream"]] = counts.get(fields["stream"], 0) + 1
            names[fields["op"]] = f"s{fields['stream']}.{counts[fields['stream']]}"
            threads.append(fields.get("thread", "1"))
        elif line.startswith("op_closed "):
            order.append(names[fields["op"]])
    return order, threads


def traced(name, target, *options):
    trace = WORK / f"{name}.ssan"
    return run(target, "--trace", trace, *options), trace


def interleavings(left, right):
    if not left or not right:
        return [left + right]
    return [left[:1] + rest for rest in interleavings(left[1:], right)] + \
           [right[:1] + rest for rest in interleavings(left, right[1:])]


def every_order():
    right = {"s1.1,s1.2,s1.3,s2.1,s2.2", "s1.1,s1.2,s2.1,s1.3,s2.2", "s1.1,s1.2,s2.1,s2.2,s1.3"}
    orders = interleavings(["s1.1", "s1.2", "s1.3"], ["s2.1", "s2.2"])
    check(len(orders) == 10, "ten orders")
    for number, order in enumerate(orders):
        words = ",".join(order)
        done, trace = traced(f"order{number}", program("five"), "--schedule", f"order:{words}")
        check(executed(trace)[0] == order, f"{words}: executed {executed(trace)[0]}\n{done.about()}")
        check(("right=1024" in done.out) == (words in right), f"{words}: {done.about()}")
        check(done.report["run"]["schedule"] == f"order:{words}" and done.report["run"]["infeasible"] is None, done.about())


def partial_order():
    done, trace = traced("partial", program("five"), "--schedule", "order:s2.2,s1.1")
    check(executed(trace)[0] == ["s2.1", "s2.2", "s1.1", "s1.2", "s1.3"], f"{executed(trace)[0]}")


def not_feasible(name, words, why, target=None, out="right=1024", code=67):
    start = time.monotonic()
    done = run(target or program("five", "-DWAIT", output="five-wait"), "--schedule", words)
    check(done.code == code and done.report["run"]["infeasible"] and why in done.report["run"]["infeasible"], done.about())
    check(not done.report["run"]["complete"] and out in done.out, done.about())
    check(time.monotonic() - start < 30, f"{name}: took {time.monotonic() - start:.0f} s")


def early():
    lines = ["policy lazy", "by t1.11 s2.2"]
    done = run(program("five"), "--schedule", schedule("late", "policy lazy"))
    check(done.out.startswith("late\n"), done.about())
    done = run(program("five"), "--schedule", schedule("early", *lines, "items s1.1 s1.2 s2.1 s2.2"))
    check(done.out == "early\nright=1024\n", done.about())


def together():
    outs = set()
    for seed in range(12):
        done = run(program("five"), "--schedule", schedule(f"torn{seed}", "items s1.1", f"together {seed} s1.2 s2.1"))
        check(done.report["run"]["infeasible"] is None, done.about())
        outs.add(done.out)
        again = run(program("five"), "--schedule", schedule(f"torn{seed}", "items s1.1", f"together {seed} s1.2 s2.1"))
        check(again.out == done.out, f"seed {seed} gave two results\n{done.about()}\n{again.about()}")
    torn = [out for out in outs if not re.search(r"right=(0|1|1024)\n", out)]
    check(torn, f"no torn result in {outs}")


def calls_of_threads():
    target = program("two_threads")
    for number, order in enumerate(("222333", "333222", "232323", "322332", "332223")):
        counts = {"2": 0, "3": 0}
        words = []
        for thread in order:
            counts[thread] += 1
            words.append(f"t{thread}.{counts[thread]}")
        done, trace = traced(f"calls{number}", target, "--schedule", schedule(f"calls{number}", "calls " + " ".join(words)))
        check(executed(trace)[1] == list(order), f"{order}: {executed(trace)[1]}\n{done.about()}")
        check(done.code == 0 and done.report["run"]["infeasible"] is None, done.about())
    done = run(target, "--schedule", schedule("missing", "calls t2.4 t3.1"))
    check(done.code == 67 and "t2.4" in done.report["run"]["infeasible"], done.about())


def ignore():
    source = (SOURCES / "five.cu").read_text(encoding="utf-8").splitlines()
    line = next(n for n, text in enumerate(source, 1) if "cudaStreamWaitEvent" in text)
    target = program("five", "-DWAIT", output="five-wait")
    check(run(target, "--schedule", "lazy").code == 0, "the program is clean as it is")
    done = run(target, "--schedule", "lazy", "--ignore", f"five.cu:{line}")
    check(done.code == 66 and done.report["run"]["altered"] == f"--ignore five.cu:{line}", done.about())
    check("program altered" in done.err, done.about())
    for word, code in (("five.cu:1", 64), ("five.cu", 64), ("none.cu:3", 64), (f"five.cu:{line}x", 64)):
        done = execute([TOOL, "run", "--ignore", word, "--", target])
        check(done.returncode == code and word.split(":")[0] in done.stderr, f"{word}: {done.returncode}\n{done.stderr}")
    done = execute([TOOL, "run", "--ignore", "x.cu:3", "--", "/bin/true"])
    check(done.returncode == 64 and "/bin/true" in done.stderr, f"{done.returncode}\n{done.stderr}")


def serialize():
    source = (SOURCES / "five.cu").read_text(encoding="utf-8").splitlines()
    scale = next(n for n, text in enumerate(source, 1) if text.lstrip().startswith("scale<<<"))
    copy = next(n for n, text in enumerate(source, 1) if "out, dev" in text)
    target = program("five")
    for word in ("all", "s1", f"five.cu:{scale}"):
        done = run(target, "--schedule", "lazy", "--serialize", word)
        check(done.code == 0 and "right=1024" in done.out and word in done.report["run"]["altered"], f"{word}: {done.about()}")
    done = run(target, "--schedule", "lazy", "--serialize", f"five.cu:{copy}")
    check(done.code == 66, done.about())


def bad_files():
    target = program("five")
    for name, lines, why in (("twice", ["items s1.1 s1.1"], "twice"), ("word", ["item s1.1"], "unknown word"),
                             ("item", ["items s1"], "s1"), ("call", ["calls t0.1"], "t0.1"), ("policy", ["policy fast"], "fast"),
                             ("by", ["by t1.1"], "need a call"), ("together", ["together 7 s1.1"], "two items"),
                             ("place", ["ignore five 20 10"], "offsets"), ("huge", ["items s1.99999999999"], "s1.99999999999")):
        words = schedule(f"bad-{name}", *lines)
        done = execute([TOOL, "run", "--schedule", words, "--", target])
        check(done.returncode == 65 and ":2: " in done.stderr and why in done.stderr, f"{name}: {done.returncode}\n{done.stderr}")
    for words in ("order:", "order:s1.1,", "order:s1.1,s1.1", "order:1.1", "order:s2.2,s1.1,s2.1", "order:a1.2,a1.1", "file:", "random:x", "fast"):
        done = execute([TOOL, "run", "--schedule", words, "--", target])
        check(done.returncode in (64, 65) and done.stderr, f"{words}: {done.returncode}\n{done.stderr}")


def outside(args):
    start = time.monotonic()
    done = run(program("outside"), "--schedule", "order:s1.1,s2.1,s1.2", args=args)
    check(done.code in (66, 67) and "s2.1" in (done.report["run"]["infeasible"] or "") and done.out == "done\n", done.about())
    check(time.monotonic() - start < 60, f"took {time.monotonic() - start:.0f} s")
    check("streamsan: the schedule waits for s2.1, which has not come so far; it is given up after 10 s" in done.err, done.about())


def against_an_edge_outside():
    """What can't be is known when it is submitted, also where the host then waits without a call."""
    start = time.monotonic()
    done = run(program("outside"), "--schedule", "order:s3.2,s1.1", args=["pw"])
    check((done.report["run"]["infeasible"] or "") == "s3.2 is listed before s1.1, which it needs in every schedule", done.about())
    check(done.out == "done\n" and time.monotonic() - start < 8, f"took {time.monotonic() - start:.0f} s\n{done.about()}")


def after():
    target = program("gives_up")
    for name, lines, out in (("lazy", [], "copy=0\n"), ("after", ["after t1.7q2 s1.3"], "copy=1\n"),
                             ("listed", ["items s1.1 s1.2 s1.3", "after t1.7q2 s1.3"], "copy=1\n"),
                             ("first", ["after t1.7q1 s1.3"], "copy=0\n")):
        done = run(target, "--schedule", schedule(f"gives-up-{name}", *lines))
        check(done.report["run"]["infeasible"] is None, done.about())
        check(done.out in (out, "copy=5\n" if out == "copy=1\n" else out), f"{name}: {done.about()}")
    done = run(target, "--schedule", schedule("gives-up-never", "after t1.99 s1.3"))
    check(done.code in (66, 67) and "s1.3" in (done.report["run"]["infeasible"] or ""), done.about())


def accesses_of_the_host():
    """a1.1 in a list: what stands before it is done when the host makes that access, what stands behind it is not begun."""
    target = program("host_reads")
    for words, out in (("lazy", "0 0\n"), ("order:a1.1,s1.1", "0 0\n"), ("order:s1.1,a1.1,s2.1", "5 0\n"), ("order:s2.1,a1.1,s1.1,a1.2", "0 6\n"),
                       ("order:s1.1,s2.1,a1.1", "5 6\n"), (schedule("accesses", "items s2.1 a1.2 s1.1"), "0 6\n")):
        done = run(target, "--schedule", words)
        check(done.out == out and done.report["run"]["infeasible"] is None, f"{words}: {done.about()}")
    for words, why in (("order:a1.3,s1.1", "a1.3 is due and was not made, while"),
                       ("order:a9.1", "a9.1 was never made"), ("order:s1.2,a1.1", "s1.2 is due and was not submitted")):
        done = run(target, "--schedule", words)
        check(why in (done.report["run"]["infeasible"] or ""), f"{words}: {done.about()}")


def never_there():
    for words, why in (("order:s1.99", "s1.99"), ("order:s99.1", "s99.1"), (schedule("never-call", "calls t7.1"), "t7.1"),
                       (schedule("never-by", "by t1.99 s8.1"), "s8.1")):
        done = run(program("five", "-DWAIT", output="five-wait"), "--schedule", words)
        check(done.code == 67 and why in (done.report["run"]["infeasible"] or ""), f"{words}: {done.about()}")
    done = run(program("five", "-DWAIT", output="five-wait"), "--serialize", "s77")
    check("nothing was submitted to the streams" in done.err, done.about())


def sent_signals():
    target = program("signals")
    for number in (11, 7, 6, 15):
        for way in "rk":
            for more in ([], ["handler"]):
                words = [str(number), way, *more]
                alone = execute([target, *words])
                want = (f"caught {number}\nwent on\n", 0) if more else ("", -number)
                check((alone.stdout, alone.returncode) == want, f"alone {words}: {alone.returncode} {alone.stdout}")
                done = run(target, args=words)
                check(done.out == want[0] and done.report["run"]["exit"]["signal"] == (None if more else number), f"{words}: {done.about()}")


def own_threads():
    done = run(program("own_threads"))
    check(done.out == "others=0 host function=1 self=1\n", done.about())


def main():
    tally = Tally("schedules")
    tally.case("every order", every_order)
    tally.case("partial order", partial_order)
    for name, words, why in (("submitted later", "order:s1.7,s2.1", "was not submitted"),
                             ("against an edge", "order:s2.1,s1.1,s1.2,s1.3", "is listed before s1.")):
        tally.case(f"not feasible: {name}", not_feasible, name, words, why)
    tally.case("not feasible: a loop that polls", lambda: not_feasible(
        "polls", "order:s2.2,s1.1", "s2.2", program("queries"), "done"))
    tally.case("not feasible: a kernel that spins", lambda: not_feasible(
        "spins", "order:s2.1,s3.1", "s2.1", program("spin"), "done", code=66))
    for args in ([], ["p"], ["ps"], ["pa"]):
        tally.case(f"not feasible: the host waits outside {' '.join(args)}", outside, args)
    tally.case("not feasible: against an edge, and the host waits outside", against_an_edge_outside)
    tally.case("after", after)
    tally.case("accesses of the host", accesses_of_the_host)
    tally.case("never there", never_there)
    tally.case("signals that are sent", sent_signals)
    tally.case("threads of ours take no signals", own_threads)
    tally.case("early", early)
    tally.case("together", together)
    tally.case("calls of threads", calls_of_threads)
    tally.case("ignore", ignore)
    tally.case("serialize", serialize)
    tally.case("bad files", bad_files)
    return tally.finish(harness.only_argument())


if __name__ == "__main__":
    sys.exit(main())
