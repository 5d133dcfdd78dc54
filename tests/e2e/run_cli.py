#!/usr/bin/env python3
"""The command line: exit codes, streams, signals, children, options, listings (run_cli.py [part of a name])."""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import harness
from harness import ROOT, TOOL, Tally, build_once, check, execute, started, work_folder

PROGRAMS = ROOT / "tests/e2e/programs"
FOLDER = work_folder("cli")
WORK = pathlib.Path(FOLDER.name)
VERDICT = re.compile(r"^streamsan: (clean|errors|incomplete): ")

RACY = """streamsan-listing 1
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


def last_line(text):
    lines = text.splitlines()
    return lines[-1] if lines else ""


def last(done):
    return last_line(done.stderr)


def script(name, text):
    path = WORK / name
    path.write_text("#!/bin/sh\n" + text, encoding="utf-8")
    path.chmod(0o755)
    return path


def program(name, *words):
    path = WORK / "-".join([name, *(w.strip("-") for w in words)])
    return build_once(path, PROGRAMS / f"{name}.cu", *words)


def racy():
    return program("litmus_l01_two_streams", "-DA")


def clean():
    return program("litmus_l01_two_streams", "-DB")


def expect(words, code, *parts, **how):
    done = execute([TOOL, *words], **how)
    check(done.returncode == code, f"{words}: exit {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    for part in parts:
        check(part in done.stdout + done.stderr, f"{words}: no word of {part!r}\n{done.stdout}{done.stderr}")
    return done


def help_and_version():
    done = expect(["--version"], 0)
    check(re.match(r"streamsan \d+\.\d+\.\d+\n", done.stdout) and not done.stderr, f"--version: {done.stdout}{done.stderr}")
    check("Usage: streamsan" in expect(["--help"], 0).stdout, "--help")
    for verb in ("cc", "run", "check", "dump", "doctor"):
        done = expect([verb, "--help"], 0)
        check("sage" in done.stdout and not done.stderr, f"{verb} --help: {done.stdout}{done.stderr}")
        check(expect(["help", verb], 0).stdout == done.stdout, f"help {verb} differs")
    check("stderr" not in expect(["dump", "--help"], 0).stdout, "dump --help speaks of other verbs")


def usage():
    expect([], 64, "a verb is missing")
    expect(["frobnicate"], 64, "frobnicate")
    expect(["run"], 64, "a program is missing")
    expect(["check"], 64, "a trace is missing")
    expect(["dump"], 64, "one trace")
    done = expect(["run", "--frobnicate", "--", "true"], 64, "frobnicate")
    check("Try 'streamsan run --help'." in done.stderr and "--usage" not in done.stderr, done.stderr)
    expect(["run", "--schedule", "wrong", "--", "true"], 64, "eager, lazy, random:SEED")
    expect(["run", "--schedule", "order:s1", "--", "true"], 64, "an item is written as s1.2")
    bad = WORK / "bad.schedule"
    bad.write_text("streamsan-schedule 1\nitems s1.1\nitem s2.1\n")
    done = expect(["run", "--schedule", f"file:{bad}", "--", "true"], 65, "bad.schedule:3: unknown word 'item'")
    check("--help" not in done.stderr, done.stderr)
    expect(["run", "--schedule", f"file:{WORK / 'not-there'}", "--", "true"], 65, "not-there")
    expect(["run", "--format", "json", "--output", "-", "--", "true"], 64, "--output takes a file")
    expect(["help", "frobnicate"], 64, "frobnicate")
    expect(["check", WORK / "not-there", WORK / "nor-there"], 65, "not-there", "nor-there")
    expect(["check", "--trace", "x", "y"], 64, "--trace")
    expect(["doctor", "x"], 64)


def later_parts():
    expect(["report"], 64, "not there yet")
    for words in (["--format", "sarif"], ["--host", "light"]):
        expect(["run", *words, "--", "true"], 64, "not there yet")


def no_operation():
    for words, code in ((["true"], 67), (["sh", "-c", "exit 3"], 67), ([script("plain.sh", "echo out; echo err >&2; exit 5\n")], 67)):
        done = expect(["run", "--", *words], code, "no CUDA operation was seen")
        check(last(done).startswith("streamsan: incomplete: "), last(done))
    check(done.stdout == "out\n", f"the program's stdout: {done.stdout!r}")
    check(done.stderr.startswith("err\n"), f"the program's stderr: {done.stderr!r}")


def cannot_start():
    expect(["run", "--", "no-such-program-anywhere"], 127, "not found")
    expect(["run", "--", WORK / "nothing"], 127)
    (WORK / "data").write_text("x", encoding="utf-8")
    expect(["run", "--", WORK / "data"], 126, "data")
    expect(["run", "--output", "/nonexistent/x", "--", "true"], 65, "/nonexistent/x")
    expect(["run", "--trace", "/nonexistent/x", "--", "true"], 65, "/nonexistent/x")
    expect(["run", "--", "true"], 65, "/nonexistent", env={"TMPDIR": "/nonexistent"})


def foreign_cuda_program():
    code = WORK / "foreign.c"
    code.write_text('__attribute__((section(".nv_fatbin"), used)) static int blob = 1;\nint main(void) { return blob - 1; }\n', encoding="utf-8")
    execute(["cc", "-o", WORK / "foreign", code])
    expect(["run", "--", WORK / "foreign"], 69, "streamsan cc")
    expect(["run", "--device", "virtual", "--", WORK / "foreign"], 69, "streamsan cc")


def clean_and_errors():
    done = expect(["run", "--", clean()], 0)
    check(last(done).startswith("streamsan: clean: ") and len(done.stderr.splitlines()) == 1, done.stderr)
    done = expect(["run", "--", racy()], 66)
    check(last(done).startswith("streamsan: errors: 1 error (1 race, 0 lifetime, 0 misuse)"), done.stderr)
    check(re.match(r"\S+:\d+: error: .* \[SSAN-RAW\]\n", done.stderr), done.stderr)
    check(max(len(line) for line in done.stderr.splitlines()[1:-1]) <= 100, f"too wide\n{done.stderr}")
    check("0x" not in done.stderr, f"a pointer\n{done.stderr}")
    check("0x" in expect(["run", "--with-addresses", "--", racy()], 66).stderr, "--with-addresses shows none")
    expect(["run", "--error-exitcode", "9", "--", racy()], 9)


def output_and_format():
    report = WORK / "r.json"
    done = expect(["run", "--format", "json", "--output", report, "--", racy()], 66)
    check(len(done.stderr.splitlines()) == 1, f"more than the verdict on stderr\n{done.stderr}")
    parsed = json.loads(report.read_text(encoding="utf-8"))
    check(parsed["summary"]["exit_code"] == 66 and parsed["run"]["command"] == [str(racy())], "the JSON")
    done = expect(["run", "--format", "json", "--", racy()], 66)
    text = done.stderr
    check(json.loads(text[:text.rindex("streamsan: ")]) == parsed, "JSON on stderr differs from the one in a file")
    done = expect(["run", "--quiet", "--", racy()], 66)
    check(len(done.stderr.splitlines()) == 1, f"--quiet\n{done.stderr}")
    done = expect(["run", "--output", report, "--", racy()], 66)
    check("[SSAN-RAW]" in report.read_text(encoding="utf-8") and len(done.stderr.splitlines()) == 1, done.stderr)
    done = expect(["run", "--output", "/dev/full", "--", clean()], 0)
    done = expect(["run", "--output", "/dev/full", "--", racy()], 66, "No space")
    check(VERDICT.match(last(done)), done.stderr)


def color():
    check("\033[" not in expect(["run", "--", racy()], 66).stderr, "colour without a terminal")
    check("\033[" in expect(["run", "--color", "always", "--", racy()], 66).stderr, "--color always has none")
    check("\033[" in expect(["run", "--color=always", "--", racy()], 66, env={"NO_COLOR": "1"}).stderr, "--color always with NO_COLOR")


def default_options():
    env = {"STREAMSAN_OPTIONS": f"--quiet --trace '{WORK}/a b.ssan' --error-exitcode 7"}
    done = expect(["run", "--", racy()], 7, env=env)
    check(len(done.stderr.splitlines()) == 1 and (WORK / "a b.ssan").exists(), done.stderr)
    expect(["check", WORK / "a b.ssan"], 7, env=env)
    expect(["run", "--", "true"], 64, "STREAMSAN_OPTIONS", env={"STREAMSAN_OPTIONS": "--color mauve"})


def kept_trace():
    trace = WORK / "kept.ssan"
    ran = expect(["run", "--trace", trace, "--", racy()], 66)
    checked = expect(["check", trace], 66)
    check(ran.stderr.splitlines()[:-1] == checked.stderr.splitlines()[:-1], f"check differs from run\n{ran.stderr}\n{checked.stderr}")
    listing = expect(["dump", trace], 0).stdout
    check(listing.startswith("streamsan-listing 1\n"), listing[:200])
    (WORK / "kept.txt").write_text(listing, encoding="utf-8")
    again = expect(["check", WORK / "kept.txt"], 66)
    check(again.stderr.splitlines()[:-1] == checked.stderr.splitlines()[:-1], f"the listing differs\n{again.stderr}")
    check(expect(["dump", WORK / "kept.txt"], 0).stdout == listing, "dump of the listing differs")
    both = expect(["check", trace, trace], 66)
    check("errors: 2 errors" in last(both), last(both))
    expect(["dump", "--output", WORK / "d.txt", trace], 0)
    check((WORK / "d.txt").read_text(encoding="utf-8") == listing, "dump --output")


def cut_header():
    """A trace that is cut within its header is one that is cut: the others count, and there is a verdict."""
    whole, cut = WORK / "whole.ssan", WORK / "header.ssan"
    expect(["run", "--quiet", "--trace", whole, "--", racy()], 66)
    for length in (1, 16):
        cut.write_bytes(whole.read_bytes()[:length])
        done = expect(["check", cut], 67, "header.ssan is cut off within its header")
        check(last(done).startswith("streamsan: incomplete: "), done.stderr)
        for traces in ((whole, cut), (cut, whole)):
            done = expect(["check", *traces], 66, "[SSAN-RAW]")
            check("also incomplete: " in last(done) and "header.ssan is cut off" in last(done), done.stderr)


def full_trace():
    """A copy that does not fit takes nothing from the report: names, lines and fixes stand as ever."""
    whole = expect(["run", "--", racy()], 66).stderr.splitlines()
    full = expect(["run", "--trace", "/dev/full", "--", racy()], 66, "the trace could not be kept").stderr.splitlines()
    check("  fix  " in "".join(whole) and full[:-1] == whole[:-1], "\n".join(full))
    done = expect(["run", "--trace", "/dev/full", "--", clean()], 67)
    check(last(done).startswith("streamsan: incomplete: "), done.stderr)


def listings():
    path = WORK / "racy.txt"
    path.write_text(RACY, encoding="utf-8")
    done = expect(["check", path], 66, "a.cu:34: error: add", "[SSAN-RAW]")
    done = execute([TOOL, "check", "-"], text=RACY)
    check(done.returncode == 66 and last(done).startswith("streamsan: errors: 1 error"), done.stderr)
    ordered = RACY.replace("op op=2 stream=2", "op op=2 stream=1")
    done = execute([TOOL, "check", "-"], text=ordered)
    check(done.returncode == 0 and last(done).startswith("streamsan: clean: "), done.stderr)
    begun = RACY.replace("listing 1\n", "listing 1\nprocess pid=1 source=virtual-device accesses=exact\n", 1).replace("op op=2 stream=2", "op op=2 stream=1")
    done = execute([TOOL, "check", "-"], text=begun)
    check(done.returncode == 67 and "incomplete" in last(done), f"a process without its exit\n{done.stderr}")
    done = execute([TOOL, "check", "-"], text=RACY + "op nonsense\n")
    check(done.returncode == 65 and "standard input:13" in done.stderr, f"a damaged listing: {done.returncode}\n{done.stderr}")


def strict_and_documented():
    path = WORK / "modes.txt"
    path.write_text(RACY, encoding="utf-8")
    check("documented order only" in last(expect(["check", "--order", "documented", path], 66)), "--order documented")
    check("host threads strict" in last(expect(["check", "--threads", "strict", path], 66)), "--threads strict")


def children():
    inner = script("inner.sh", f"'{clean()}' && '{racy()}'\n")
    outer = script("outer.sh", f"sh '{inner}'\necho done\nexit 4\n")
    trace = WORK / "children.ssan"
    done = expect(["run", "--trace", trace, "--", outer], 66)
    check(done.stdout == "done\n", done.stdout)
    check("8 operations" in last(done) and "errors: 1 error" in last(done), last(done))
    check((WORK / "children.ssan.2").exists(), "no trace of the second process")
    codes = sorted(expect_code(["check", t]) for t in (trace, WORK / "children.ssan.2"))
    check(codes == [0, 66], f"the two traces: {codes}")
    done = expect(["run", "--", script("both.sh", f"'{clean()}'; '{clean()}'; exit 4\n")], 4)
    check(last(done).startswith("streamsan: clean: "), last(done))
    done = expect(["run", "--", script("exec.sh", f"exec '{racy()}'\n")], 66)


def expect_code(words):
    return execute([TOOL, *words]).returncode


def left_behind():
    late = script("late.sh", f"( '{racy()}' ) >/dev/null 2>&1 &\nexit 0\n")
    done = expect(["run", "--", late], 66)
    check("errors: 1 error" in last(done), last(done))


@contextlib.contextmanager
def ready(words, **how):
    """The tool over a program that says `ready` on its stdout."""
    with started([TOOL, "run", "--", *words], **how) as child:
        line = child.stdout.readline()
        check(line == "ready\n", f"the program says {line!r}")
        yield child


def end(child, text=None):
    return child.communicate(text, timeout=60)[1]


def signals():
    code = ("import signal, sys\n"
            "for n in (signal.SIGINT, signal.SIGTERM): signal.signal(n, lambda *_: sys.exit(9))\n"
            "print('ready', flush=True)\n"
            "while True: signal.pause()\n")
    for number in (signal.SIGINT, signal.SIGTERM):
        with ready([sys.executable, "-c", code]) as child:
            child.send_signal(number)
            err = end(child)
            check(child.returncode == 67 and VERDICT.match(err.splitlines()[-1]), f"{number}: {child.returncode}\n{err}")
    with ready([script("plain_wait.sh", "echo ready\nexec cat\n")], stdin=subprocess.PIPE) as child:
        child.send_signal(signal.SIGTERM)
        child.wait(timeout=60)  # `end` closes the input, with which the program would end by itself
        err = end(child)
        check("SIGTERM" in err and child.returncode == 67, f"{child.returncode}\n{err}")


WAITS = """#include <cuda_runtime.h>
#include <csignal>
#include <cstdio>
#include <unistd.h>
static void told(int number)
{
    _exit(number);
}
int main(int count, char **words)
{
    char *p;
    for (int i = 1; i < count; i++) {
        signal(words[i][0] == 'I' ? SIGINT : SIGTERM, words[i][1] == '-' ? SIG_IGN : told);
    }
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    cudaDeviceSynchronize();
    puts("ready");
    fflush(stdout);
    for (;;) {
        pause();
    }
}
"""


def waits():
    source = WORK / "waits.cu"
    source.write_text(WAITS, encoding="utf-8")
    return build_once(WORK / "waits", source)


def signals_reach_the_session():
    folder = WORK / "signals"
    folder.mkdir(exist_ok=True)
    for number, name in ((signal.SIGTERM, "T+"), (signal.SIGINT, "I+")):
        shell = script(f"shell{number}.sh", f"trap 'echo told' TERM INT\n'{waits()}' {name}\necho $?\n")
        with ready([shell], env={"TMPDIR": str(folder)}) as child:
            child.send_signal(number)
            out, err = child.communicate(timeout=60)
        check(out == f"told\n{int(number)}\n", f"the shell and its program were not told\n{out}{err}")
        check(VERDICT.match(last_line(err)) and child.returncode in (0, 67), f"{child.returncode}\n{err}")
    check(not list(folder.iterdir()), f"left behind: {list(folder.iterdir())}")


def signals_end_the_wait():
    with ready([script("leaves.sh", f"'{waits()}' T- I+ &\nwait\n")]) as child:
        child.send_signal(signal.SIGTERM)
        told = child.stderr.readline()
        check(re.search(r"waiting up to \d+ s for process \d+ \(waits\)", told), f"not told what is waited for: {told}")
        child.send_signal(signal.SIGINT)
        err = end(child)
        check(child.returncode == 143 and "still runs" not in err, f"the second signal was not passed on\n{err}")


def closed_pipe():
    folder = WORK / "pipe"
    folder.mkdir(exist_ok=True)
    with started([TOOL, "run", "--", racy()], env={"TMPDIR": str(folder)}) as child:
        child.stderr.close()
        code = child.wait(timeout=60)
    check(code == 66, f"the tool ended with {code}")
    check(not list(folder.iterdir()), f"left behind: {list(folder.iterdir())}")
    done = expect(["run", "--", "sh", "-c", "kill -PIPE $$"], 67, "SIGPIPE")
    check(last(done).startswith("streamsan: incomplete: "), last(done))


def verdict_so_far():
    with ready([script("asked.sh", f"'{racy()}'\necho ready\nread x\nexit 0\n")], stdin=subprocess.PIPE) as child:
        child.send_signal(signal.SIGUSR1)
        line = child.stderr.readline()
        check(line.startswith("streamsan so far: 1 error") and "clean" not in line, line)
        err = end(child, "\n")
        check(child.returncode == 66 and err.splitlines()[-1].startswith("streamsan: errors: "), err)


def killed():
    dies = script("dies.sh", f"'{clean()}'\nkill -9 $$\n")
    done = expect(["run", "--", dies], 137, "SIGKILL")
    check(last(done).startswith("streamsan: clean: "), last(done))


def nothing_left():
    folder = WORK / "tmp"
    folder.mkdir(exist_ok=True)
    for words in ([racy()], ["false"], ["no-such-program-anywhere"]):
        execute([TOOL, "run", "--", *words], env={"TMPDIR": str(folder)})
    check(not list(folder.iterdir()), f"left behind: {list(folder.iterdir())}")


def own_memory():
    """What is told is the tool's, however large the program was that started it."""
    large = "import os, sys; memory = b'x' * (600 << 20); os.execv(sys.argv[1], sys.argv[1:])"
    done = execute([sys.executable, "-c", large, TOOL, "run", "--", clean()])
    told = re.search(r", (\d+) (KB|MB|GB) of memory,", done.stderr)
    check(done.returncode == 0 and told and told[2] != "GB" and (told[2] == "KB" or int(told[1]) < 300), f"exit {done.returncode}\n{done.stderr}")


