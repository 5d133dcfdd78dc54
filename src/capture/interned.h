/* A table from 64-bit hashes to small ids, in mapped memory, that never moves.
 *
 * Finding takes no lock and goes on while others add; adding is for one thread at a time. Two
 * things are one when their hashes are: by accident once in 10^7 tables with a million entries. */
#ifndef SSAN_CAPTURE_INTERNED_H
#define SSAN_CAPTURE_INTERNED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct interned_slot;

struct interned {
    struct interned_slot *slots;
    uint64_t mask;
    _Atomic uint32_t count; /* ids given out: 1 .. count */
};

/* Room for 3/4 of 2^bits entries; the kernel gives memory as it is touched. False: no memory. */
bool interned_open(struct interned *table, unsigned bits);
/* Gives it back. No other thread may be inside. */
void interned_close(struct interned *table);

/* 0: not known, or another thread is just adding it. */
uint32_t interned_find(const struct interned *table, uint64_t hash);
/* The id that the next thing gets; 0: no room. */
uint32_t interned_next(const struct interned *table);
/* Makes interned_next's id known under a hash that is not known. */
void interned_add(struct interned *table, uint64_t hash);

#endif
