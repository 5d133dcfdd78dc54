"""Programs linked by the driver run on the virtual device and give right answers, without the tool around them."""
import subprocess
import unittest

from cc_support import CLANGS, LIB_DIR, ROOT, SOURCES, Case, main, pairings


class Programs(Case):
    def setUp(self):
        super().setUp()
        if not (LIB_DIR / "device.o").exists():
            self.skipTest(f"no {LIB_DIR}/device.o")

    def run_program(self, name, *args, output="mismatches=0\n"):
        done = subprocess.run([f"./{name}", *args], text=True, capture_output=True, cwd=self.folder, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(output, done.stdout)

    def test_a_program_has_the_note(self):
        self.cc(SOURCES / "atomics.cu", "-o", "program")
        text = subprocess.run(["readelf", "-n", "program"], text=True, capture_output=True, cwd=self.folder).stdout
        self.assertRegex(text, r"streamsan\s+0x00000004")

    def test_device_functions(self):
        sources = ("atomics.cu", "device_math.cu", "groups.cu", "minmax.cu", "warp_functions.cu", "barriers.cu")
        for clang, source, level in pairings(sources, ("-O0", "-O2")):
            with self.subTest(clang=clang, level=level, source=source):
                self.cc(level, SOURCES / source, "-o", "program", clang=clang)
                self.run_program("program")

    def test_a_barrier_of_the_grid_needs_its_launch(self):
        source = self.write("grid.cu", "#include <cooperative_groups.h>\n#include <cstdio>\n"
                            "__global__ void k() { cooperative_groups::this_grid().sync(); }\n"
                            'int main() { k<<<2, 32>>>(); printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize())); }\n')
        self.cc(source, "-o", "program")
        done = subprocess.run(["./program"], text=True, capture_output=True, cwd=self.folder, timeout=120)
        self.assertEqual(done.stdout, "cudaErrorLaunchFailure\n")
        self.assertIn("a barrier of the grid needs cudaLaunchCooperativeKernel", done.stderr)

    def test_several_files(self):
        files = [SOURCES / name for name in ("main.cu", "kernels.cu", "host_side.c")]
        for clang in CLANGS:
            with self.subTest(clang=clang):
                self.cc("-c", *files, clang=clang)
                self.cc("main.o", "kernels.o", "host_side.o", "-o", "objects", clang=clang)
                self.cc(*files, "-o", "sources", clang=clang)
                self.run_program("objects")
                self.run_program("sources")

    def test_per_thread_default_streams(self):
        for clang in CLANGS:
            self.cc("--default-stream", "per-thread", SOURCES / "per_thread.cu", "-o", "program", clang=clang)
            self.run_program("program")

    def test_examples(self):
        alone = [[example] for example in sorted((ROOT / "examples").glob("*/*.cu")) if example.parent.name != "dflash"]
        for example in (*alone, sorted((ROOT / "examples/dflash").glob("*.cu"))):
            with self.subTest(example=example[0].name):
                self.cc("-Wall", "-Wextra", "-Werror", *example, "-o", "program", "-lstreamsan-pipeline")
                if len(example) > 1:
                    self.run_program("program", "safe", output="not_finite=0\n")
                else:
                    self.run_program("program")

    def test_a_kernel_library(self):
        self.cc("-shared", SOURCES / "kernels.cu", "-o", "libkernels.so")
        self.cc(SOURCES / "main.cu", SOURCES / "host_side.c", "-L.", "-lkernels", "-Wl,-rpath,$ORIGIN", "-o", "program")
        self.run_program("program")


if __name__ == "__main__":
    main()
