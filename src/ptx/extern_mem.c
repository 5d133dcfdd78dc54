/* Memory of external functions: one lane's bytes at a generic address.
 *
 * A call has two memory states, op->b for what it reads and op->b + 1 for what it writes. */
#include "ptx/warp.h"

#include <string.h>

static bool access_lane(struct warp *w, const struct op *op, uint32_t lane, uint64_t address,
                        void *to, const void *from, uint32_t size)
{
    const uint64_t window = address >> WINDOW_SHIFT, offset = address & (WINDOW_BASE(1) - 1);
    if (window == WINDOW_LOCAL && offset + size <= (uint64_t)w->local_words * 4) {
        if (to) {
            local_read(w, lane, offset, to, size);
        } else {
            local_write(w, lane, offset, from, size);
        }
        return true;
    }
    unsigned char *host = NULL;
    if (window == WINDOW_SHARED && offset + size <= w->exec->shared_bytes) {
        host = w->block->shared + offset;
    } else if (window == WINDOW_PARAM && to &&
               offset + size <= w->exec->entry->kernel.param_bytes) {
        host = w->exec->params + offset;
    } else {
        struct op part = *op; /* the access as an operation of its own */
        part.aux = op->b + (to ? 0 : 1);
        part.width = (uint8_t)size;
        part.count = 1;
        host = mem_global_lane(w, &part, lane, address, size, !to);
        uint64_t at[WARP_LANES] = {0};
        at[lane] = address;
        if (!w->exec->fault.fault) {
            mem_note(w, &part, 1u << lane, at, to ? SSAN_access_READ : SSAN_access_WRITE);
        }
    }
    if (!host) {
        if (to) {
            memset(to, 0, size);
        }
        return !w->exec->fault.fault; /* a dry run skips it */
    }
    memcpy(to ? to : host, to ? host : from, size);
    return true;
}

bool mem_read_lane(struct warp *w, const struct op *op, uint32_t lane, uint64_t address,
                   void *bytes, uint32_t size)
{
    return access_lane(w, op, lane, address, bytes, NULL, size);
}

bool mem_write_lane(struct warp *w, const struct op *op, uint32_t lane, uint64_t address,
                    const void *bytes, uint32_t size)
{
    return access_lane(w, op, lane, address, NULL, bytes, size);
}
