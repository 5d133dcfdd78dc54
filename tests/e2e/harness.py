"""What the end-to-end runners share: where things are, building a program, running it under streamsan, counting.

A runner makes a Tally, calls tally.case(name, function) for each case, and ends with tally.finish(), which prints its
own summary line `<runner>: N passed, N failed, N skipped`. A case fails by raising Failure, is skipped by raising Skip.
Every runner takes part of a name, to run what bears it, and --all: wants_all() and schedules() widen what it does.

Nothing stays behind: every program runs in a session of its own, which is killed as a whole when it has ended or its
time is over, and all files, the tool's too, stand in the runner's folder (work_folder), which goes at the end, also
when the runner is told to end.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import jsonschema

import precompiled

# A job in the background of a shell without job control ignores SIGINT, and so would every program started from here.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = pathlib.Path(os.environ.get("STREAMSAN", ROOT / "build/release/bin/streamsan"))
SHARED = pathlib.Path(os.environ.get("STREAMSAN_SHARED", ROOT.parent / "shared"))
TIMEOUT_S = 120
SCHEMA = json.loads((ROOT / "docs/report.schema.json").read_text(encoding="utf-8"))
VALIDATORS, VALIDATORS_GUARD = {}, threading.Lock()
LOCKS, LOCKS_GUARD = {}, threading.Lock()
RUNNING, STOPPED = set(), threading.Event()


class Failure(Exception):
    """The case did not hold; the text says what was expected and what was seen."""


class Skip(Exception):
    """The case can't run here; the text says why."""


def check(truth, text):
    if not truth:
        raise Failure(text)


class Result:
    """One finished program: code, out, err; report is the parsed JSON, or None."""

    def __init__(self, done, report):
        self.code, self.out, self.err, self.report = done.returncode, done.stdout, done.stderr, report

    @property
    def verdict_line(self):
        lines = [line for line in self.err.splitlines() if line.strip()]
        return lines[-1] if lines else ""

    @property
    def verdict(self):
        parts = self.verdict_line.split(":")
        return parts[1].strip() if len(parts) > 1 and parts[0] == "streamsan" else None

    def findings(self, severities=("error", "warning")):
        return [f for f in self.report["findings"] if f["severity"] in severities]

    def about(self):
        return f"exit {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}"


def validator(schema):
    """The validator of a schema, which is itself checked once."""
    with VALIDATORS_GUARD:
        if id(schema) not in VALIDATORS:
            kind = jsonschema.validators.validator_for(schema)
            kind.check_schema(schema)
            VALIDATORS[id(schema)] = (kind(schema), schema)
        return VALIDATORS[id(schema)][0]


def keeps_to(schema, document, name="docs/report.schema.json"):
    """Fails unless the document keeps to the schema, which is in the file `name`."""
    error = jsonschema.exceptions.best_match(validator(schema).iter_errors(document))
    check(error is None, error and f"the report does not keep to {name}: {error.json_path}: {error.message}")


def work_folder(name):
    """The folder of this runner, a TemporaryDirectory; programs that it starts find it as TMPDIR."""
    folder = tempfile.TemporaryDirectory(prefix=f"streamsan-{name}-")
    os.environ["TMPDIR"] = folder.name
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end_early)
    return folder


def end_early(number, _frame):
    STOPPED.set()
    for child in list(RUNNING):
        kill_session(child)
    sys.exit(128 + number)


