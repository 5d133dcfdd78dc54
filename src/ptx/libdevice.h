/* CUDA's device library, one lane at a time. */
#ifndef SSAN_PTX_LIBDEVICE_H
#define SSAN_PTX_LIBDEVICE_H

#include <stddef.h>
#include <stdint.h>

/* Arguments and result as bit patterns, in the low bytes. */
typedef void libdevice_fn(const uint64_t *in, uint64_t *out);

struct libdevice_entry {
    const char *name; /* without __nv_ */
    libdevice_fn *fn;
    uint8_t result_bytes, arg_count, arg_bytes[4];
};

extern const struct libdevice_entry libdevice_entries[];
extern const size_t libdevice_count;

#endif
