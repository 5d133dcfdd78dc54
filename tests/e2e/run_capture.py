#!/usr/bin/python3
"""The injected library on the fake driver: every scenario of tests/capture/program, run by the tool, against tests/capture/expected.

What is compared: the program's output and exit code with and without streamsan, the tool's exit code, the findings, and the
whole trace in its listing, with addresses told as block + offset and process ids, times and places left out. The fake driver
tells what a real one tells (driver_order.txt). --update writes what was seen to expected/, to be reviewed as prose."""
import os
import pathlib
import re
import shutil
import sys
import tempfile

import harness
from harness import ROOT, Skip, Tally, check, execute, run, work_folder

HERE = ROOT / "tests/capture"
BUILD = harness.TOOL.parent.parent
PROGRAM = BUILD / "bin/fake_program"
DRIVER = BUILD / "tests/capture/fake/libcuda.so.1"
ENVIRONMENT = {"STREAMSAN_TEST_GPU": "1", "STREAMSAN_SANITIZER": str(DRIVER)}
OPTIONS = ("--device", "gpu", "--accesses", "off")
EXACT_OPTIONS = ("--device", "gpu")
UPDATE = "--update" in sys.argv

# What a scenario needs beside the usual.
EXTRA = {"devices": {"FAKE_DEVICES": "2"}}
MORE_OPTIONS = {"window": ("--window", "profiler"), "held": ("--gate", "s1.1:s2.1"), "held_observed": ("--gate", "s1.1:s2.1"),
                "held_for_nothing": ("--gate", "s1.1:s2.2"), "held_by_function": ("--gate", "s1.1:s2.1"),
                "ended_streams": ("--device-memory", "4M"), "begun_captures": ("--device-memory", "4M")}
# Their traces differ from run to run: only the verdict is compared, and what each case asks for below.
UNORDERED = {"many_threads", "forked_before", "executed", "no_operation", "many_launches", "ended_streams", "begun_captures", "ended_by_all"}
# Those of program/exact.c, with device patches; what these tell may come at any time.
EXACT = {"window", "accesses", "large", "disjoint", "overlapping", "atomics", "unseen", "many_launches", "unfinished", "held_observed", "ended_streams", "begun_captures", "held_by_function", "dependent", "ended_by_all"}
SIGNALLED = {"killed": -9, "signalled": -15}


def scenarios():
    return re.findall(r"^SCENARIO\((\w+)\)", (HERE / "program/scenarios.def").read_text(encoding="utf-8"), re.M)


def normalised(listing):
    """The listing without what differs from run to run."""
    blocks, unknown, rows = [], [], []

    def place(match):
        address = int(match[0], 16)
        for name, start, size in reversed(blocks):
            if start <= address < start + size:
                return name if address == start else f"{name}+{address - start}"
        if address not in unknown:
            unknown.append(address)
        return f"host{unknown.index(address) + 1}"

    for line in listing.splitlines():
        if re.match(r"(module|site|line|frame|streamsan-listing)\b", line):
            continue
        line = re.sub(r"  # \S+?:\d+: ", "  # ", line)
        line = re.sub(r" (site|pid|parent_pid|blocked_ns)=\d+", "", line)
        line = re.sub(r' (command|written_by|schedule|observed|altered)="[^"]*"', "", line)
        born = re.match(r"alloc alloc=(\d+) .*address=(0x[0-9a-f]+) size=(\d+)", line)
        if born:
            blocks.append((f"A{born[1]}", int(born[2], 16), int(born[3])))
        dead = re.match(r"free alloc=(\d+)", line)
        if dead:
            blocks[:] = [b for b in blocks if b[0] != f"A{dead[1]}"]
        line = re.sub(r"(object=(?:pointer|usage) id=)(\d+)", lambda m: m[1] + hex(int(m[2])), line)
        rows.append(re.sub(r"0x[0-9a-f]+", place, line))
    return rows


def late_last(rows):
    """Accesses and ends of kernels behind everything else, by operation."""
    late = [row for row in rows if re.match(r"(set|set_leaf|op_closed|lost) ", row)]
    by_op = sorted(late, key=lambda row: (int(re.search(r"op=(\d+)", row)[1]), row.startswith("op_closed")))
    return [row for row in rows if row not in late] + by_op


def seen(scenario, folder, env):
    trace = pathlib.Path(folder) / "trace"
    options = EXACT_OPTIONS if scenario in EXACT else OPTIONS
    result = run(PROGRAM, *options, *MORE_OPTIONS.get(scenario, ()), "--trace", trace, args=(scenario,), env={**ENVIRONMENT, **EXTRA.get(scenario, {}), **env})
    rows = [f"exit {result.code}", result.verdict_line.split(";")[0]]
    if result.report:
        rows += [f"{f['severity']} {f['rule']}" for f in result.report["findings"]]
        rows += [f"not modelled: {c['call'] if isinstance(c, dict) else c}" for c in result.report["run"].get("unsupported_calls", [])]
    if scenario not in UNORDERED:
        listing = execute([harness.TOOL, "dump", trace])
        check(listing.returncode == (67 if scenario in SIGNALLED else 0), f"dump: {listing.returncode} {listing.stderr}")
        told = normalised(listing.stdout)
        rows += ["", *(late_last(told) if scenario in EXACT else told)]
    return result, rows


