"""Precompiled headers for the programs that the runners build: half of a small program's build is the parsing of
cuda_runtime.h, once for the device and once for the host.

`streamsan cc` itself is as it is: STREAMSAN_CLANG names a script that hands each CUDA pass the header as that pass would
have read it, precompiled by the very commands that `streamsan cc --verbose` prints. The programs are the same to the byte
(run_programs.py checks); with -g the debug information alone lacks what the program does not use of the headers. Only where
the words given are ones that are known here, and no -D names an identifier that the headers could see; else, and where there
is any message, the build is a plain one.

The headers lie in build/precompiled/<hash of the tool, its headers, clang and the words>, for all runners.
"""
import contextlib
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
STORE = ROOT / "build/precompiled"
KEPT = 8  # folders in the store
PASSES = ("device", "host")
CLANGS = [f"clang-{version}" for version in range(19, 13, -1)] + ["clang"]
OPTION = re.compile(r"-g|-O[0-3]|-std=(c|gnu)\+\+\d+")
FREE = re.compile(r"-c|-[lL].+|-Wl,.*")  # nothing to the passes
MACRO = re.compile(r"-D(\w+)(=.*)?", re.S)
DIRECTIVE = re.compile(r"\s*#(?!\s*(?:error|warning)\b)")
WITH_PARAMETERS = re.compile(r"\s*#\s*define\s+\w+\(([^)]*)\)")
WORD = re.compile(r"[A-Za-z_]\w*")
NOT_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'""", re.S)
SCRIPT = """#!/bin/sh
case " $* " in
*" --cuda-device-only "*) exec {clang} -Xclang -include-pch -Xclang {folder}/device.pch "$@" ;;
*" --cuda-host-only "*) exec {clang} -Xclang -include-pch -Xclang {folder}/host.pch "$@" ;;
esac
exec {clang} "$@"
"""

LOCK, FOUND = threading.Lock(), {}


def parted(words):
    """The options that the headers depend on, and the names of macros; None where a word is not known here."""
    options, macros, rest = [], set(), iter(map(str, words))
    for word in rest:
        macro = MACRO.fullmatch(word)
        if macro:
            macros.add(macro[1])
        elif OPTION.fullmatch(word):
            options.append(word)
        elif word == "-include":
            next(rest, None)  # it is read behind our own
        elif word.startswith("-") and not FREE.fullmatch(word):
            return None
    return options, macros


def stamp(path):
    state = os.stat(path)
    return f"{path} {state.st_size} {state.st_mtime_ns}\n"


def key(tool, options):
    parts = [*options, stamp(tool)]
    parts += [stamp(path) for path in sorted((tool.parent.parent / "lib/streamsan/include").rglob("*")) if path.is_file()]
    parts += [stamp(os.path.realpath(found)) for found in map(shutil.which, CLANGS) if found]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def passes_of(tool, options, folder):
    """The words of both passes over an empty file, up to what names it; by --verbose."""
    (folder / "empty.cu").write_text("", encoding="utf-8")
    done = subprocess.run([tool, "cc", "--verbose", *options, "-c", "-o", folder / "empty.o", folder / "empty.cu"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    commands = [shlex.split(line) for line in done.stderr.splitlines()]
    return [next(c for c in commands if f"--cuda-{one}-only" in c) for one in PASSES]


def write_once(path, text):
    """Writes a file that is not there, whole from its first moment on: what is precompiled holds its time."""
    new = pathlib.Path(tempfile.mkstemp(prefix=".", dir=path.parent)[1])
    new.write_text(text, encoding="utf-8")
    with contextlib.suppress(FileExistsError):
        os.link(new, path)
    new.unlink()


def header_command(command, header, output, listing):
    """The pass that writes what this one reads first."""
    words, rest = [], iter(command)
    for word in rest:
        if word == "-o":
            next(rest)
        elif word == "-include":
            write_once(header, f'#include "{next(rest)}"\n')
        elif word == "-fcuda-include-gpubinary":
            words.pop()
            next(rest), next(rest)
        elif word not in ("-S", "-c") and not word.endswith("/empty.cu"):
            words.append(word)
    return [*words, "-S", "-Xclang", "-emit-pch", "-MD", "-MF", listing, "-o", output, header], words


def seen_by(words, header, listing):
    """All identifiers that a macro of this name could change: in the text that is read and in every directive."""
    text = subprocess.run([*words, "-E", "-P", header], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout
    found = set(WORD.findall(NOT_CODE.sub(" ", text)))
    for path in listing.read_text(encoding="utf-8").replace("\\\n", " ").split(":", 1)[1].split():
        code = NOT_CODE.sub(" ", pathlib.Path(path).read_text(encoding="utf-8", errors="replace")).replace("\\\n", " ")
        for line in code.splitlines():
            if DIRECTIVE.match(line):
                parameters = WITH_PARAMETERS.match(line)
                found |= set(WORD.findall(line)) - set(WORD.findall(parameters[1] if parameters else ""))
    return found


def make(tool, options, place):
    """The folder, whole from the first moment that it is there."""
    STORE.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix=".", dir=STORE))
    try:
        seen = set()
        for one, command in zip(PASSES, passes_of(tool, options, folder)):
            header, listing = place.with_suffix(".h"), folder / f"{one}.d"
            making, words = header_command(command, header, folder / f"{one}.pch", listing)
            subprocess.run(making, stdin=subprocess.DEVNULL, capture_output=True, check=True)
            seen |= seen_by(words, header, listing)
        (folder / "seen").write_text("\n".join(sorted(seen)), encoding="utf-8")
        script = folder / "clang"
        script.write_text(SCRIPT.format(clang=shlex.quote(shutil.which(command[0])), folder=shlex.quote(str(place))), encoding="utf-8")
        script.chmod(0o755)
        folder.rename(place)
        for old in sorted((p for p in STORE.glob("*.h")), key=lambda p: p.stat().st_mtime)[:-KEPT]:
            old.unlink(missing_ok=True)
            shutil.rmtree(old.with_suffix(""), ignore_errors=True)
    except OSError:
        if not place.exists():  # where it is, another runner was first
            raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def found(tool, options):
    """(path of the script, identifiers that macros must not name); (None, ()) where there are no such headers."""
    with LOCK:
        if tuple(options) not in FOUND:
            FOUND[tuple(options)] = None, ()
            try:
                place = STORE / key(tool, options)
                if not place.exists():
                    make(tool, options, place)
                FOUND[tuple(options)] = place / "clang", frozenset((place / "seen").read_text(encoding="utf-8").split("\n"))
            except (OSError, subprocess.CalledProcessError, StopIteration):
                pass  # plain builds say what is wrong
        return FOUND[tuple(options)]


def environment(tool, *words):
    """What to add to the environment of `tool cc words...`; nothing for a plain build."""
    known = parted(words) if not os.environ.get("STREAMSAN_CLANG") else None
    if known is None:
        return {}
    script, seen = found(pathlib.Path(tool), known[0])
    return {"STREAMSAN_CLANG": str(script)} if script and not known[1] & seen else {}
