/* Whose code a file is, by its place: ours, a library's or the user's. A report shows the innermost
 * frame in the user's. */
#ifndef SSAN_TRACE_OWN_HEADER_H
#define SSAN_TRACE_OWN_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define OWN_HEADERS "/streamsan/include/"

/* Whether a file of a `line` event is one of the headers that `streamsan cc` builds programs with,
 * or none at all. */
static inline bool is_own_header(const char *file, size_t length)
{
    return length == 0 || memmem(file, length, OWN_HEADERS, sizeof OWN_HEADERS - 1) != NULL;
}

/* Whether a file is of an installed library: of the system, the CUDA toolkit (also one that is
 * installed elsewhere), the Python library or an installed Python package; or code that nvcc or a
 * library has made. The pipeline library is built under a name that is here. */
static inline bool is_library_file(const char *file, size_t length)
{
    static const char *const begins[] = {"/usr/include/",       "/usr/lib/", "/usr/local/cuda",
                                         "/usr/local/include/", "<frozen ",  "<string>",
                                         "<eval_with_key>"};
    static const char *const holds[] = {"/site-packages/",
                                        "/dist-packages/",
                                        "/lib/python3.",
                                        "/lib64/python3.",
                                        "-linux/include/",
                                        "/tmpxft_",
                                        "streamsan-pipeline-library/"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        size_t begin = strlen(begins[i]);
        if (length >= begin && memcmp(file, begins[i], begin) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof holds / sizeof *holds; i++) {
        if (memmem(file, length, holds[i], strlen(holds[i]))) {
            return true;
        }
    }
    return false;
}

#endif
