"""The driver's manners: outputs of each form, errors and exit codes, signals, and nothing left behind."""
import os
import re
import shutil
import signal
import stat
import subprocess
import unittest

from cc_support import CLANGS, DRIVER, LIB_DIR, SOURCES, Case, main

TINY = "__global__ void kern(int *p) { *p = 1; }\nint main() { kern<<<1, 1>>>(0); }\n"


class Outputs(Case):
    def test_an_object_embeds_its_ptx(self):
        for clang in CLANGS:
            self.cc("-c", SOURCES / "kernels.cu", clang=clang)
            subprocess.run(["objcopy", "-O", "binary", "--only-section=.nv_fatbin", "--set-section-flags",
                            ".nv_fatbin=alloc", "kernels.o", "blob"], cwd=self.folder, check=True)
            blob = (self.folder / "blob").read_bytes()
            self.assertTrue(blob.startswith(b"SSANPTX1"))
            text, nul, rest = blob[8:].partition(b"\0")
            self.assertEqual((nul, rest.strip(b"\0")), (b"\0", b""))
            for part in (b".version 7.0", b".target sm_70", b".visible .entry", b"\t.loc\t", b"kernels.cu"):
                self.assertIn(part, text)

    def test_names_of_outputs(self):
        self.write("dir/tiny.cu", TINY)
        self.cc("-c", "dir/tiny.cu")
        self.cc("-c", "dir/tiny.cu", "-o", "other.o")
        self.cc("-ptx", "dir/tiny.cu")
        for name in ("tiny.o", "other.o", "tiny.ptx"):
            self.assertTrue((self.folder / name).stat().st_size > 0, name)
        self.assertIn(".visible .entry _Z4kernPi", (self.folder / "tiny.ptx").read_text())

    def test_dependencies(self):
        self.write("dir/tiny.cu", '#include "own.h"\n' + TINY)
        self.write("dir/own.h", "")
        self.cc("-c", "-MMD", "dir/tiny.cu", "-o", "obj.o")
        text = (self.folder / "obj.d").read_text()
        self.assertTrue(text.startswith("obj.o:"), text)
        self.assertIn("dir/own.h", text)
        self.cc("-c", "-MD", "-MF", "named.d", "-MT", "goal", "dir/tiny.cu")
        self.assertTrue((self.folder / "named.d").read_text().startswith("goal:"))
        self.assertIn("dir/own.h", self.cc("-MM", "dir/tiny.cu").stdout)

    def test_preprocessing_and_syntax(self):
        self.write("tiny.cu", "#define WORD cooked\nint WORD;\n" + TINY)
        self.assertIn("int cooked;", self.cc("-E", "tiny.cu").stdout)
        self.cc("-E", "tiny.cu", "-o", "tiny.i")
        self.assertIn("int cooked;", (self.folder / "tiny.i").read_text())
        before = set(self.folder.iterdir())
        self.cc("-fsyntax-only", "tiny.cu")
        self.assertEqual(set(self.folder.iterdir()), before)

    def test_languages(self):
        self.write("a.c", "int new(int class) { return class; }\n")
        self.write("b.cpp", "#include <cuda_runtime.h>\nint b() { return cudaSuccess + sizeof(float4); }\n")
        self.write("c.txt", TINY)
        self.cc("-c", "-std=c11", "-std=c++14", "a.c", "b.cpp", "-x", "cu", "c.txt")
        for name in ("a.o", "b.o", "c.o"):
            self.assertTrue((self.folder / name).exists())

    def test_a_shared_library_has_the_note_and_no_device(self):
        self.cc("-shared", SOURCES / "kernels.cu", "-o", "lib.so")
        note = subprocess.run(["readelf", "-n", "lib.so"], text=True, capture_output=True, cwd=self.folder).stdout
        self.assertRegex(note, r"streamsan\s+0x00000004")
        names = subprocess.run(["nm", "-D", "lib.so"], text=True, capture_output=True, cwd=self.folder).stdout
        self.assertRegex(names, r"U cudaLaunchKernel\b")

    def test_a_sanitizer_goes_to_the_host_pass(self):
        self.write("tiny.cu", TINY)
        self.cc("-c", "-fsanitize=thread", "-g", "-O1", "tiny.cu")
        names = subprocess.run(["nm", "-u", "tiny.o"], text=True, capture_output=True, cwd=self.folder).stdout
        self.assertIn("__tsan_func_entry", names)

    def test_verbose_prints_the_commands(self):
        self.write("tiny.cu", TINY)
        lines = self.cc("-v", "-c", "-DTEXT=\"a b\"", "tiny.cu").stderr.splitlines()
        self.assertEqual(len(lines), 2)
        self.assertIn("--cuda-device-only", lines[0])
        self.assertIn("--cuda-host-only", lines[1])
        self.assertIn("'-DTEXT=\"a b\"'", lines[1])

    def test_help(self):
        self.assertIn("Usage: streamsan cc", self.cc("--help").stdout)
        self.assertRegex(self.cc("--version").stdout, r"^streamsan cc \d+\.\d+\.\d+\n$")


