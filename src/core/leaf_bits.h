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

/* The set bits of each byte, in that byte. The compiler's own count of a word is a call where the
 * processor need not have an instruction for it; and bytes of words can be added up (Warren,
 * Hacker's Delight, 5-1). */
static inline uint64_t leaf_byte_counts(uint64_t word)
{
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    return (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
}

static inline uint32_t leaf_count(const uint64_t *bits)
{
    const uint64_t even = UINT64_C(0x00ff00ff00ff00ff);
    uint64_t sums = 0; /* four, of 16 bits */
    for (uint32_t i = 0; i < LEAF_WORDS; i += 16) {
        uint64_t bytes = 0; /* at most 128 each */
        for (uint32_t j = 0; j < 16; j++) {
            bytes += leaf_byte_counts(bits[i + j]);
        }
        sums += (bytes & even) + (bytes >> 8 & even);
    }
    return (uint32_t)(sums * UINT64_C(0x0001000100010001) >> 48);
}

/* Whether a leaf has more than `most` runs of set bits; looks no further than that. */
static inline bool leaf_has_runs_above(const uint64_t *bits, uint32_t most)
{
    uint64_t before = 0;
    uint32_t runs = 0;
    for (uint32_t i = 0; i < LEAF_WORDS && runs <= most; i++) {
        uint64_t begins = leaf_byte_counts(bits[i] & ~(bits[i] << 1 | before));
        runs += (uint32_t)(begins * UINT64_C(0x0101010101010101) >> 56);
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