def kill_session(child):
    """Kills what the program is and what it has left behind."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


@contextlib.contextmanager
def started(command, env=None, cwd=None, **how):
    """A running program with pipes, in a session of its own, none of which outlives the block."""
    if STOPPED.is_set():
        raise Failure("the runner was told to end")
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
    child = subprocess.Popen([str(word) for word in command], text=True, errors="replace", cwd=cwd, env={**os.environ, **(env or {})},
                             start_new_session=True, **pipes)
    RUNNING.add(child)
    try:
        yield child
    finally:
        kill_session(child)
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()
        child.wait()
        RUNNING.discard(child)


def execute(command, env=None, cwd=None, timeout=TIMEOUT_S, text=None, **how):
    """Runs a program to its end, with `text` as its input."""
    stdin = subprocess.DEVNULL if text is None else subprocess.PIPE
    with started(command, env, cwd, stdin=stdin, **how) as child:
        out, err = child.communicate(text, timeout)
        return subprocess.CompletedProcess(command, child.returncode, out, err)


def shown_files(document):
    """The files that a document shows whole, in blocks such as ```cuda first.cu: texts by name."""
    return dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", document.read_text(encoding="utf-8"), re.M | re.S))


def build(output, *words):
    """Builds with `streamsan cc`; any warning of the compiler is a failure too."""
    words = ["-O2", *words]
    faster = precompiled.environment(TOOL, *words)
    done = execute([TOOL, "cc", "-o", output, *words], env=faster)
    if faster and (done.returncode or done.stderr):
        done = execute([TOOL, "cc", "-o", output, *words])
    check(done.returncode == 0 and not done.stderr, f"cc {' '.join(map(str, words))}: exit {done.returncode}\n{done.stderr}")
    return output


def lock_of(key):
    """For what several cases want and the first one makes: they run side by side."""
    with LOCKS_GUARD:
        return LOCKS.setdefault(key, threading.Lock())


def build_once(output, *words):
    """As build, unless `output` is there."""
    with lock_of(output):
        if not output.exists():
            build(output, *words)
    return output


def tool_beside_nothing(work, sanitizer):
    """A copy of the tool below `work` with a capture.so beside it, and a sanitizer library, that do nothing."""
    copy = work / "tree/bin/streamsan"
    with LOCKS_GUARD:
        if not copy.exists():
            library = work / "tree/lib/streamsan"
            copy.parent.mkdir(parents=True)
            library.mkdir(parents=True)
            source = work / "nothing.c"
            source.write_text("int ssan_nothing(void);\nint ssan_nothing(void) { return 0; }\n", encoding="utf-8")
            for output in (library / "capture.so", sanitizer):
                subprocess.run(["cc", "-shared", "-fPIC", "-o", output, source], check=True)
            shutil.copy(TOOL, copy.with_suffix(".new"))
            copy.with_suffix(".new").rename(copy)
    return copy


def run(program, *options, args=(), verb="run", env=None, cwd=None, timeout=TIMEOUT_S, **how):
    """Runs a program (or the words of a command) under streamsan (or explores it, ...); its report, JSON, must keep to the schema in docs."""
    command = program if isinstance(program, (list, tuple)) else [program]
    with tempfile.NamedTemporaryFile(suffix=".json", dir=os.environ.get("TMPDIR")) as report:
        done = execute([TOOL, verb, "--format", "json", "--output", report.name, *options, "--", *command, *args], env, cwd, timeout, **how)
        text = pathlib.Path(report.name).read_text(encoding="utf-8")
    try:
        parsed = json.loads(text) if text else None
    except ValueError as error:
        raise Failure(f"the report is not JSON: {error}\n{text[:500]}") from error
    if parsed is not None:
        keeps_to(SCHEMA, parsed)
    return Result(done, parsed)


class Tally:
    def __init__(self, name):
        self.name, self.cases = name, []

    def case(self, name, function, *args):
        self.cases.append((name, function, args))

    def finish(self, only=None, jobs=None):
        """Runs what was added (names holding `only`), prints what fails, returns the exit code."""
        cases = [c for c in self.cases if not only or only in c[0]]
        passed, failed, skipped = 0, [], {}
        with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
            for (name, _, _), outcome in zip(cases, pool.map(self._one, cases)):
                if outcome is None:
                    passed += 1
                elif isinstance(outcome, Skip):
                    skipped.setdefault(str(outcome), []).append(name)
                else:
                    failed.append(f"FAILED: {name}: {outcome}")
        rows = [f"skipped: {names[0] if len(names) == 1 else f'{len(names)} cases'}: {reason}" for reason, names in skipped.items()]
        print(*failed, *rows, sep="\n" if failed or rows else "")
        print(f"{self.name}: {passed} passed, {len(failed)} failed, {sum(map(len, skipped.values()))} skipped")
        return 1 if failed or not cases else 0

    @staticmethod
    def _one(case):
        try:
            case[1](*case[2])
        except (Failure, Skip) as outcome:
            return outcome
        except subprocess.TimeoutExpired as error:
            return Failure(f"no end within {error.timeout} s: {error.cmd}")
        except Exception as error:  # a fault of the runner is a failure of the case, never a silent end
            return Failure(repr(error))
        return None


def only_argument():
    """The part of a name that the runner was called with, or None."""
    words = [word for word in sys.argv[1:] if word != "--all"]
    return words[0] if words else None


def wants_all():
    """--all: the full matrix of `make check-all`, instead of the fixed subset of `make check`."""
    return "--all" in sys.argv[1:]


def schedules(subset, randoms=50):
    """`subset`; with --all every schedule: eager, lazy and `randoms` random ones."""
    return ["eager", "lazy", *(f"random:{seed}" for seed in range(1, randoms + 1))] if wants_all() else list(subset)
