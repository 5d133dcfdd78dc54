"""Our CUDA headers: each alone, in C11 and C++, pedantically; and no file of a toolkit is read beside them."""
import pathlib
import re
import shutil
import subprocess
import unittest

from cc_support import CLANGS, LIB_DIR, ROOT, SOURCES, Case, main

# Headers that C programs and compilers without CUDA include.
PLAIN = ["cuda_runtime_api.h", "cuda_runtime.h", "driver_types.h", "vector_types.h", "vector_functions.h", "driver_functions.h",
         "builtin_types.h", "host_defines.h", "cuda.h", "cuda_profiler_api.h", "device_launch_parameters.h",
         "math_constants.h", "ssan/compiler_abi.h", "streamsan/annotate.h"]
REFUSED = ["cuda_fp16.h", "cublas_v2.h", "mma.h", "curand_kernel.h"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wundef", "-Wshadow", "-Werror"]


def include_macro_names(text, word):
    return re.findall(rf"{word}\((\w+), (_\w+)\)", text)


class Alone(Case):
    def bare_headers(self):
        """A copy of our headers without the pragma that silences warnings in them."""
        bare = self.folder / "bare"
        shutil.copytree(LIB_DIR / "include", bare)
        for header in bare.rglob("*.h"):
            header.write_text(header.read_text().replace("#pragma GCC system_header\n", "\n"))
        return bare

    def test_headers_stand_alone(self):
        bare = self.bare_headers()
        for compiler in CLANGS + [name for name in ("gcc",) if shutil.which(name)]:
            for header in PLAIN:
                for language, standard in (("c", "c11"), ("c++", "c++11"), ("c++", "c++17")):
                    source = self.write("alone", f"#include <{header}>\n#include <{header}>\nint alone;\n")
                    strict = ["-Wstrict-prototypes"] if language == "c" else []
                    done = subprocess.run([compiler, "-x", language, f"-std={standard}", *WARNINGS, *strict, f"-I{bare}",
                                           "-fsyntax-only", str(source)], text=True, capture_output=True)
                    with self.subTest(compiler=compiler, standard=standard, header=header):
                        self.assertEqual(done.returncode, 0, done.stderr)

    def test_cuda_headers_stand_alone(self):
        for clang in CLANGS:
            for header in ("cuda_runtime_api.h", "vector_functions.h", "cooperative_groups.h", "math_functions.h"):
                with self.subTest(clang=clang, header=header):
                    source = self.write("alone.cu", f"#include <{header}>\n#include <{header}>\n")
                    self.cc("-fsyntax-only", "-Wall", "-Wextra", "-Werror", source, clang=clang)

    def test_what_is_not_there_says_so(self):
        for header in REFUSED:
            source = self.write("refused.cu", f"#include <{header}>\n")
            done = self.cc("-c", source, code=1)
            self.assertIn(f"<{header}> is not supported", done.stderr)

    def test_textures_say_that_they_are_not_there(self):
        source = self.write("texture.cu", "__global__ void k(cudaTextureObject_t t, float *p) { *p = tex2D<float>(t, 1, 2); }\n")
        for clang in CLANGS:
            self.assertIn("tex2D: streamsan cc does not support textures", self.cc("-c", source, clang=clang, code=1).stderr)

    def test_managed_variables_say_that_they_are_not_there(self):
        for words in ("__managed__ int", "__device__ __managed__ int", "extern __managed__ int"):
            source = self.write("managed.cu", f"{words} shared_count;\n__global__ void k() {{ shared_count = 1; }}\n")
            for clang in CLANGS:
                done = self.cc("-c", source, clang=clang, code=1)
                self.assertIn("managed.cu:1:", done.stderr)
                self.assertIn("__managed__: streamsan cc does not support managed variables", done.stderr)

    def test_per_thread_names_agree_with_their_list(self):
        folder = ROOT / "src/cc/include/ssan"
        listed = include_macro_names((folder / "per_thread.def").read_text(), "PER_THREAD")
        mapped = re.findall(r"#define (\w+)\s+\1(_\w+)", (folder / "per_thread.h").read_text())
        self.assertEqual(sorted(listed), sorted(mapped))
        self.assertGreater(len(listed), 30)

    def test_per_thread_calls_get_their_names(self):
        source = self.write("ptds.cu", "__global__ void k() {}\nint main() { k<<<1, 1>>>(); cudaStreamSynchronize(0);\n"
                            "return cudaMemset(0, 0, 0); }\n")
        for clang in CLANGS:
            self.cc("-c", "--default-stream", "per-thread", source, "-o", "ptds.o", clang=clang)
            names = subprocess.run(["nm", "-u", self.folder / "ptds.o"], text=True, capture_output=True).stdout.split()
            for name in ("__cudaPushCallConfiguration_ptsz", "cudaMemset_ptds", "cudaStreamSynchronize_ptsz"):
                self.assertIn(name, names)
            self.assertNotIn("__cudaPushCallConfiguration", names)


class NoToolkit(Case):
    def headers_read(self, clang, source):
        """Every file that either pass of a .cu file reads, system headers too."""
        everything = ["-dependency-file", self.folder / "device.d", "-sys-header-deps", "-MT", "x"]
        self.cc("-ptx", *(word for one in everything for word in ("-Xclang", one)), "-o", "x.ptx", source, clang=clang)
        text = (self.folder / "device.d").read_text() + self.cc("-M", source, clang=clang).stdout
        words = text.replace("\\\n", " ").split()
        return {str(pathlib.Path(word).resolve()) for word in words if not word.endswith(":")} - {str(source)}

    def check_paths(self, clang, headers):
        resources = subprocess.run([clang, "-print-resource-dir"], text=True, capture_output=True).stdout.strip()
        gcc = sorted({str(path.resolve()) for path in pathlib.Path("/usr/lib/gcc").glob("*/*/include")})
        # Debian 13 keeps the kernel's headers behind links of /usr/include in /usr/lib/linux.
        system = ["/usr/include", "/usr/lib/linux"]
        allowed = [str(LIB_DIR.resolve()), str(pathlib.Path(resources).resolve()), str(self.folder), *system, *gcc]
        self.assertGreater(len(headers), 100)
        for header in headers:
            self.assertTrue(any(header.startswith(root + "/") for root in allowed), header)
            start = pathlib.Path(header).read_text(encoding="latin-1")[:4000]
            self.assertNotIn("NVIDIA Corporation", start, header)

    def test_only_our_own_and_the_systems_headers_are_read(self):
        for clang in CLANGS:
            for source in ("standard_library.cu", "atomics.cu", "device_math.cu"):
                with self.subTest(clang=clang, source=source):
                    self.check_paths(clang, self.headers_read(clang, SOURCES / source))

    def test_a_toolkit_on_the_include_path_is_passed_by(self):
        names = ["cuda_runtime.h", "cuda_runtime_api.h", "driver_types.h", "vector_types.h", "host_defines.h", "cuda.h",
                 "crt/host_defines.h", "cooperative_groups.h", "device_functions.h", "math_functions.h"]
        for name in names:
            self.write("toolkit/include/" + name, f"#error {name} of the toolkit was read\n")
        source = self.write("uses.cu", "".join(f"#include <{name}>\n" for name in names if "/" not in name) +
                            "__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n")
        for clang in CLANGS:
            self.cc("-c", "-I", "toolkit/include", "--cuda-path=toolkit", source, clang=clang)


if __name__ == "__main__":
    main()
