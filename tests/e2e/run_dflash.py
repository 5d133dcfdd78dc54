#!/usr/bin/python3
"""examples/dflash: the safe variant trains as the baseline does, bit for bit; the unsafe one is reported and shown.

run_dflash.py [--all] [part of a name]. --all: every schedule, and more targets and drafters.
"""
import pathlib
import re
import sys

from harness import ROOT, TOOL, Tally, build_once, check, execute, lock_of, only_argument, run, schedules, wants_all, work_folder

WORK = work_folder("dflash")
# Devices, targets, drafters, batches.
SETUPS = ((1, 1, 1, 12), (3, 2, 3, 16))
MORE_SETUPS = ((2, 1, 1, 28), (4, 3, 1, 24), (2, 1, 3, 24), (1, 2, 2, 24), (4, 2, 2, 24), (3, 8, 8, 40))
BASELINES = {}
LOSS = re.compile(r"^batch=\d+ drafter=\d+ loss=(\S+)$", re.MULTILINE)


def program():
    return build_once(pathlib.Path(WORK.name) / "dflash", "-g", *sorted((ROOT / "examples/dflash").glob("*.cu")), "-lstreamsan-pipeline")


def words(variant, setup):
    """Options and arguments."""
    return ("--device", f"virtual:{setup[0]}"), (variant, *map(str, setup[1:]))


def losses_fall(text):
    losses = [float(loss) for loss in LOSS.findall(text)]
    check(losses and all(loss == loss and loss < 100 for loss in losses), text)
    quarter = max(1, len(losses) // 4)
    check(sum(losses[-quarter:]) < sum(losses[:quarter]), text)


def baseline(setup):
    with lock_of(setup):
        if setup not in BASELINES:
            options, args = words("baseline", setup)
            result = run(program(), *options, args=args)
            check(result.code == 0 and not result.findings(), result.about())
            losses_fall(result.out)
            BASELINES[setup] = result.out
        return BASELINES[setup]


def safe(setup, schedule):
    wanted = baseline(setup)
    options, args = words("safe", setup)
    result = run(program(), *options, "--threads", "strict", "--schedule", schedule, args=args)
    check(result.code == 0 and not result.findings(), result.about())
    check(result.out == wanted, f"other losses than the baseline's\n{wanted}\n{result.about()}")


def unsafe(devices, schedule):
    options, args = words("unsafe", (devices, 1, 1, 12))
    result = run(program(), *options, "--threads", "strict", "--schedule", schedule, args=args)
    rules = {finding["rule"] for finding in result.findings(("error",))}
    check(result.code == 66 and rules & {"SSAN-RAW", "SSAN-WAR"}, result.about())
    check(all("pack" in finding["message"] for finding in result.findings(("error",))), result.about())


def witness():
    options, args = words("unsafe", (1, 1, 1, 8))
    result = run(program(), *options, "--threads", "strict", args=args, verb="witness")
    shown = [f for f in result.findings(("error",)) if f["witness"]["kind"] == "shown"]
    check(result.code == 66 and shown, result.about())
    replayed = execute([TOOL, *shown[0]["witness"]["replay"][1:]])
    right = baseline((1, 1, 1, 8))
    check(shown[0]["witness"]["output"] or shown[0]["witness"]["effect"], f"{shown[0]['witness']}")
    check(replayed.returncode == 66 and (replayed.stdout != right or shown[0]["witness"]["effect"]), replayed.stdout)


def usage():
    for wrong in ((), ("fast",), ("safe", "0"), ("safe", "1", "9"), ("safe", "1", "1", "x"), ("safe", "1", "1", "4", "5")):
        done = execute([program(), *wrong])
        check(done.returncode == 64 and done.stderr and not done.stdout, f"{wrong}: exit {done.returncode}\n{done.stderr}")


def main():
    tally = Tally("dflash")
    for setup in (*SETUPS, *(MORE_SETUPS if wants_all() else ())):
        for schedule in schedules(("eager", "lazy", "random:1")):
            tally.case(f"safe {setup} {schedule}", safe, setup, schedule)
    for schedule in schedules(("eager", "lazy", "random:1")):
        tally.case(f"unsafe {schedule}", unsafe, 1, schedule)
        tally.case(f"unsafe, two devices, {schedule}", unsafe, 2, schedule)
    tally.case("witness", witness)
    tally.case("usage", usage)
    return tally.finish(only_argument())


if __name__ == "__main__":
    sys.exit(main())
