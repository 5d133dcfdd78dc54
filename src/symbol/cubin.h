/* Lines of device code: from an offset in a function's section of a cubin to file, line and
 * function.
 *
 * A cubin is an ELF file of its own machine. Its sections have no addresses, and its line table
 * (-lineinfo, or -G) names functions by relocations, which general readers do not know; so it is
 * read here. Not thread-safe. */
#ifndef SSAN_SYMBOL_CUBIN_H
#define SSAN_SYMBOL_CUBIN_H

#include "symbol/object.h"

struct cubin;

/* Reads the cubin at `path`. NULL: it can't be read, is no cubin, or there is no memory. What is
 * damaged in it is left out. */
struct cubin *cubin_open(const char *path);
/* The same from bytes in memory, which are borrowed for the call. */
struct cubin *cubin_read(const void *bytes, size_t size);

/* The place of the instruction at `offset` in section number `section`. Strings live in the arena.
 * False when nothing is known of it. */
bool cubin_resolve(const struct cubin *cubin, uint32_t section, uint64_t offset,
                   struct arena *arena, struct object_frame *frame);

void cubin_close(struct cubin *cubin);

#endif