class Errors(Case):
    def test_wrong_use_is_64(self):
        for words in (["-dc", "x.cu"], ["-rdc=true", "x.cu"], ["--frobnicate", "x.cu"], [], ["-o"]):
            self.assertTrue(self.cc(*words, code=64).stderr.startswith("streamsan cc: error: "))

    def test_a_missing_source_is_65(self):
        self.assertIn("absent.cu: No such file", self.cc("-c", "absent.cu", code=65).stderr)

    def test_a_syntax_error_is_told_once_with_clangs_code(self):
        self.write("wrong.cu", "int main() { return missing_name; }\n")
        done = self.cc("wrong.cu", code=1)
        self.assertEqual(len(re.findall(r"wrong.cu:1:21: error:", done.stderr)), 1, done.stderr)

    def test_warnings_are_told_once(self):
        self.write("warn.cu", "static int unused;\n" + TINY)
        done = self.cc("-c", "-Wall", "warn.cu")
        self.assertEqual(len(re.findall(r"warn.cu:1:12: warning:", done.stderr)), 1, done.stderr)

    def test_every_source_is_tried(self):
        for name in ("one", "two"):
            self.write(f"{name}.cu", f"int {name} = missing_name;\n")
        text = self.cc("one.cu", "two.cu", code=1).stderr
        self.assertIn("one.cu:1", text)
        self.assertIn("two.cu:1", text)

    def test_no_clang_is_69_with_what_to_install(self):
        env = dict(self.environment(), PATH=str(self.folder))
        done = subprocess.run([DRIVER, str(LIB_DIR), "-c", str(SOURCES / "kernels.cu")], text=True, env=env,
                              capture_output=True, cwd=self.folder)
        self.assertEqual(done.returncode, 69)
        self.assertIn("apt install clang", done.stderr)

    def test_a_wrong_clang_is_69(self):
        old = self.script("old", "echo 'clang version 11.0.1'")
        bare = self.script("bare", 'echo "clang version 16.0.6" >&2; echo "x86-64"')
        for name, reason in (("/nonexistent/clang", "is not a clang"), ("/bin/true", "is not a clang"),
                             (old, "is clang 11"), (bare, "no NVPTX")):
            self.assertIn(reason, self.cc("-c", SOURCES / "kernels.cu", clang=str(name), code=69).stderr)

    def test_an_incomplete_installation_is_69(self):
        empty = self.folder / "lib"
        empty.mkdir()
        done = subprocess.run([DRIVER, str(empty), "-c", str(SOURCES / "kernels.cu")], text=True,
                              env=self.environment(CLANGS[0]), capture_output=True, cwd=self.folder)
        self.assertEqual(done.returncode, 69)
        self.assertIn("incomplete", done.stderr)

    def test_no_place_for_temporary_files_is_65(self):
        env = dict(self.environment(CLANGS[0]), TMPDIR="/nonexistent/place")
        done = subprocess.run([DRIVER, str(LIB_DIR), "-c", str(SOURCES / "kernels.cu")], text=True, env=env,
                              capture_output=True, cwd=self.folder)
        self.assertEqual(done.returncode, 65)
        self.assertIn("TMPDIR", done.stderr)

    def script(self, name, body):
        path = self.write(name, f"#!/bin/sh\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def test_signals_end_it_clean(self):
        """A compiler that tells when it has started, and then never ends, is stopped with the driver."""
        started = self.folder / "started"
        os.mkfifo(started)
        slow = self.script("slow", f'case $1 in -v) echo "clang version 16.0.6"; echo nvptx64;;\n'
                           f'*) echo $$ > {started}; exec tail -f /dev/null;; esac')
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            driver = subprocess.Popen([DRIVER, str(LIB_DIR), "-c", str(SOURCES / "kernels.cu")], cwd=self.folder,
                                      env=self.environment(str(slow)))
            compiler = int(started.read_text())
            self.assertEqual(len(list(self.temporary.iterdir())), 1)
            driver.send_signal(number)
            self.assertEqual(driver.wait(timeout=60), -number)
            self.assertEqual(list(self.temporary.iterdir()), [])
            self.assertRaises(ProcessLookupError, os.kill, compiler, 0)

    def test_a_compiler_that_dies_is_told_as_its_signal(self):
        dies = self.script("dies", 'case $1 in -v) echo "clang version 16.0.6"; echo nvptx64;;\n*) kill -SEGV $$;; esac')
        done = self.cc("-c", SOURCES / "kernels.cu", clang=str(dies), code=128 + signal.SIGSEGV)
        self.assertIn(f"note: {dies} itself failed", done.stderr)

    def test_a_device_name_that_clang_cannot_assemble_is_told(self):
        """Clang 14 ends in its back end, with code 70 and a stack; no copies of the source stay behind."""
        self.write("name.cu", "__global__ void f\u00fcllen() {}\n" + TINY)
        for clang in CLANGS:
            if not clang.endswith("-14"):
                continue
            with self.subTest(clang=clang):
                done = self.cc("-c", "name.cu", clang=clang, code=70)
                self.assertIn("device code of name.cu; kernels, device functions and device variables need names in ASCII", done.stderr)
                self.assertEqual(list(self.temporary.iterdir()), [])


if __name__ == "__main__":
    main()
