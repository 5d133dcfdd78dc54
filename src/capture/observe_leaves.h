/* From pages of bits to events of the trace. */
#ifndef SSAN_CAPTURE_OBSERVE_LEAVES_H
#define SSAN_CAPTURE_OBSERVE_LEAVES_H

#include "trace/sink.h"

#include <stddef.h>
#include <stdint.h>

/* A leaf of patch_abi.h: `what` is its number << 3 | kind, `bits` its page. */
struct observe_leaf {
    uint64_t what;
    const uint32_t *bits;
};

/* Parts of a span that a group of bytes touches, as PATCH_PARTS knows them: bit j of rows[i]: some
 * word has bit i of the lower half and bit j of the upper one. */
struct observe_parts {
    uint16_t rows[16];
};

struct observe_leaves {
    struct ssan_sink *sink;
    uint64_t op;
    /* The site of accesses of `kind` to [begin, end), of which `parts` were touched; 0: unknown. */
    uint32_t (*find_site)(void *self, uint32_t kind, uint64_t begin, uint64_t end,
                          const struct observe_parts *parts);
    void *self;
};

/* Writes what the leaves hold, a group for each kind and live block of memory, as `set` where few
 * runs tell it and `set_leaf` where many bytes lie apart. The leaves are sorted by kind, then by
 * address, and none is twice. One thread at a time for each `out`. */
void observe_leaves_tell(const struct observe_leaves *out, const struct observe_leaf *leaves,
                         size_t count);

#endif
