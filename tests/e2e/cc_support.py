"""What the tests of `streamsan cc` share: the driver, the clangs of this machine, a scratch folder.

The driver is tests/unit/cc_driver (CC_DRIVER) with the build's headers (CC_LIB_DIR). Every test's TMPDIR is a folder of
its own that must be empty when the driver has ended.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tests/e2e/cc"
DRIVER = os.environ["CC_DRIVER"]
LIB_DIR = pathlib.Path(os.environ["CC_LIB_DIR"])
NAMES = [f"clang-{version}" for version in range(19, 13, -1)] + ["clang"]


def find_clangs():
    """One name for each usable version, newest first."""
    found = {}
    for name in NAMES:
        if shutil.which(name):
            text = subprocess.run([name, "--version"], text=True, capture_output=True).stdout
            targets = subprocess.run([name, "--print-targets"], text=True, capture_output=True).stdout
            version = int(text.split("clang version ")[1].split(".")[0])
            if version >= 14 and "nvptx64" in targets:
                found.setdefault(version, name)
    return [found[version] for version in sorted(found, reverse=True)]


CLANGS = find_clangs()
EVERYTHING = bool(os.environ.get("STREAMSAN_TEST_ALL"))


def pairings(first, second):
    """All pairs of two lists; unless everything is asked for, so few that each value stands with each clang."""
    if EVERYTHING:
        return [(clang, a, b) for clang in CLANGS for a in first for b in second]
    return [(clang, a, second[(i + at) % len(second)]) for at, clang in enumerate(CLANGS) for i, a in enumerate(first)]


class Case(unittest.TestCase):
    def setUp(self):
        if not CLANGS:
            self.skipTest("no clang with NVPTX on this machine")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()

    def environment(self, clang=None):
        env = dict(os.environ, TMPDIR=str(self.temporary), LC_ALL="C")
        env.pop("STREAMSAN_CLANG", None)
        if clang:
            env["STREAMSAN_CLANG"] = clang
        return env

    def cc(self, *words, clang=None, code=0):
        """Runs the driver in the scratch folder; fails unless it ends with `code` and without leftovers."""
        done = subprocess.run([DRIVER, str(LIB_DIR), *map(str, words)], text=True, capture_output=True,
                              cwd=self.folder, env=self.environment(clang or CLANGS[0]), timeout=300)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}{done.stderr}")
        self.assertEqual(list(self.temporary.iterdir()), [], f"{words} left temporary files")
        return done

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


def main():
    print(f"{pathlib.Path(sys.argv[0]).stem}: with {', '.join(CLANGS) or 'no clang'}", flush=True)
    unittest.main(verbosity=2)
