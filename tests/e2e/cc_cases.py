"""The case programs compile with every clang; variant, hooks, level and standard change from one to the next."""
import itertools
import unittest

from cc_support import CLANGS, ROOT, Case, main

CASES = sorted((ROOT / "tests/cases").glob("*.cu"))
LEVELS = itertools.cycle(["-O0", "-O1", "-O2", "-O3"])
STANDARDS = itertools.cycle(["c++11", "c++14", "c++17", "c++20", "gnu++17"])


class Cases(Case):
    def test_case_programs(self):
        self.assertEqual(len(CASES), 14)
        for index, (clang, case) in enumerate(itertools.product(CLANGS, CASES)):
            level, standard, fixed = next(LEVELS), next(STANDARDS), (index // len(CASES) + index) % 2 == 1
            with self.subTest(clang=clang, case=case.name, fixed=fixed, level=level, standard=standard):
                words = ["-DFIXED"] if fixed else ["-include", ROOT / "tests/cases/hooks.h", "-DN=1000"]
                self.cc("-c", level, f"-std={standard}", "-Wall", "-Werror", *words, case, clang=clang)


if __name__ == "__main__":
    main()
