/* The packed key of a shadow cell: whose epoch, what kind of access. Only this file knows the
 * layout.
 *
 * Layout (12 bytes): chain 32 | tick 32 | bits 32: access 0-1 (enum ssan_access), may 2, rounded
 * 3-4 (0 exact, 1 to 64 bytes, 2 to 4096 bytes, 3 to its hull). N1 ticks: a chain that reaches 2^32
 * - 1 ticks is given up for a new one (order.c), so ticks never wrap. N2 chains: at most 2^32 - 1;
 * one is 4 bytes in order's table, so memory ends first. */
#ifndef SSAN_CORE_CELL_H
#define SSAN_CORE_CELL_H

#include "core/clock.h"
#include "trace/event.h"

struct cell_key {
    uint32_t chain, tick, bits;
};

static inline struct cell_key cell_pack(struct epoch at, enum ssan_access access, bool may)
{
    return (struct cell_key){at.chain, at.tick, (uint32_t)access | (may ? 4u : 0u)};
}

static inline struct epoch cell_epoch(struct cell_key key)
{
    return (struct epoch){.chain = key.chain, .tick = key.tick};
}

static inline enum ssan_access cell_access(struct cell_key key)
{
    return (enum ssan_access)(key.bits & 3u);
}

static inline bool cell_may(struct cell_key key)
{
    return (key.bits & 4u) != 0;
}

static inline unsigned cell_rounded(struct cell_key key)
{
    return (key.bits >> 3) & 3u;
}

static inline struct cell_key cell_round(struct cell_key key, unsigned level)
{
    key.bits = (key.bits & ~(3u << 3)) | (level & 3u) << 3;
    return key;
}

#endif
