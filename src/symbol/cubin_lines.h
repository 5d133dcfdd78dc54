/* The line table of a cubin: DWARF's, versions 2 to 4, with addresses that relocations give.
 *
 * Rows are places in sections instead of addresses. Not thread-safe. */
#ifndef SSAN_SYMBOL_CUBIN_LINES_H
#define SSAN_SYMBOL_CUBIN_LINES_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From `offset` in `section` on. `line` 0: a sequence ends there. */
struct cubin_row {
    uint64_t offset;
    uint32_t section, line, file; /* file: index into files */
    uint32_t order;               /* in the table: of rows at one place the last counts */
};

/* What an address in the table stands for. */
struct cubin_target {
    uint32_t section;
    uint64_t offset;
};

struct cubin_file {
    const char *folder, *name; /* folder: "" none; in `arena` */
};

/* Zeroed is empty. */
struct cubin_lines {
    struct arena arena;
    struct map relocated; /* offset in the table -> index into targets */
    VEC(struct cubin_target) targets;
    VEC(struct cubin_file) files;
    VEC(struct cubin_row) rows; /* sorted once read */
};

/* The address at byte `at` of the table is `offset` in `section`. False when out of memory. */
bool cubin_lines_relocate(struct cubin_lines *lines, uint64_t at, uint32_t section,
                          uint64_t offset);
/* Reads the table (borrowed for the call) behind all relocations. What is damaged ends its unit.
 * False when out of memory. */
bool cubin_lines_read(struct cubin_lines *lines, const unsigned char *bytes, size_t size);

/* The row that holds at this place; NULL: none. */
const struct cubin_row *cubin_lines_find(const struct cubin_lines *lines, uint32_t section,
                                         uint64_t offset);
/* The path of a row's file; NULL when out of memory. */
const char *cubin_lines_file(const struct cubin_lines *lines, const struct cubin_row *row,
                             struct arena *arena);

void cubin_lines_finish(struct cubin_lines *lines);

#endif