def one(scenario, layout):
    env = {"FAKE_LAYOUT": layout}
    bare = execute([PROGRAM, scenario], env={**EXTRA.get(scenario, {}), **env})
    check(bare.returncode == SIGNALLED.get(scenario, bare.returncode), f"the program alone: {bare.returncode} {bare.stderr}")
    check(bare.returncode < 3 or scenario in {"exit_code", "exit_at_once", "executed", "fault"}, f"the program alone ends with {bare.returncode}")
    with tempfile.TemporaryDirectory(dir=os.environ["TMPDIR"]) as folder:
        result, rows = seen(scenario, folder, env)
    check(result.out == bare.stdout, f"its output changed:\n{result.out}")
    expected = HERE / f"expected/{scenario}.txt"
    text = "\n".join(rows) + "\n"
    if UPDATE:
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(text, encoding="utf-8")
        return
    want = expected.read_text(encoding="utf-8").splitlines() if expected.exists() else []
    for number in range(max(len(want), len(rows))):
        a, b = (lines[number] if number < len(lines) else "(nothing more)" for lines in (want, rows))
        check(a == b, f"line {number + 1} of expected/{scenario}.txt\n  expected {a}\n  seen     {b}")


def ready():
    for path in (BUILD / "bin/streamsan", PROGRAM, DRIVER, BUILD / "lib/streamsan/capture.so"):
        if not path.exists():
            raise Skip(f"{path.relative_to(BUILD)} is not built")


