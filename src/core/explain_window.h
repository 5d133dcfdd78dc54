/* Which operations a finding's order window shows, and what of them only a second pass over the
 * trace tells. */
#ifndef SSAN_CORE_EXPLAIN_WINDOW_H
#define SSAN_CORE_EXPLAIN_WINDOW_H

#include "core/explain_nearest.h"

/* What the history leaves out of an item, for those that may be shown. */
struct detail {
    uint32_t item;
    uint32_t grid[3], block[3];
    uint64_t dst, src, width, height, dst_pitch, src_pitch;
    VEC(uint64_t) touched; /* blocks: alloc index, or the address of pageable memory's block */
};

struct details {
    VEC(struct detail) items;
    struct map of; /* item -> index */
};

#define WINDOW_MAX 12

/* Calls (indices) of a window, in issue order. */
struct window {
    uint32_t calls[WINDOW_MAX];
    size_t count;
};

/* Marks the items that may stand in the window of a finding. False when out of memory. */
bool window_prepare(struct details *details, const struct history *history, const struct pair *pair,
                    const struct miss *miss);

/* Reads the marked items from `source` (it stands at its first event). */
enum ssan_status details_read(struct details *details, const struct history *history,
                              struct ssan_source *source, struct ssan_error *err);

/* NULL when an item was not marked. */
const struct detail *details_find(const struct details *details, uint32_t item);
void details_finish(struct details *details);

/* The operations that tell the story: both sides and what the nearest miss names, then records,
 * waits and what touches the block around them, the nearest first, at most WINDOW_MAX. */
struct window window_select(const struct details *details, const struct history *history,
                            const struct pair *pair, const struct miss *miss);

/* A call's index for a position, HISTORY_NONE when no call stands there. */
uint32_t call_at_position(const struct history *history, uint64_t position);
/* The call of a side: the item's for host functions. */
uint32_t call_of_side(const struct history *history, const struct side *side, uint32_t item);

/* The block of an address as a number: alloc index, or the begin of its pageable block with bit 63
 * set. */
uint64_t block_key(const struct history *history, uint64_t address, uint64_t position);
#define BLOCK_PAGEABLE (UINT64_C(1) << 63)

#endif
