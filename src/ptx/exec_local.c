/* Loads and stores of local memory and of the frame: interleaved by words, so that lanes at one
 * address are one row of 32 words. */
#include "ptx/mem_lanes.h"

void local_read(const struct warp *w, uint32_t lane, uint64_t at, void *bytes, uint32_t size)
{
    unsigned char *to = bytes;
    while (size) {
        const uint32_t inside = (uint32_t)at % 4, piece = size < 4 - inside ? size : 4 - inside;
        const unsigned char *word = (const unsigned char *)&w->local[at / 4 * WARP_LANES + lane];
        memcpy(to, word + inside, piece);
        to += piece;
        at += piece;
        size -= piece;
    }
}

void local_write(struct warp *w, uint32_t lane, uint64_t at, const void *bytes, uint32_t size)
{
    const unsigned char *from = bytes;
    while (size) {
        const uint32_t inside = (uint32_t)at % 4, piece = size < 4 - inside ? size : 4 - inside;
        unsigned char *word = (unsigned char *)&w->local[at / 4 * WARP_LANES + lane];
        memcpy(word + inside, from, piece);
        from += piece;
        at += piece;
        size -= piece;
    }
}

/* A value of 8 bytes is two rows: low words, high words. */
static void local_row_64(uint32_t *row, uint64_t *lanes, bool writes)
{
    for (uint32_t i = 0; writes && i < WARP_LANES; i++) {
        row[i] = (uint32_t)lanes[i];
        row[WARP_LANES + i] = (uint32_t)(lanes[i] >> 32);
    }
    for (uint32_t i = 0; !writes && i < WARP_LANES; i++) {
        lanes[i] = row[i] | (uint64_t)row[WARP_LANES + i] << 32;
    }
}

/* All lanes of `mask` at one address: rows of the interleaved memory. */
static void local_row(struct warp *w, char *r, const struct op *op, uint32_t mask, uint64_t at,
                      bool writes)
{
    const struct lane_isa *isa = w->exec->isa;
    for (uint32_t e = 0; e < op->count; e++, at += op->width) {
        uint32_t *row = w->local + at / 4 * WARP_LANES;
        const uint32_t slot = element_slot(w, op, e);
        if (op->width == 4) {
            uint32_t *lanes = slot_32(r, slot);
            if (writes) {
                isa->blend_32(row, lanes, mask);
            } else {
                isa->blend_32(lanes, row, mask);
            }
            continue;
        }
        if (op->width == 8 && mask == FULL_MASK) {
            local_row_64(row, slot_64(r, slot), writes);
            continue;
        }
        EACH_LANE(i, mask)
        {
            uint64_t value = 0;
            if (writes) {
                lane_out(r, slot, i, op, (unsigned char *)&value);
                local_write(w, i, at, &value, op->width);
            } else {
                local_read(w, i, at, &value, op->width);
                lane_in(r, slot, i, op, (const unsigned char *)&value);
            }
        }
    }
}

/* True when all 32 addresses are the same. */
static bool is_uniform(const uint64_t *address)
{
    uint64_t differs = 0;
    for (uint32_t i = 1; i < WARP_LANES; i++) {
        differs |= address[i] ^ address[0];
    }
    return differs == 0;
}

void access_local(struct warp *w, char *r, const struct op *op, uint32_t mask,
                  const uint64_t *address, uint64_t imm, bool writes)
{
    const uint32_t total = lane_bytes(op);
    const uint64_t limit = (uint64_t)w->local_words * 4, first = address[__builtin_ctz(mask)] + imm;
    uint64_t differs = 0;
    if (mask == FULL_MASK && first < limit && total <= limit - first &&
        (first & (op->width - 1u)) == 0 && is_uniform(address)) {
        local_row(w, r, op, mask, first, writes);
        return;
    }
    EACH_LANE(i, mask)
    {
        const uint64_t at = address[i] + imm;
        differs |= at ^ first;
        if (at >= limit || total > limit - at || (at & (op->width - 1u))) {
            warp_fault(w,
                       at >= limit || total > limit - at ? PTX_FAULT_ILLEGAL_ADDRESS
                                                         : PTX_FAULT_MISALIGNED,
                       op, 1u << i, at, total, writes);
            return;
        }
    }
    if (differs == 0) {
        local_row(w, r, op, mask, first, writes);
        return;
    }
    EACH_LANE(k, mask)
    {
        for (uint32_t e = 0; e < op->count; e++) {
            const uint64_t at = address[k] + imm + (uint64_t)e * op->width;
            uint64_t value = 0;
            if (writes) {
                lane_out(r, element_slot(w, op, e), k, op, (unsigned char *)&value);
                local_write(w, k, at, &value, op->width);
            } else {
                local_read(w, k, at, &value, op->width);
                lane_in(r, element_slot(w, op, e), k, op, (const unsigned char *)&value);
            }
        }
    }
}

void exec_load_local(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    access_local(w, r, op, mask, slot_64(r, op->a), (uint64_t)op->imm, false);
}

void exec_store_local(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    access_local(w, r, op, mask, slot_64(r, op->a), (uint64_t)op->imm, true);
}

/* Parameters and .local variables by name: checked when the function was read. */
static void access_frame(struct warp *w, char *r, const struct op *op, uint32_t mask, bool writes)
{
    const struct frame *frame = w->groups[w->current].frame;
    const uint64_t at = frame->local_base + (uint64_t)op->imm;
    const uint32_t total = lane_bytes(op);
    const uint64_t limit = (uint64_t)w->local_words * 4;
    if (at >= limit || total > limit - at || at % op->width) {
        warp_fault(w, PTX_FAULT_ILLEGAL_ADDRESS, op, mask, at, total, writes);
        return;
    }
    local_row(w, r, op, mask, at, writes);
}

void exec_load_frame(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    access_frame(w, r, op, mask, false);
}

void exec_store_frame(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    access_frame(w, r, op, mask, true);
}
