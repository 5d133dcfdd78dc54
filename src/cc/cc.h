/* `streamsan cc`: builds CUDA programs for the virtual device with a stock clang and streamsan's
 * own headers.
 *
 * No file of NVIDIA's is read, even where a toolkit is installed. A program that it links holds the
 * virtual device and an ELF note (ssan/blob_abi.h) by which `run` knows it. */
#ifndef SSAN_CC_CC_H
#define SSAN_CC_CC_H

/* Does what argv[1..] says; argv[0] is not looked at. `lib_dir` holds include/ and device.o. Prints
 * messages to stderr, and --help to stdout. Returns the exit code for the shell: 0, clang's own, 64
 * for wrong use, 65 for files that can't be read or written, 69 when no clang or a part of the
 * installation is missing, 70 for out of memory. May end the process by a signal that the user sent
 * meanwhile, after its temporary files are gone. Not thread-safe: it blocks signals. */
int cc_main(int argc, char **argv, const char *lib_dir);

#endif
