#!/usr/bin/python3
"""What docs/ shows is what happens: every `console` block is run, and its output compared. A block of code with a file's name behind its
language (```cuda first.cu) is that file.

run_docs.py [--all] [part of a name]. A block has lines `$ command`, each with the output (both streams as they come, the
program's first) behind it. `...` in a line stands for anything in that line, on a line of its own for any number of lines.
Commands run in one folder for each document, with `examples` in it and `streamsan` in the path; exit codes are not compared.
"""
import glob
import os
import pathlib
import re
import shlex
import sys

from harness import ROOT, TOOL, Tally, check, execute, only_argument, shown_files, work_folder

WORK = work_folder("docs")
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(document):
    """(command, its lines of output) of all blocks."""
    found = []
    for block in BLOCK.findall(document.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def pattern(lines):
    parts = [r"(?:.*\n)*?" if line == "..." else ".*".join(re.escape(part) for part in line.split("...")) + r"\n" for line in lines]
    return re.compile("".join(parts) + r"\Z")


def ended(text):
    return text if not text or text.endswith("\n") else text + "\n"


def words(command, folder):
    """Those of the command, with `*` as the shell has it."""
    for word in shlex.split(command):
        yield from sorted(glob.glob(word, root_dir=folder)) if "*" in word else [word]


def run_document(document):
    folder = pathlib.Path(WORK.name) / document.stem
    folder.mkdir()
    (folder / "examples").symlink_to(ROOT / "examples")
    for name, text in shown_files(document).items():
        (folder / name).write_text(text, encoding="utf-8")
    env = {"PATH": f"{TOOL.parent}:{os.environ['PATH']}", "COLUMNS": "100"}
    for command, lines in commands(document):
        done = execute(list(words(command, folder)), env, folder)
        seen = ended(done.stdout) + ended(done.stderr)
        check(pattern(lines).match(seen), f"$ {command}\n--- told\n" + "\n".join(lines) + f"\n--- seen\n{seen}")


def main():
    tally = Tally("docs")
    for document in sorted((ROOT / "docs").glob("**/*.md")):
        if commands(document):
            tally.case(str(document.relative_to(ROOT)), run_document, document)
    return tally.finish(only_argument())


if __name__ == "__main__":
    sys.exit(main())