def install(folder):
    """The tool with device patches, which only nvcc makes: the fake driver has them built in and asks for a file alone."""
    place = pathlib.Path(folder) / "installed"
    for part in ("bin/streamsan", "lib/streamsan/capture.so"):
        (place / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(BUILD / part, place / part)
    for patches in ("patches.fatbin", "gate.fatbin"):
        (place / "lib/streamsan" / patches).write_text("built into the fake driver\n", encoding="utf-8")
    harness.TOOL = place / "bin/streamsan"


def on_the_fake(scenario, *options, **env):
    """The program under the tool with more environment; its output must be what it is alone."""
    words = env.pop("words", [PROGRAM, scenario])
    result = run(words, *OPTIONS, *options, env={**ENVIRONMENT, **env})
    bare = execute(words, env=env)
    check(result.out == bare.stdout, f"its output changed:\n{result.about()}")
    check(result.report["run"]["exit"]["code"] == bare.returncode, f"its exit code changed: {bare.returncode} {result.about()}")
    return result


def operations(result):
    return result.report["summary"]["totals"]["operations"]


def incomplete(result, *texts):
    """An honest verdict, told once on stderr in words that tell the user what to do."""
    check(result.code == 67 and result.verdict == "incomplete", result.about())
    for text in texts:
        check(text in result.err, f"no word of '{text}': {result.about()}")
        told = [line for line in result.err.splitlines() if line.startswith("streamsan: ") and text in line and "incomplete:" not in line]
        check(len(told) == 1, f"told {len(told)} times: {text}: {result.about()}")


def another_subscriber():
    incomplete(on_the_fake("exit_code", FAKE_SUBSCRIBE="10"), "only one can at a time")


def not_compatible():
    incomplete(on_the_fake("exit_code", FAKE_SUBSCRIBE="12"), "Compute Sanitizer API refuses")


def wrong_library():
    """A library that is none of the sanitizer's: the program runs on, unseen."""
    incomplete(on_the_fake("exit_code", STREAMSAN_SANITIZER="/lib/x86_64-linux-gnu/libm.so.6"), "no sanitizerGetResultString")


def no_library():
    result = run(PROGRAM, *OPTIONS, args=("exit_code",), env={**ENVIRONMENT, "STREAMSAN_SANITIZER": "/nonexistent.so"})
    check(result.code == 69 and "STREAMSAN_SANITIZER" in result.err and not result.out, result.about())


def launches_block():
    incomplete(on_the_fake("exit_code", CUDA_LAUNCH_BLOCKING="1"), "CUDA_LAUNCH_BLOCKING is set")
    check("CUDA_LAUNCH_BLOCKING" not in on_the_fake("exit_code", CUDA_LAUNCH_BLOCKING="0").err, "told although it is 0")


def through_a_shell():
    """Programs that are none of CUDA's get the library too, and it does nothing to them."""
    result = on_the_fake("", words=["/bin/sh", "-c", f"echo before; {PROGRAM} exit_code; echo $?; python3 -c 'print(1 + 1)'; exit 3"])
    check(result.out == "before\nseven\n7\n2\n" and operations(result) == 1, result.about())


def both_processes():
    for scenario in ("forked_before", "executed"):
        result = on_the_fake(scenario)
        check(operations(result) == 2, f"{scenario}: {result.about()}")


def preloaded_already():
    """What was preloaded before stays so, behind ours."""
    result = on_the_fake("exit_code", LD_PRELOAD="/lib/x86_64-linux-gnu/libm.so.6")
    check(operations(result) == 1, result.about())


def killed_behind_every_record():
    """A process that ends anywhere leaves a trace that can be read, and an honest verdict."""
    for record in (1, 2, 3, 5, 8, 13, 21, 34):
        result = run(PROGRAM, *OPTIONS, args=("ordered",), env={**ENVIRONMENT, "STREAMSAN_TEST_KILL_AFTER": str(record)})
        check(result.code == 67 and "signal 9" in result.err, f"behind record {record}: {result.about()}")


def all_threads():
    result = on_the_fake("many_threads")
    check(operations(result) == 4000, result.about())
    check(not result.findings() and not any(result.report["run"]["lost"].values()), result.about())


def many_launches():
    """More than there are records of launches at once, by two threads."""
    result = run(PROGRAM, *EXACT_OPTIONS, args=("many_launches",), env=ENVIRONMENT)
    check(result.code == 0 and operations(result) == 2000, result.about())


def little_device_memory():
    """Few records and pages: launches wait for room, and none is lost."""
    result = run(PROGRAM, *EXACT_OPTIONS, "--device-memory", "4M", args=("many_launches",), env=ENVIRONMENT)
    check(result.code == 0 and operations(result) == 2000, result.about())


def by_arguments():
    """Known by their arguments only, kernels may conflict: warnings, and errors only where the other side surely writes."""
    result = run(PROGRAM, *OPTIONS[:2], "--accesses", "footprint", args=("overlapping",), env=ENVIRONMENT)
    check(result.code == 0 and [f["sureness"] for f in result.findings()] == ["possible"], result.about())
    check(result.report["run"]["scope"]["accesses"] == "footprint" and result.report["run"]["complete"], result.about())
    result = run(PROGRAM, *OPTIONS[:2], "--accesses", "footprint", args=("unseen",), env=ENVIRONMENT)
    check(result.code == 66 and [f["sureness"] for f in result.findings()] == ["footprint"], result.about())


def kernels_left_out():
    result = run(PROGRAM, *EXACT_OPTIONS, "--kernel", "other*", args=("overlapping",), env=ENVIRONMENT)
    check(result.code == 0 and not result.findings(), f"not observed, by the user's wish: {result.about()}")
    check("none of 2 launches was observed" in result.err, f"a wish that nothing fits is told: {result.about()}")
    result = run(PROGRAM, *EXACT_OPTIONS, "--window", "nvtx:never", args=("overlapping",), env=ENVIRONMENT)
    check(result.code == 0 and "window was never open" in result.err, result.about())
    result = run(PROGRAM, *EXACT_OPTIONS, "--kernel", "sc*", args=("overlapping",), env=ENVIRONMENT)
    check(result.code == 66 and "launches was observed" not in result.err, result.about())


def patches_missing():
    """Exact accesses that can't be had are told, and the verdict does not speak of them."""
    patches = harness.TOOL.parent.parent / "lib/streamsan/patches.fatbin"
    with tempfile.TemporaryDirectory(dir=os.environ["TMPDIR"]) as folder:
        place = pathlib.Path(folder)
        shutil.copytree(patches.parent.parent.parent, place, dirs_exist_ok=True)
        (place / "lib/streamsan/patches.fatbin").unlink()
        done = execute([place / "bin/streamsan", "run", *EXACT_OPTIONS, "--accesses", "exact", "--", PROGRAM, "overlapping"], env=ENVIRONMENT)
    check(done.returncode == 67 and "device patches are not built (make capture)" in done.stderr, f"{done.returncode}: {done.stderr}")
    check("accesses exact" not in done.stderr, done.stderr)


def patches_of_another_build():
    result = run(PROGRAM, *EXACT_OPTIONS, args=("overlapping",), env={**ENVIRONMENT, "FAKE_STRANGE_PATCHES": "1"})
    incomplete(result, "device patches are of another build (make capture)")
    check(result.report["run"]["lost"]["accesses"] > 0, result.about())
    result = run(PROGRAM, *OPTIONS, "--gate", "s1.1:s2.1", args=("held",), env={**ENVIRONMENT, "FAKE_STRANGE_PATCHES": "1"})
    check(result.code == 67 and "gate.fatbin (make capture) failed" in result.err, result.about())


def cases(tally):
    for function in (another_subscriber, not_compatible, wrong_library, no_library, launches_block, through_a_shell, both_processes,
                     preloaded_already, killed_behind_every_record, all_threads, many_launches, little_device_memory, by_arguments, kernels_left_out,
                     patches_missing, patches_of_another_build):
        tally.case(function.__name__.replace("_", " "), lambda function=function: (ready(), function()))


def main():
    tally = Tally("capture")

    def case(scenario, layout):
        ready()
        one(scenario, layout)

    for scenario in scenarios():
        for layout in ("old",) if UPDATE else ("old", "green"):
            tally.case(f"{scenario} {layout}", case, scenario, layout)
    if not UPDATE:
        cases(tally)
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    with work_folder("capture") as folder:
        if (BUILD / "lib/streamsan/capture.so").exists():
            install(folder)
        return tally.finish(words[0] if words else None)


if __name__ == "__main__":
    sys.exit(main())
