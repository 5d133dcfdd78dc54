/* An array in a file: raw elements, or a .npy file. Read part by part, never mapped: a file that is
 * cut while it is read gives an error, not a signal. One thread at a time. */
#ifndef SSAN_COMPARE_ARRAY_H
#define SSAN_COMPARE_ARRAY_H

#include "base/status.h"
#include "base/strbuf.h"
#include "compare/npy.h"

#define ARRAY_NO_TYPE   ((enum ssan_compare_type)0)
#define ARRAY_TO_END    UINT64_MAX
#define ARRAY_HELD_MOST (UINT64_C(1) << 32) /* bytes of a pipe that are kept in memory */

/* Which elements of a file. */
struct array_part {
    enum ssan_compare_type type; /* ARRAY_NO_TYPE: the file says it itself */
    uint64_t offset_bytes;       /* of a raw file; behind the header of a .npy file */
    uint64_t count;              /* elements, or ARRAY_TO_END */
};

struct array {
    const char *path; /* the caller's, until array_close */
    int fd;           /* -1: all of it is in `held` */
    bool is_open;
    struct strbuf held;          /* of what is no regular file */
    enum ssan_compare_type type; /* of its elements */
    uint64_t begin, count;       /* bytes in the file; elements */
    unsigned dimensions;         /* of a .npy file that is compared as a whole, else 0 */
    uint64_t shape[NPY_DIMENSIONS_MOST];
};

/* Opens a file. SSAN_IO: it can't be read; SSAN_USAGE: a raw file, and no type was given;
 * SSAN_FORMAT: no whole number of elements, fewer than are wanted, a damaged or foreign .npy. The
 * text begins with the path. `array` needs array_close in any case. */
enum ssan_status array_open(struct array *array, const char *path, const struct array_part *part,
                            struct ssan_error *err);
void array_close(struct array *array);

/* Compares two open arrays and adds what is found to `result`; `options->type` is set to theirs.
 * SSAN_FORMAT: their types, sizes or shapes differ, the text has both; SSAN_USAGE: a tolerance is
 * none; SSAN_IO, SSAN_NO_MEMORY. */
enum ssan_status array_compare(struct array *a, struct array *b,
                               struct ssan_compare_options *options,
                               struct ssan_compare_result *result, struct ssan_error *err);

#endif
