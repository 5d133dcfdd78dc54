/* A hash of words, one after the other: the same on every machine, but no protection against who
 * wants two that are equal. */
#ifndef SSAN_BASE_HASH_H
#define SSAN_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The hash so far (any number to begin with) and one more word; every bit depends on all, and the
 * two do not stand for each other. */
static inline uint64_t hash_mix(uint64_t hash, uint64_t word)
{
    uint64_t z = (hash * UINT64_C(0xd6e8feb86659fd93) ^ word) + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* All bytes and their number. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *at = (const unsigned char *)bytes;
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        uint64_t word;
        memcpy(&word, at + i, sizeof word);
        hash = hash_mix(hash, word);
    }
    for (; i < length; i++) {
        hash = hash_mix(hash, at[i]);
    }
    return hash_mix(hash, length);
}

#endif
