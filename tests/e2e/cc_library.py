"""C++'s standard library and our device functions, on both passes, for every clang and language standard."""
import re
import unittest

from cc_support import CLANGS, EVERYTHING, SOURCES, Case, main, pairings

# By the newest clang; the standards between the ends only where everything is asked for.
STANDARDS = ["c++11", "c++14", "c++17", "c++20", "gnu++17"] if EVERYTHING else ["c++11", "c++17", "c++20"]
OLDER_STANDARDS = ["c++11", "gnu++20"]


class Library(Case):
    def test_standard_headers(self):
        for clang in CLANGS:
            for standard in STANDARDS if clang == CLANGS[0] else OLDER_STANDARDS:
                with self.subTest(clang=clang, standard=standard):
                    # Clang 14 itself crashes on <regex> as CUDA in C++20.
                    flags = ["-DNO_REGEX"] if clang == "clang-14" and standard.endswith("20") else []
                    self.cc("-c", "-O1", "-Wall", "-Werror", f"-std={standard}", *flags,
                            SOURCES / "standard_library.cu", clang=clang)

    def test_device_functions_at_every_level(self):
        for clang, source, level in pairings(("device_math.cu", "atomics.cu", "host_api.cu"), ("-O0", "-O3")):
            with self.subTest(clang=clang, level=level, source=source):
                self.cc("-c", level, "-Wall", "-Wextra", "-Werror", SOURCES / source, clang=clang)

    def test_every_device_function_has_a_definition(self):
        """What stays external is in libdevice.def, or is the device's own."""
        listed = (SOURCES.parents[2] / "src/cc/include/ssan/libdevice.def").read_text()
        bases = re.findall(r"^LIBDEVICE\((\w+), \w+\)", listed, re.M)
        known = {f"__nv_{base}{suffix}" for base in bases for suffix in ("", "f")}
        known |= {"vprintf", "__assertfail", "malloc", "free"}
        for clang, level, _ in pairings(("-O0", "-O2"), (None,)):
            seen = set()
            for source in ("device_declared.cu", "device_math.cu", "atomics.cu"):
                self.cc("-ptx", level, SOURCES / source, "-o", "out.ptx", clang=clang)
                text = (self.folder / "out.ptx").read_text()
                seen |= set(re.findall(r"\.extern \.func\s+(?:\([^)]*\)\s*)?([\w$]+)", text))
            self.assertEqual(seen - known, set(), clang)
            self.assertGreater(len(seen), 60)

    def test_device_code_is_single_instructions_where_it_can_be(self):
        self.write("cheap.cu", "__global__ void k(float *f, int *i) {\n"
                   "*f = sqrtf(*f) + fabsf(*f) + floorf(*f) + fminf(*f, 2) + rsqrtf(*f);\n"
                   "*i = min(*i, 3) + max(*i, 4) + __popc(*i) + __clz(*i) + abs(*i);\n}\n")
        for clang in CLANGS:
            self.cc("-ptx", "cheap.cu", clang=clang)
            text = (self.folder / "cheap.ptx").read_text()
            self.assertNotIn("call", text)
            for opcode in ("sqrt.rn.f32", "abs.f32", "cvt.rmi.f32.f32", "min.f32", "rsqrt.approx", "popc.b32", "clz.b32"):
                self.assertIn(opcode, text)


if __name__ == "__main__":
    main()
