/* The header of a .npy file, versions 1 to 3, for arrays of the types that are compared.
 *
 * Source: NumPy Enhancement Proposal 1 and numpy.lib.format: magic "\x93NUMPY", two bytes of
 * version, the length of the header (2 bytes in version 1, else 4, little-endian), then a Python
 * dictionary of `descr`, `fortran_order` and `shape`. */
#ifndef SSAN_COMPARE_NPY_H
#define SSAN_COMPARE_NPY_H

#include "base/status.h"
#include "streamsan/compare.h"

#include <stddef.h>

#define NPY_DIMENSIONS_MOST 32
#define NPY_HEADER_MOST     (1u << 20) /* bytes; those of numpy are a few hundred */

struct npy {
    enum ssan_compare_type type;
    uint64_t data_begin; /* bytes from the beginning of the file */
    uint64_t count;      /* elements: the product of the shape */
    unsigned dimensions;
    uint64_t shape[NPY_DIMENSIONS_MOST];
};

bool npy_is(const void *bytes, size_t length);

/* Reads the header in the first bytes of a file; `length` is all of the file or at least
 * NPY_HEADER_MOST + 12. `wanted` (may be NULL) is the type that the caller says: it must be that of
 * the file, and is believed for elements that numpy has no name for ("V2" is bfloat16).
 * SSAN_FORMAT: no such header, or an order, byte order or type that is not read; the text says
 * which. Any thread. */
enum ssan_status npy_read(struct npy *npy, const void *bytes, size_t length,
                          const enum ssan_compare_type *wanted, struct ssan_error *err);

#endif
