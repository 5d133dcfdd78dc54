"""Source lines: host line tables are always there, and a launch's line is that of its configuration call."""
import re
import subprocess
import unittest

from cc_support import CLANGS, Case, main, pairings

# The configuration call stands where clang puts it, at the kernel's name or at the `<<<` behind it.
LAUNCHES = """#include <cuda_runtime.h>
__global__ void one(int *p) { p[threadIdx.x] = 1; }
template <class T> __global__ void two(T *p, T v) { p[threadIdx.x] = v; }
void launch(int *p, cudaStream_t s)
{
    one<<<1, 32>>>(p);
    one<<<dim3(1, 2), dim3(32), 0,
          s>>>(
        p);
    two<float><<<1, 32, 0, s>>>((float *)p,
                                2.0f);
    if (p)
        one
            <<<2, 32>>>(p);
}
"""
CALLS = [6, 7, 10, 14]

# Each line after the first two is one call of a function of our headers or of clang's.
INLINED = """#include <cuda_runtime.h>
#include <cassert>
__global__ void k(int *p, const int *q, float *f)
{
    atomicAdd(p, 1);
    int v = __ldg(q);
    f[0] = sqrtf(f[1]);
    p[1] = __shfl_sync(~0u, v, 0);
    p[2] = max(v, 2);
    p[3] = __ldcg(q + 1);
    __stcg(p + 4, v);
    __threadfence();
    assert(v != 5);
    if (v == 77)
        __trap();
}
"""


class Lines(Case):
    def call_lines(self, name):
        """Lines of the calls of the configuration function, in the order of the code."""
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", name], text=True, capture_output=True,
                              cwd=self.folder, check=True).stdout
        calls, symbol = [], None
        for line in text.splitlines():
            head = re.match(r"[0-9a-f]+ <(\w+)>:", line)
            call = re.match(r"\s+([0-9a-f]+):\s+call\s.*<__cudaPushCallConfiguration@plt>", line)
            symbol = head.group(1) if head else symbol
            if call and symbol == "_Z6launchPiP11CUstream_st":
                calls.append(call.group(1))
        self.assertTrue(calls, text)
        done = subprocess.run(["addr2line", "-e", name, *calls], text=True, capture_output=True, cwd=self.folder,
                              check=True).stdout
        return [int(line.split(":")[-1].split()[0]) for line in done.splitlines()]

    def test_launch_lines(self):
        self.write("launches.cu", LAUNCHES)
        for clang, level, debug in pairings(("-O0", "-O1", "-O2", "-O3"), ([], ["-g"], ["-g0"])):
            with self.subTest(clang=clang, level=level, debug=debug):
                self.cc("-shared", level, *debug, "launches.cu", "-o", "l.so", clang=clang)
                self.assertEqual(self.call_lines("l.so"), CALLS)

    def test_device_lines_are_those_of_the_source(self):
        self.write("launches.cu", LAUNCHES)
        for clang in CLANGS:
            self.cc("-ptx", "launches.cu", clang=clang)
            text = (self.folder / "launches.ptx").read_text()
            files = dict(re.findall(r'\.file\s+(\d+)\s+"([^"]+)"', text))
            own = [number for number, name in files.items() if name.endswith("launches.cu")]
            self.assertEqual(len(own), 1, files)
            self.assertTrue(files[own[0]].startswith("/") or (self.folder / files[own[0]]).exists(), files)
            store = re.search(rf"\.loc\s+{own[0]} (\d+) [^\n]*\n(?:[^\n]*\n)?\s+st\.global", text)
            self.assertIsNotNone(store, text)
            self.assertIn(int(store.group(1)), (2, 3))

    def test_inlined_functions_have_the_lines_of_their_calls(self):
        self.write("inlined.cu", INLINED)
        for clang in CLANGS:
            self.cc("-ptx", "inlined.cu", clang=clang)
            text = (self.folder / "inlined.ptx").read_text()
            files = dict(re.findall(r'\.file\s+(\d+)\s+"([^"]+)"', text))
            lines = re.findall(r"\.loc\s+(\d+) (\d+)", text)
            self.assertEqual({files[number].rsplit("/", 1)[-1] for number, _ in lines}, {"inlined.cu"}, files)
            self.assertLessEqual({5, 6, 7, 8, 9, 10, 11, 12, 13, 15}, {int(line) for _, line in lines})

    def test_calls_stay_calls(self):
        """At -O2 a tail call would hide the caller's frame."""
        self.write("tail.cpp", "int callee(int);\nint caller(int x) { return callee(x + 1); }\n")
        for clang in CLANGS:
            self.cc("-c", "-O2", "tail.cpp", clang=clang)
            text = subprocess.run(["objdump", "-d", "tail.o"], text=True, capture_output=True, cwd=self.folder).stdout
            self.assertIn("call", text)
            self.assertIn("%rbp", text)


if __name__ == "__main__":
    main()
