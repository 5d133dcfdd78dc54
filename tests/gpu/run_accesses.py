#!/usr/bin/python3
"""The bytes that kernels access, against what is known of them, and what that costs (run_accesses.py [part of a name]).

One program launches some ninety kernels of all shapes (programs/access_sets.cu) and writes down which bytes each reads, writes and
updates atomically; every set of the trace must be the same, byte for byte, in each of the settings below.

Another launches far more of a kernel with scattered accesses, in a row, than there is memory to record: none is lost.

With --device virtual the same of what that device knows, with few threads: the program's own expectations hold.

  --bench       behind that, the four programs of tests/bench/gpu against memcheck, with a short table: all in one call of nine
                minutes at most; the programs in FOLDER/bench of --built, or built
Other options: devices.py.
"""
import bisect
import pathlib
import re
import subprocess
import sys

import devices
from devices import OPTIONS, ROOT, TIMEOUT_S, execute, needs_gpu
from harness import TOOL, Tally, check, work_folder

WORK = work_folder("accesses")
PROGRAM, PLAIN, SCATTERED = "access_sets", "access_sets_plain", "scattered"
FEW = ("200",)  # threads of a launch on the virtual device
BENCH_S = 330  # no process of the benchmark starts behind that
SETTINGS = {  # options of the run, and how many kernels must have been observed wholly: all, or as many as there was memory for
    "as it is": ((), True),
    "little memory": (("--device-memory", "64M"), True),
    "hardly any memory": (("--device-memory", "4M"), False),
}
NUMBER = r"(0x[0-9a-f]+|\d+)"
RUN = re.compile(rf"{NUMBER}\+(\d+)(?:\*(\d+)x(\d+))?")


def merged(intervals):
    """Sorted, those that touch or overlap made one."""
    done = []
    for begin, end in sorted(intervals):
        if done and begin <= done[-1][1]:
            done[-1][1] = max(done[-1][1], end)
        else:
            done.append([begin, end])
    return done


def expected(path):
    """[(name, {word: intervals})] in the order of the launches."""
    launches = []
    for line in path.read_text(encoding="ascii").splitlines():
        word, *rest = line.split()
        if word == "launch":
            launches.append((rest[0], {}))
        else:
            launches[-1][1].setdefault(word, []).append([int(rest[0]), int(rest[1])])
    return launches


def of_runs(text):
    for begin, length, stride, count in RUN.findall(text):
        begin, length = int(begin, 0), int(length)
        for i in range(int(count or 1)):
            yield [begin + i * int(stride or 0), begin + i * int(stride or 0) + length]


def of_bits(address, unit, text):
    for i, word in enumerate(text.split(",")):
        bits, at = int(word, 0), address + 64 * unit * i
        while bits:
            skip = (bits & -bits).bit_length() - 1
            bits >>= skip
            length = (~bits & bits + 1).bit_length() - 1
            yield [at + unit * skip, at + unit * (skip + length)]
            at, bits = at + unit * (skip + length), bits >> length


def seen(listing):
    """[(name, {word: intervals})] of the kernels of a listing, in the order of their operations, and those that lost accesses."""
    kernels, lost = {}, set()
    for row in listing:
        op = re.search(r"\bop=(\d+)", row)
        if row.startswith("op ") and " kind=kernel " in row:
            kernels[op[1]] = (re.search(r'name="([^"]*)"', row)[1], {})
        elif re.match(r"set(_leaf)? ", row) and op[1] in kernels:
            word = "may" if "sureness=may" in row else re.search(r"access=(\w+)", row)[1]
            into = kernels[op[1]][1].setdefault(word, [])
            if row.startswith("set "):
                into.extend(of_runs(re.search(r"runs=\[([^\]]*)\]", row)[1]))
            else:
                unit = re.search(r"unit_log2=(\d+)", row)
                into.extend(of_bits(int(re.search(rf"address={NUMBER}", row)[1], 0), 1 << int(unit[1] if unit else 0),
                                    re.search(r"bits=\[([^\]]*)\]", row)[1]))
        elif row.startswith("lost ") and op:
            lost.add(op[1])
    return [(*kernel, op in lost) for op, kernel in kernels.items()]


def first_difference(want, got):
    """Where two lists of intervals differ, in words."""
    for a, b in zip([*want, None], [*got, None]):
        if a != b:
            return " - ".join(f"{word} {hex(i[0])}+{i[1] - i[0]}" if i else f"{word} nothing" for word, i in (("expected", a), ("seen", b)))
    return "none"


