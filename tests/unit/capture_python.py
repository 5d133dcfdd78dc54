"""Python frames of the capture library against traceback.extract_stack(): capture_python.py LIBRARY [PYTHON...].

With Pythons it runs itself in each of them that is there, and says which are not; without, it tests the one it runs in.
"""
import ctypes
import os
import subprocess
import sys
import tempfile
import threading
import time
import traceback

LIBRARY = os.path.abspath(sys.argv[1])
DEPTH = 64

# CDLL releases the interpreter's lock around a call, PyDLL does not.
FREE, HELD = ctypes.CDLL(LIBRARY), ctypes.PyDLL(LIBRARY)
for library in (FREE, HELD):
    library.test_take.restype = library.test_call.restype = ctypes.c_uint32
    library.test_text.restype = ctypes.c_void_p
    library.test_text.argtypes = [ctypes.c_uint32]
    library.test_free.argtypes = [ctypes.c_void_p]
    library.test_lost.restype = ctypes.c_uint64
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_uint32)
checks = 0
failures = []


def frames_of(site):
    pointer = HELD.test_text(site)
    text = ctypes.string_at(pointer).decode()
    HELD.test_free(pointer)
    lines = text.splitlines()
    python = [tuple(line.split("\t")) for line in lines if line != "native"]
    if "native" in lines[len(lines) - len(python):]:
        failures.append(f"native frames among Python's: {lines}")
    return python


def check(library=FREE):
    """Compares the two stacks of this line."""
    global checks
    site, expected = library.test_take(), traceback.extract_stack()
    compare(site, expected)


def compare(site, expected):
    global checks
    got = [(file, int(line), name.rsplit(".", 1)[-1]) for file, line, name in frames_of(site)]
    wanted = [(f.filename, f.lineno, f.name) for f in reversed(expected)][:DEPTH]
    checks += 1
    if got != wanted:
        different = [(a, b) for a, b in zip(got, wanted) if a != b][:3]
        failures.append(f"{len(got)} frames, not {len(wanted)}; got, wanted: {different}")


def both():
    check(FREE)
    check(HELD)


def decorated(function):
    def wrapper(*args):
        return function(*args)
    return wrapper


class Thing:
    @decorated
    def method(self):
        both()

    @property
    def attribute(self):
        both()
        return 1

    @staticmethod
    def static():
        return [both() for _ in range(2)]

    def __enter__(self):
        both()
        return self

    def __exit__(self, *what):
        both()

    def __del__(self):
        both()


def nested():
    def inner(depth):
        def innermost():
            both()
        if depth:
            return inner(depth - 1)
        innermost()
        return None
    inner(3)


def generator():
    for _ in range(3):
        both()
        yield 1


def delegating():
    both()
    yield from generator()
    both()


def comprehensions():
    [both() for _ in range(2)]
    {n: both() for n in range(2)}
    list(both() for _ in range(2))
    (lambda: both())()
    sorted([3, 1, 2], key=lambda n: both() or n)
    max((1, 2), key=lambda n: (both(),
                               n)[1])


def handlers():
    try:
        raise ValueError
    except ValueError:
        both()
    finally:
        both()
    with Thing() as thing:
        thing.method()
        thing.attribute
        thing.static()


def coroutine():
    async def inner():
        both()

    async def outer():
        await inner()
        both()

    try:
        outer().send(None)
    except StopIteration:
        pass


def multi_line():
    (
        both
    )(

    )
    str(
        [
            both(),


            1,
        ]
    )


def recursive(depth):
    return recursive(depth - 1) if depth else both()


def through_c():
    """Python, a library, Python again."""
    def called():
        global site, expected
        site, expected = FREE.test_take(), traceback.extract_stack()
        return site
    again = FREE.test_call(CALLBACK(called))
    if again != site:
        failures.append("the callback's stack has no id of its own")
    compare(site, expected)


def long_function(folder):
    """Lines far apart, before and behind each other, in functions of more than 64 KiB of instructions."""
    lines = ["def far(both, x=0):"]
    for n in range(3000):
        lines += [f"    x = x + {n} * (x - 1) if x else 0"]
        if n % 250 == 0:
            lines += ["    both()"] + [""] * 300 + ["    (both(),", "", "     both(),", "     )"] + ["    # nothing"] * 40
    path = os.path.join(folder, "lang_\u00fc\u540d\U0001f600.py")
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")
    space = {}
    exec(compile("\n".join(lines) + "\n", path, "exec"), space)
    space["far"](both)


def made_at_run_time():
    for n in range(50):
        exec(compile("\n" * n + "def made(both):\n    both()\n" + "made(both)\n", f"<made {n}>", "exec"), {"both": both})


def one_id():
    ids = {FREE.test_take() for _ in range(100)}
    if len(ids) != 1:
        failures.append(f"{len(ids)} ids for one stack")


def in_threads():
    def work():
        for n in range(40):
            list(generator())
            recursive(n % 7)
            handlers()
    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def foreign_thread():
    """A thread that Python does not know has no Python frames, and no crash."""
    libc = ctypes.CDLL(None)
    handle = ctypes.c_ulong()
    libc.pthread_create(ctypes.byref(handle), None, ctypes.cast(FREE.test_take, ctypes.c_void_p), None)
    result = ctypes.c_void_p()
    libc.pthread_join(handle, ctypes.byref(result))
    if not result.value or frames_of(result.value & 0xffffffff):
        failures.append(f"a foreign thread's stack: {result.value}")


def measure():
    def deep(depth):
        if depth:
            return deep(depth - 1)
        begin = time.thread_time_ns()
        for _ in range(20000):
            HELD.test_take()
        taken = time.thread_time_ns() - begin
        begin = time.thread_time_ns()
        for _ in range(20000):
            HELD.test_lost()
        return (taken - (time.thread_time_ns() - begin)) / 20000
    return deep(20)


def main():
    if not HELD.test_open():
        sys.exit("no memory for the tables")
    both()
    nested()
    list(delegating())
    comprehensions()
    handlers()
    coroutine()
    multi_line()
    recursive(30)
    recursive(200)
    through_c()
    made_at_run_time()
    one_id()
    foreign_thread()
    in_threads()
    with tempfile.TemporaryDirectory() as folder:
        long_function(folder)
    print(f"python {sys.version.split()[0]}: {checks} stacks compared, {len(failures)} differ; "
          f"{measure():.0f} ns a stack of 20 frames of Python")
    for failure in failures[:10]:
        print("   ", failure)
    if HELD.test_lost():
        print("    stacks were lost")
    return 1 if failures or not checks or HELD.test_lost() else 0


def run_in(pythons):
    missing, bad, run = [], 0, set()
    for python in pythons:
        done = subprocess.run([python, "-c", "import sys, ctypes; print(sys.version)"], capture_output=True, text=True) \
            if os.path.exists(python) else None
        if done is None or done.returncode or done.stdout in run:
            missing += [] if done and done.stdout in run else [python]
            continue
        run.add(done.stdout)
        bad += subprocess.run([python, os.path.abspath(__file__), LIBRARY]).returncode != 0
    print(f"{len(run)} Pythons, {bad} failed, {len(missing)} not there: {' '.join(missing)}")
    return 1 if bad or not run else 0


if __name__ == "__main__":
    sys.exit(run_in(sys.argv[2:]) if len(sys.argv) > 2 else main())
