/* Atomic operations: one lane after the other, each a real atomic operation on the host's memory,
 * so that other threads of the process may take part. */
#include "ptx/warp.h"

#include <string.h>

/* The low `width` bytes of a value. */
static uint64_t low_bytes(uint64_t value, uint32_t width)
{
    return width == 8 ? value : value & ((UINT64_C(1) << 8 * width) - 1);
}

/* The number that they are if their top bit is a sign. */
static int64_t as_signed(uint64_t value, uint32_t width)
{
    const uint32_t unused = 64 - 8 * width;
    return (int64_t)(value << unused) >> unused;
}

static uint64_t float_sum(uint64_t a, uint64_t b, uint32_t width)
{
    float x, y;
    double u, v;
    if (width == 4) {
        memcpy(&x, &a, sizeof x);
        memcpy(&y, &b, sizeof y);
        x += y;
        memcpy(&a, &x, sizeof x); /* the low bytes: little endian */
        return a;
    }
    memcpy(&u, &a, sizeof u);
    memcpy(&v, &b, sizeof v);
    u += v;
    memcpy(&a, &u, sizeof u);
    return a;
}

/* What the memory holds next; all values are low bytes of the operation's width. */
static uint64_t next_value(const struct op *op, uint64_t old, uint64_t b, uint64_t c)
{
    const bool below =
        op->extend == ATOMIC_signed ? as_signed(b, op->width) < as_signed(old, op->width) : b < old;
    switch (op->sub) {
    case ATOMIC_add:
        return op->extend == ATOMIC_float ? float_sum(old, b, op->width)
                                          : low_bytes(old + b, op->width);
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

static uint64_t load_word(const unsigned char *host, uint32_t width)
{
    const void *at = host;
    return width == 8   ? __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED)
           : width == 4 ? __atomic_load_n((const uint32_t *)at, __ATOMIC_RELAXED)
                        : __atomic_load_n((const uint16_t *)at, __ATOMIC_RELAXED);
}

/* Puts `next` where *old is; else false, and *old is what is there. */
static bool exchange(unsigned char *host, uint32_t width, uint64_t *old, uint64_t next)
{
    uint64_t *const wide = (uint64_t *)(void *)host;
    uint32_t *const word = (uint32_t *)(void *)host, old_32 = (uint32_t)*old;
    uint16_t *const half = (uint16_t *)(void *)host, old_16 = (uint16_t)*old;
    bool done;
    switch (width) {
    case 8:
        return __atomic_compare_exchange_n(wide, old, next, false, __ATOMIC_SEQ_CST,
                                           __ATOMIC_SEQ_CST);
    case 4:
        done = __atomic_compare_exchange_n(word, &old_32, (uint32_t)next, false, __ATOMIC_SEQ_CST,
                                           __ATOMIC_SEQ_CST);
        *old = old_32;
        return done;
    default:
        done = __atomic_compare_exchange_n(half, &old_16, (uint16_t)next, false, __ATOMIC_SEQ_CST,
                                           __ATOMIC_SEQ_CST);
        *old = old_16;
        return done;
    }
}

/* Applies the operation to `host`; *changed tells whether the memory differs now. Returns the old
 * value. */
static uint64_t apply(const struct op *op, unsigned char *host, uint64_t b, uint64_t c,
                      bool *changed)
{
    const uint64_t low_b = low_bytes(b, op->width), low_c = low_bytes(c, op->width);
    uint64_t old = load_word(host, op->width), next;
    do {
        next = next_value(op, old, low_b, low_c);
    } while (!exchange(host, op->width, &old, next));
    *changed = next != old;
    return old;
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
