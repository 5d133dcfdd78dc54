/* Atomic operations: one lane after the other, each a real atomic operation on the host's memory,
 * so that other threads of the process may take part. */
#include "ptx/warp.h"

#include <string.h>

static uint32_t next_32(const struct op *op, uint32_t old, uint32_t b, uint32_t c)
{
    const bool below = op->extend == 1 ? (int32_t)b < (int32_t)old : b < old;
    switch (op->sub) {
    case ATOMIC_add:
        if (op->extend == 2) {
            float x, y;
            memcpy(&x, &old, sizeof x);
            memcpy(&y, &b, sizeof y);
            x += y;
            memcpy(&old, &x, sizeof x);
            return old;
        }
        return old + b;
    case ATOMIC_and:
        return old & b;
    case ATOMIC_or:
        return old | b;
    case ATOMIC_xor:
        return old ^ b;
    case ATOMIC_min:
        return below ? b : old;
    case ATOMIC_max:
        return below ? old : b;
    case ATOMIC_inc:
        return old >= b ? 0 : old + 1;
    case ATOMIC_dec:
        return old == 0 || old > b ? b : old - 1;
    case ATOMIC_cas:
        return old == b ? c : old;
    default:
        return b;
    }
}

static uint64_t next_64(const struct op *op, uint64_t old, uint64_t b, uint64_t c)
{
    const bool below = op->extend == 1 ? (int64_t)b < (int64_t)old : b < old;
    switch (op->sub) {
    case ATOMIC_add:
        if (op->extend == 2) {
            double x, y;
            memcpy(&x, &old, sizeof x);
            memcpy(&y, &b, sizeof y);
            x += y;
            memcpy(&old, &x, sizeof x);
            return old;
        }
        return old + b;
    case ATOMIC_and:
        return old & b;
    case ATOMIC_or:
        return old | b;
    case ATOMIC_xor:
        return old ^ b;
    case ATOMIC_min:
        return below ? b : old;
    case ATOMIC_max:
        return below ? old : b;
    case ATOMIC_inc:
        return old >= b ? 0 : old + 1;
    case ATOMIC_dec:
        return old == 0 || old > b ? b : old - 1;
    case ATOMIC_cas:
        return old == b ? c : old;
    default:
        return b;
    }
}

/* Applies the operation to `host`; *changed tells whether the memory differs now. Returns the old
 * value. */
static uint64_t apply(const struct op *op, unsigned char *host, uint64_t b, uint64_t c,
                      bool *changed)
{
    if (op->width == 8) {
        uint64_t *word = (uint64_t *)(void *)host, old = __atomic_load_n(word, __ATOMIC_RELAXED),
                 next;
        do {
            next = next_64(op, old, b, c);
        } while (!__atomic_compare_exchange_n(word, &old, next, false, __ATOMIC_SEQ_CST,
                                              __ATOMIC_RELAXED));
        *changed = next != old;
        return old;
    }
    if (op->width == 4) {
        uint32_t *word = (uint32_t *)(void *)host, old = __atomic_load_n(word, __ATOMIC_RELAXED),
                 next;
        do {
            next = next_32(op, old, (uint32_t)b, (uint32_t)c);
        } while (!__atomic_compare_exchange_n(word, &old, next, false, __ATOMIC_SEQ_CST,
                                              __ATOMIC_RELAXED));
        *changed = next != old;
        return old;
    }
    uint16_t *word = (uint16_t *)(void *)host, expected = (uint16_t)b;
    *changed = __atomic_compare_exchange_n(word, &expected, (uint16_t)c, false, __ATOMIC_SEQ_CST,
                                           __ATOMIC_SEQ_CST) &&
               (uint16_t)b != (uint16_t)c;
    return expected;
}

/* Where a lane's word is; NULL after a fault or where a dry run skips it. */
static unsigned char *find_word(struct warp *w, const struct op *op, uint32_t lane, uint64_t at,
                                bool *is_global)
{
    *is_global = false;
    if (op->space == SPACE_shared ||
        (op->space == SPACE_generic && at >> WINDOW_SHIFT == WINDOW_SHARED)) {
        const uint64_t offset = op->space == SPACE_shared ? at : at - WINDOW_BASE(WINDOW_SHARED);
        if (offset >= w->exec->shared_bytes || op->width > w->exec->shared_bytes - offset) {
            warp_fault(w, PTX_FAULT_ILLEGAL_ADDRESS, op, 1u << lane, offset, op->width, true);
            return NULL;
        }
        if (offset % op->width) {
            warp_fault(w, PTX_FAULT_MISALIGNED, op, 1u << lane, offset, op->width, true);
            return NULL;
        }
        return w->block->shared + offset;
    }
    *is_global = true;
    return mem_global_lane(w, op, lane, at, op->width, true);
}

static uint64_t slot_value(char *r, uint32_t slot, uint32_t lane, const struct op *op)
{
    return op->width == 8 ? slot_64(r, slot)[lane] : slot_32(r, slot)[lane];
}

void exec_atomic(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint64_t *address = slot_64(r, op->a);
    uint64_t at[WARP_LANES] = {0};
    uint32_t global = 0;
    bool any_change = false;
    w->clock_was_last = false;
    EACH_LANE(i, mask)
    {
        bool is_global, changed = false;
        at[i] = address[i] + (uint64_t)op->imm;
        unsigned char *host = find_word(w, op, i, at[i], &is_global);
        if (w->stop) {
            return;
        }
        global |= is_global ? 1u << i : 0;
        if (!host) {
            continue;
        }
        const uint64_t old =
            apply(op, host, slot_value(r, op->b, i, op), slot_value(r, op->c, i, op), &changed);
        any_change |= changed;
        if (op->dst && op->width == 8) {
            slot_64(r, op->dst)[i] = old;
        } else if (op->dst) {
            slot_32(r, op->dst)[i] = (uint32_t)old;
        }
    }
    mem_note(w, op, global, at, SSAN_access_ATOMIC);
    w->moved |= any_change;
    if (!any_change) {
        w->polled = true;
        w->poll_address = at[__builtin_ctz(mask)];
        w->poll_line = op->line;
    }
}
