/* Reads memory that may not be there. */
#ifndef SSAN_CAPTURE_MEMORY_PROBE_H
#define SSAN_CAPTURE_MEMORY_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies `bytes` bytes from an address of this process; false where they can't be read. Costs a
 * system call for each page; any thread. */
bool memory_probe(void *to, uint64_t from, size_t bytes);
/* Whether all bytes of a range can be read. */
bool memory_is_readable(uint64_t from, uint64_t bytes);

#endif