def is_inside(parts, whole):
    begins = [begin for begin, _ in whole]
    for begin, end in parts:
        at = bisect.bisect_right(begins, begin) - 1
        if at < 0 or end > whole[at][1]:
            return False
    return True


def compare(number, want, got):
    """One launch: every byte, or, where the run says that some are lost, none that was not accessed."""
    (name, sets), (kernel, there, is_lost) = want, got
    check(name in kernel, f"launch {number} is {kernel}, not {name}")
    for word in ("read", "write", "atomic", "may"):
        a, b = merged(sets.get(word, [])), merged(there.get(word, []))
        if is_lost and word != "may":
            check(is_inside(b, a), f"launch {number}, {kernel}: more {word} than it does")
        else:
            check(a == b, f"launch {number}, {kernel}, {word}: {len(a)} intervals expected, {len(b)} seen: {first_difference(a, b)}")


def settings(name):
    is_virtual = OPTIONS.device == "virtual"
    if not is_virtual:
        needs_gpu()
    words, is_whole = SETTINGS[name]
    folder = pathlib.Path(WORK.name)
    facts, trace = folder / f"{name}.txt", folder / f"{name}.ssan"
    program = PROGRAMS.get(OPTIONS.device, PLAIN if is_virtual else PROGRAM)
    result = devices.run(OPTIONS.device, program, *words, "--trace", trace, args=(facts, *FEW) if is_virtual else (facts,), name=f"accesses-{name}")
    check(re.fullmatch(r"\d+ launches\n", result.out), result.about())
    want, got = expected(facts), seen(execute([TOOL, "dump", trace], timeout=TIMEOUT_S).stdout.splitlines())
    check(len(want) == len(got), f"{len(want)} launches, {len(got)} kernels in the trace\n{result.about()}")
    for number, (a, b) in enumerate(zip(want, got), 1):
        compare(number, a, b)
    lost = [kernel for kernel, _, is_lost in got if is_lost]
    check(not (is_whole and lost), f"accesses of {len(lost)} launches are lost: {lost[:5]}\n{result.about()}")
    print(f"{name}: {len(got)} launches, {len(got) - len(lost)} of them whole", flush=True)


def scattered():
    """Launches that need more records than there are, in a row: the next one waits, and nothing is lost."""
    needs_gpu()
    result = devices.run("gpu", PROGRAMS.get("gpu", SCATTERED), name="accesses-scattered")
    check(result.out == "2000\n", result.about())
    check(result.verdict == "clean", result.about())
    print(f"scattered: {result.verdict_line}", flush=True)


def bench():
    """axpy, gather, matmul and empty launches against memcheck."""
    needs_gpu()
    script = ROOT / "tests/bench/gpu/bench_gpu.py"
    built = ["--built", OPTIONS.built / "bench"] if OPTIONS.built else []
    done = subprocess.run([sys.executable, script, *built, "--no-torch", "--modes", "native,empty-patch,exact,memcheck", "--limit", str(BENCH_S)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=BENCH_S + 150)
    print(done.stdout, flush=True)
    check(done.returncode == 0 and "exact / memcheck" in done.stdout, "the benchmark has no figures")


def main():
    global PROGRAMS
    devices.options(__doc__.split("\n", 1)[0], virtual=True, bench="behind that, the programs of tests/bench/gpu against memcheck")
    source, is_virtual = ROOT / "tests/gpu/programs/access_sets.cu", OPTIONS.device == "virtual"
    PROGRAMS = devices.Programs(WORK.name)
    PROGRAMS.add(*((PLAIN, source, "-DACCESS_SETS_PLAIN") if is_virtual else (PROGRAM, source)))
    if not is_virtual:
        PROGRAMS.add(SCATTERED, ROOT / "tests/gpu/programs/scattered.cu")
    if OPTIONS.build:
        return PROGRAMS.build_all((OPTIONS.device,))
    tally = Tally("gpu-accesses")
    for name in list(SETTINGS)[: 1 if is_virtual else None]:
        tally.case(f"sets, {name}", settings, name)
    if not is_virtual:
        tally.case("scattered launches in a row", scattered)
    if OPTIONS.bench and not is_virtual:
        tally.case("bench", bench)
    return tally.finish(OPTIONS.part, 1)


if __name__ == "__main__":
    sys.exit(main())
