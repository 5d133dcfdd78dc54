/* Values between slots and memory, lane by lane, and the search for warps that only spin. */
#include "ptx/mem_lanes.h"

static uint32_t extend(uint32_t value, uint32_t width, uint32_t how)
{
    if (how == EXTEND_zero) {
        return value;
    }
    const int32_t full = width == 1 ? (int8_t)value : (int16_t)value;
    return how == EXTEND_sign16 ? (uint16_t)full : (uint32_t)full;
}

void lane_in(char *r, uint32_t slot, uint32_t lane, const struct op *op, const unsigned char *from)
{
    uint32_t narrow = 0;
    if (op->width == 8) {
        memcpy(slot_64(r, slot) + lane, from, 8);
    } else if (op->width == 4) {
        memcpy(slot_32(r, slot) + lane, from, 4);
    } else {
        memcpy(&narrow, from, op->width);
        slot_32(r, slot)[lane] = extend(narrow, op->width, op->extend);
    }
}

void lane_out(char *r, uint32_t slot, uint32_t lane, const struct op *op, unsigned char *to)
{
    if (op->width == 8) {
        memcpy(to, slot_64(r, slot) + lane, 8);
    } else if (op->width == 4) {
        memcpy(to, slot_32(r, slot) + lane, 4);
    } else {
        memcpy(to, slot_32(r, slot) + lane, op->width); /* the low bytes: little endian */
    }
}

void lane_move(const struct warp *w, char *r, const struct op *op, uint32_t lane, unsigned char *at,
               bool writes)
{
    for (uint32_t e = 0; e < op->count; e++, at += op->width) {
        const uint32_t slot = element_slot(w, op, e);
        if (writes) {
            lane_out(r, slot, lane, op, at);
        } else {
            lane_in(r, slot, lane, op, at);
        }
    }
}

void move_lanes(struct warp *w, char *r, const struct access *access, uint64_t host)
{
    const struct lane_isa *isa = w->exec->isa;
    const struct op *op = access->op;
    if (op->width != 4) {
        EACH_LANE(i, access->mask)
        {
            unsigned char *at = (unsigned char *)(uintptr_t)(access->address[i] + host);
            lane_move(w, r, op, i, at, access->writes);
        }
        return;
    }
    for (uint32_t e = 0; e < op->count; e++, host += op->width) {
        uint32_t *lanes = slot_32(r, element_slot(w, op, e));
        if (access->writes) {
            isa->scatter_32(lanes, access->address, host, access->mask);
        } else {
            isa->gather_32(lanes, access->address, host, access->mask);
        }
    }
}

void watch_access(struct warp *w, char *r, const struct access *access)
{
    const struct op *op = access->op;
    struct mem_state *s = state_of(w, op);
    uint64_t hash = access->mask;
    EACH_LANE(i, access->mask)
    {
        hash = (hash ^ access->address[i]) * UINT64_C(0x9e3779b97f4a7c15);
        for (uint32_t e = 0; e < op->count; e++) {
            const uint32_t slot = element_slot(w, op, e);
            hash = (hash ^ (op->width == 8 ? slot_64(r, slot)[i] : slot_32(r, slot)[i])) *
                   UINT64_C(0xff51afd7ed558ccd);
            hash ^= hash >> 32;
        }
    }
    if (hash != s->last_hash) {
        w->moved = true;
        s->last_hash = hash;
    } else if (!access->writes) {
        w->polled = true;
        w->poll_address = access->address[__builtin_ctz(access->mask)] + (uint64_t)op->imm;
        w->poll_line = op->line;
    }
}
