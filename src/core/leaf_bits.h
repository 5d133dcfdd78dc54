/* The bits of one leaf, LEAF_WORDS words: set, counted, and gone through by runs. Word by word; the
 * naive model is bit by bit. */
#ifndef SSAN_CORE_LEAF_BITS_H
#define SSAN_CORE_LEAF_BITS_H

#include "core/bytes.h"

/* Sets the bits of [begin, end). */
static inline void leaf_mark(uint64_t *bits, uint64_t begin, uint64_t end)
{
    for (uint64_t at = begin; at < end;) {
        uint64_t left = 64 - at % 64, length = end - at < left ? end - at : left;
        uint64_t mask = length == 64 ? UINT64_MAX : ((UINT64_C(1) << length) - 1) << (at % 64);
        bits[at / 64] |= mask;
        at += length;
    }
}

static inline uint32_t leaf_count(const uint64_t *bits)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < LEAF_WORDS; i++) {
        count += (uint32_t)__builtin_popcountll(bits[i]);
    }
    return count;
}

/* Whether a leaf has more than `most` runs of set bits; looks no further than that. */
static inline bool leaf_has_runs_above(const uint64_t *bits, uint32_t most)
{
    uint64_t before = 0;
    uint32_t runs = 0;
    for (uint32_t i = 0; i < LEAF_WORDS && runs <= most; i++) {
        runs += (uint32_t)__builtin_popcountll(bits[i] & ~(bits[i] << 1 | before));
        before = bits[i] >> 63;
    }
    return runs > most;
}

/* The first run of set bits at or behind `from`; false when there is none. */
static inline bool leaf_next(const uint64_t *bits, uint32_t from, uint32_t *begin, uint32_t *end)
{
    uint32_t at = from;
    while (at < LEAF_BYTES) {
        uint64_t word = bits[at / 64] >> (at % 64);
        if (word) {
            at += (uint32_t)__builtin_ctzll(word);
            break;
        }
        at = (at / 64 + 1) * 64;
    }
    if (at >= LEAF_BYTES) {
        return false;
    }
    *begin = at;
    while (at < LEAF_BYTES) {
        uint64_t word = ~bits[at / 64] >> (at % 64);
        uint32_t left = 64 - at % 64;
        uint32_t ones = word ? (uint32_t)__builtin_ctzll(word) : left;
        ones = ones < left ? ones : left;
        at += ones;
        if (ones < left) {
            break;
        }
    }
    *end = at;
    return true;
}

#endif