def full_stdout():
    trace = WORK / "full.txt"
    trace.write_text(RACY, encoding="utf-8")
    with open("/dev/full", "w", encoding="utf-8") as full:
        for words in (["dump", trace], ["doctor"], ["--help"], ["contract", "--template"]):
            done = execute([TOOL, *words], stdout=full)
            check(done.returncode == 67 and "No space" in done.stderr, f"{words}: {done.returncode}: {done.stderr}")
    sound = WORK / "sound.txt"
    sound.write_text("".join(row + "\n" for row in RACY.splitlines() if "op=2" not in row), encoding="utf-8")
    expect(["audit", sound], 0)
    for listing, code, verdict in ((trace, 66, "errors"), (sound, 67, "incomplete")):
        for words, stdout in (([], "/dev/full"), (["--output", "/dev/full"], "/dev/null")):
            with open(stdout, "w", encoding="utf-8") as out:
                done = execute([TOOL, "audit", *words, listing], stdout=out)
            check(done.returncode == code and "No space" in done.stderr, f"{done.returncode}: {done.stderr}")
            check(last(done).startswith(f"streamsan: {verdict}: "), last(done))


def doctor():
    done = expect(["doctor"], 0, "compiler", "virtual device", "CUDA headers")
    check(not done.stderr, done.stderr)
    expect(["doctor"], 69, "missing", env={"PATH": "/nonexistent", "STREAMSAN_CLANG": "/nonexistent/clang"})


def main():
    tally = Tally("cli")
    for function in (help_and_version, usage, later_parts, no_operation, cannot_start, foreign_cuda_program, clean_and_errors,
                     output_and_format, color, default_options, kept_trace, cut_header, full_trace, listings, strict_and_documented, children, left_behind,
                     signals, signals_reach_the_session, signals_end_the_wait, closed_pipe, verdict_so_far, killed, nothing_left,
                     own_memory, full_stdout, doctor):
        tally.case(function.__name__.replace("_", " "), function)
    return tally.finish(harness.only_argument())


if __name__ == "__main__":
    sys.exit(main())
