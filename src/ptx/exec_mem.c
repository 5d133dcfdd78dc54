/* Loads and stores.
 *
 * Fast paths for a full warp whose addresses are linear (one check, one copy, one observed run) or
 * equal; else lanes are handled one by one. Global accesses lie inside one live region or fault;
 * the region is cached for each operation until the machine's epoch changes. Generic addresses are
 * told apart by their window. */
#include "ptx/warp.h"

#include <string.h>

static struct mem_state *state_of(struct warp *w, const struct op *op)
{
    return &w->mem[op->aux];
}

/* Slot of element `e` of a load or store. */
static uint32_t element_slot(const struct warp *w, const struct op *op, uint32_t e)
{
    return op->count == 1 ? op->dst : w->groups[w->current].frame->func->pool[op->dst + e];
}

static uint32_t extend(uint32_t value, uint32_t width, uint32_t how)
{
    if (how == EXTEND_zero) {
        return value;
    }
    const int32_t full = width == 1 ? (int8_t)value : (int16_t)value;
    return how == EXTEND_sign16 ? (uint16_t)full : (uint32_t)full;
}

/* One element of one lane, from memory to its slot and back. */
static void lane_in(char *r, uint32_t slot, uint32_t lane, const struct op *op,
                    const unsigned char *from)
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

static void lane_out(char *r, uint32_t slot, uint32_t lane, const struct op *op, unsigned char *to)
{
    const void *from = op->width == 8 ? (const void *)(slot_64(r, slot) + lane)
                                      : (const void *)(slot_32(r, slot) + lane);
    if (op->width == 4) {
        memcpy(to, from, 4);
    } else if (op->width == 8) {
        memcpy(to, from, 8);
    } else {
        memcpy(to, from, op->width); /* the low bytes: little endian */
    }
}

/* All 32 lanes, addresses `stride` apart (0: all the same). */
static inline void warp_in(const struct warp *w, char *r, const struct op *op,
                           const unsigned char *from, uint64_t stride)
{
    for (uint32_t e = 0; e < op->count; e++) {
        const uint32_t slot = element_slot(w, op, e);
        const unsigned char *at = from + (size_t)e * op->width;
        if (stride == op->width && op->width >= 4) {
            memcpy(r + slot, at, (size_t)op->width * WARP_LANES);
        } else {
            for (uint32_t i = 0; i < WARP_LANES; i++) {
                lane_in(r, slot, i, op, at + i * stride);
            }
        }
    }
}

static inline void warp_out(const struct warp *w, char *r, const struct op *op, unsigned char *to,
                            uint64_t stride)
{
    for (uint32_t e = 0; e < op->count; e++) {
        const uint32_t slot = element_slot(w, op, e);
        unsigned char *at = to + (size_t)e * op->width;
        if (stride == op->width && op->width >= 4) {
            memcpy(at, r + slot, (size_t)op->width * WARP_LANES);
        } else {
            for (uint32_t i = 0; i < WARP_LANES; i++) {
                lane_out(r, slot, i, op, at + i * stride);
            }
        }
    }
}

/* -- spinning -- */

/* In a warp that runs long: did this load see anything new? */
static void watch_load(struct warp *w, char *r, const struct op *op, uint32_t mask,
                       const uint64_t *address)
{
    struct mem_state *s = state_of(w, op);
    uint64_t hash = mask;
    EACH_LANE(i, mask)
    {
        hash = (hash ^ address[i]) * UINT64_C(0x9e3779b97f4a7c15);
        for (uint32_t e = 0; e < op->count; e++) {
            const uint32_t slot = element_slot(w, op, e);
            hash = (hash ^ (op->width == 8 ? slot_64(r, slot)[i] : slot_32(r, slot)[i])) *
                   UINT64_C(0xff51afd7ed558ccd);
            hash ^= hash >> 32;
        }
    }
    if (hash == s->last_hash) {
        w->polled = true;
        w->poll_address = address[__builtin_ctz(mask)] + (uint64_t)op->imm;
        w->poll_line = op->line;
    } else {
        w->moved = true;
        s->last_hash = hash;
    }
}

/* -- global -- */

static void note_use(struct mem_state *s, const struct op *op, enum ssan_access access)
{
    s->is_used = true;
    s->access = (uint8_t)access;
    s->width = (uint8_t)(op->width * op->count);
    s->line = op->line;
}

/* True when [at, at + size) lies in the live region that the operation knows, or that the machine
 * finds. */
static bool find_region(struct warp *w, struct mem_state *s, uint64_t at, uint64_t size,
                        bool writes)
{
    struct ptx_machine *machine = &w->exec->machine;
    const uint64_t epoch = machine->region_epoch ? *machine->region_epoch : 0;
    if (!s->has_region || s->epoch != epoch || at < s->region.begin || at >= s->region.end) {
        s->has_region =
            at >> WINDOW_SHIFT == 0 && machine->find_region(machine->self, at, &s->region);
        s->epoch = epoch;
    }
    return s->has_region && at >= s->region.begin && at < s->region.end &&
           size <= s->region.end - at && (!writes || s->region.writable);
}

static unsigned char *host_of(const struct mem_state *s, uint64_t at)
{
    return (unsigned char *)(uintptr_t)(at + (uint64_t)s->region.delta);
}

/* Addresses of no pattern that all lie in one piece of memory; `host` is what to add to them there.
 */
static void move_lanes(struct warp *w, char *r, const struct op *op, uint32_t mask,
                       const uint64_t *address, uint64_t host, bool writes)
{
    const struct lane_isa *isa = w->exec->isa;
    for (uint32_t e = 0; e < op->count; e++, host += op->width) {
        const uint32_t slot = element_slot(w, op, e);
        if (op->width == 4 && writes) {
            isa->scatter_32(slot_32(r, slot), address, host, mask);
        } else if (op->width == 4) {
            isa->gather_32(slot_32(r, slot), address, host, mask);
        } else {
            EACH_LANE(i, mask)
            {
                unsigned char *at = (unsigned char *)(uintptr_t)(address[i] + host);
                if (writes) {
                    lane_out(r, slot, i, op, at);
                } else {
                    lane_in(r, slot, i, op, at);
                }
            }
        }
    }
}

/* All lanes in one live region: one check. False when they aren't. */
static bool global_scatter(struct warp *w, char *r, const struct op *op, uint32_t mask,
                           const uint64_t *address, uint64_t imm, bool writes)
{
    struct mem_state *s = state_of(w, op);
    const uint32_t total = (uint32_t)op->width * op->count;
    struct lane_bounds b;
    w->exec->isa->bounds(address, mask, &b);
    if (((b.bits | imm) & (total - 1)) || b.highest + imm < b.lowest + imm ||
        !find_region(w, s, b.lowest + imm, b.highest - b.lowest + total, writes)) {
        return false;
    }
    move_lanes(w, r, op, mask, address, imm + (uint64_t)s->region.delta, writes);
    if (w->observe) {
        note_use(s, op, writes ? SSAN_access_WRITE : SSAN_access_READ);
        observe_lanes(&s->observer, address, mask, total, imm);
    }
    return true;
}

/* Lanes one by one, each checked. `address` is without `imm`. */
static void global_lanes(struct warp *w, char *r, const struct op *op, uint32_t mask,
                         const uint64_t *address, uint64_t imm, bool writes)
{
    struct mem_state *s = state_of(w, op);
    const uint32_t total = (uint32_t)op->width * op->count;
    uint64_t at[WARP_LANES];
    uint32_t done = 0;
    EACH_LANE(i, mask)
    {
        at[i] = address[i] + imm;
        if (at[i] & (total - 1)) {
            warp_fault(w, PTX_FAULT_MISALIGNED, op, 1u << i, at[i], total, writes);
            return;
        }
        if (!find_region(w, s, at[i], total, writes)) {
            if (!w->exec->launch.dry) {
                warp_fault(w, PTX_FAULT_ILLEGAL_ADDRESS, op, 1u << i, at[i], total, writes);
                return;
            }
            done |= 1u << i; /* observed, but neither read nor written */
            continue;
        }
        done |= 1u << i;
        unsigned char *host = host_of(s, at[i]);
        for (uint32_t e = 0; e < op->count; e++) {
            const uint32_t slot = element_slot(w, op, e);
            if (writes) {
                lane_out(r, slot, i, op, host + (size_t)e * op->width);
            } else {
                lane_in(r, slot, i, op, host + (size_t)e * op->width);
            }
        }
    }
    if (w->observe) {
        note_use(s, op, writes ? SSAN_access_WRITE : SSAN_access_READ);
        observe_lanes(&s->observer, at, done, total, 0);
    }
}

/* A full warp whose addresses are `stride` apart; false when a check fails (the slow path says
 * what). */
static bool global_linear(struct warp *w, char *r, const struct op *op, uint64_t first,
                          uint64_t stride, bool writes)
{
    struct mem_state *s = state_of(w, op);
    const uint64_t total = (uint64_t)op->width * op->count,
                   span = stride * (WARP_LANES - 1) + total;
    if (((first | stride) & (total - 1)) || first + span < first ||
        !find_region(w, s, first, span, writes)) {
        return false;
    }
    unsigned char *host = host_of(s, first);
    if (writes) {
        warp_out(w, r, op, host, stride);
    } else {
        warp_in(w, r, op, host, stride);
    }
    if (!w->observe) {
        return true;
    }
    note_use(s, op, writes ? SSAN_access_WRITE : SSAN_access_READ);
    if (stride <= total) {
        observe_run(&s->observer, first, first + span);
    } else {
        observe_stride(&s->observer, first, total, stride, WARP_LANES);
    }
    return true;
}

static void access_global(struct warp *w, char *r, const struct op *op, uint32_t mask,
                          const uint64_t *address, uint64_t imm, bool writes)
{
    w->clock_was_last = false;
    if (mask == FULL_MASK) {
        const uint64_t stride = address[1] - address[0];
        if (stride < (UINT64_C(1) << 40) && w->exec->isa->is_linear(address, stride) &&
            !(stride == 0 && writes) &&
            (stride == 0 || stride >= (uint64_t)op->width * op->count) &&
            global_linear(w, r, op, address[0] + imm, stride, writes)) {
            if (w->watch && !writes) {
                watch_load(w, r, op, mask, address);
            }
            return;
        }
    }
    if (!global_scatter(w, r, op, mask, address, imm, writes)) {
        global_lanes(w, r, op, mask, address, imm, writes);
    }
    if (w->watch && !writes && !w->stop) {
        watch_load(w, r, op, mask, address);
    }
}

/* In a warp that runs long a store is progress if it changes anything. */
static void watch_store(struct warp *w, char *r, const struct op *op, uint32_t mask,
                        const uint64_t *address)
{
    struct mem_state *s = state_of(w, op);
    uint64_t hash = mask;
    EACH_LANE(i, mask)
    {
        hash = (hash ^ address[i]) * UINT64_C(0x9e3779b97f4a7c15);
        for (uint32_t e = 0; e < op->count; e++) {
            const uint32_t slot = element_slot(w, op, e);
            hash = (hash ^ (op->width == 8 ? slot_64(r, slot)[i] : slot_32(r, slot)[i])) *
                   UINT64_C(0xff51afd7ed558ccd);
            hash ^= hash >> 32;
        }
    }
    w->moved |= hash != s->last_hash;
    s->last_hash = hash;
}

void exec_load_global(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    access_global(w, r, op, mask, slot_64(r, op->a), (uint64_t)op->imm, false);
}

void exec_store_global(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint64_t *address = slot_64(r, op->a);
    access_global(w, r, op, mask, address, (uint64_t)op->imm, true);
    if (w->watch && !w->stop) {
        watch_store(w, r, op, mask, address);
    }
}

unsigned char *mem_global_lane(struct warp *w, const struct op *op, uint32_t lane, uint64_t address,
                               uint32_t size, bool writes)
{
    struct mem_state *s = state_of(w, op);
    if (address & (size - 1)) {
        warp_fault(w, PTX_FAULT_MISALIGNED, op, 1u << lane, address, size, writes);
        return NULL;
    }
    if (!find_region(w, s, address, size, writes)) {
        if (!w->exec->launch.dry) {
            warp_fault(w, PTX_FAULT_ILLEGAL_ADDRESS, op, 1u << lane, address, size, writes);
        }
        return NULL;
    }
    return host_of(s, address);
}

void mem_note(struct warp *w, const struct op *op, uint32_t mask, const uint64_t *address,
              enum ssan_access access)
{
    struct mem_state *s = state_of(w, op);
    if (w->observe && mask) {
        note_use(s, op, access);
        observe_lanes(&s->observer, address, mask, (uint32_t)op->width * op->count, 0);
    }
}

/* -- memory that is one array of bytes: shared, and parameters of an entry -- */

static void access_bytes(struct warp *w, char *r, const struct op *op, uint32_t mask,
                         const uint64_t *address, uint64_t imm, unsigned char *bytes,
                         uint64_t limit, bool writes)
{
    const uint32_t total = (uint32_t)op->width * op->count;
    w->clock_was_last = false;
    if (mask == FULL_MASK) {
        const uint64_t stride = address[1] - address[0], first = address[0] + imm;
        if (stride < limit && (stride || !writes) && w->exec->isa->is_linear(address, stride) &&
            ((first | stride) & (total - 1)) == 0 && first < limit &&
            stride * (WARP_LANES - 1) + total <= limit - first) {
            if (writes) {
                warp_out(w, r, op, bytes + first, stride);
            } else {
                warp_in(w, r, op, bytes + first, stride);
            }
            return;
        }
    }
    if (mask == FULL_MASK && total == 4 && op->width == 4) {
        const struct lane_isa *isa = w->exec->isa;
        uint32_t *slot = slot_32(r, op->dst);
        if (writes ? isa->store_small_32(slot, bytes, limit, address, imm)
                   : isa->load_small_32(slot, bytes, limit, address, imm)) {
            return;
        }
    }
    struct lane_bounds b;
    w->exec->isa->bounds(address, mask, &b);
    if (((b.bits | imm) & (total - 1)) == 0 && b.lowest + imm <= b.highest + imm &&
        b.highest + imm < limit && total <= limit - (b.highest + imm)) {
        move_lanes(w, r, op, mask, address, imm + (uint64_t)(uintptr_t)bytes, writes);
        return;
    }
    EACH_LANE(i, mask)
    {
        const uint64_t at = address[i] + imm;
        if (at >= limit || total > limit - at || (at & (total - 1))) {
            warp_fault(w,
                       at >= limit || total > limit - at ? PTX_FAULT_ILLEGAL_ADDRESS
                                                         : PTX_FAULT_MISALIGNED,
                       op, 1u << i, at, total, writes);
            return;
        }
        for (uint32_t e = 0; e < op->count; e++) {
            if (writes) {
                lane_out(r, element_slot(w, op, e), i, op, bytes + at + (size_t)e * op->width);
            } else {
                lane_in(r, element_slot(w, op, e), i, op, bytes + at + (size_t)e * op->width);
            }
        }
    }
}

static void access_shared(struct warp *w, char *r, const struct op *op, uint32_t mask,
                          const uint64_t *address, uint64_t imm, bool writes)
{
    access_bytes(w, r, op, mask, address, imm, w->block->shared, w->exec->shared_bytes, writes);
    if (w->watch && !w->stop) {
        if (writes) {
            watch_store(w, r, op, mask, address);
        } else {
            watch_load(w, r, op, mask, address);
        }
    }
}

void exec_load_shared(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    access_shared(w, r, op, mask, slot_64(r, op->a), (uint64_t)op->imm, false);
}

void exec_store_shared(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    access_shared(w, r, op, mask, slot_64(r, op->a), (uint64_t)op->imm, true);
}

void exec_load_param(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint64_t at = (uint64_t)op->imm, limit = w->exec->entry->kernel.param_bytes;
    const uint32_t total = (uint32_t)op->width * op->count;
    if (at >= limit || total > limit - at) {
        warp_fault(w, PTX_FAULT_ILLEGAL_ADDRESS, op, mask, at, total, false);
        return;
    }
    if (mask == FULL_MASK) {
        warp_in(w, r, op, w->exec->params + at, 0);
        return;
    }
    EACH_LANE(i, mask)
    {
        for (uint32_t e = 0; e < op->count; e++) {
            lane_in(r, element_slot(w, op, e), i, op, w->exec->params + at + (size_t)e * op->width);
        }
    }
}

/* -- local: interleaved by words -- */

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

static void access_local(struct warp *w, char *r, const struct op *op, uint32_t mask,
                         const uint64_t *address, uint64_t imm, bool writes)
{
    const uint32_t total = (uint32_t)op->width * op->count;
    const uint64_t limit = (uint64_t)w->local_words * 4, first = address[__builtin_ctz(mask)] + imm;
    uint64_t differs = 0;
    if (mask == FULL_MASK && first < limit && total <= limit - first &&
        (first & (op->width - 1u)) == 0 && w->exec->isa->is_linear(address, 0)) {
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
    const uint32_t total = (uint32_t)op->width * op->count;
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

/* -- generic -- */

/* The lanes of `mask` by window; those elsewhere are global and fault there. */
static void access_generic(struct warp *w, char *r, const struct op *op, uint32_t mask, bool writes)
{
    const uint64_t *address = slot_64(r, op->a);
    const uint64_t imm = (uint64_t)op->imm;
    uint32_t in[WINDOW_CODE] = {0}, left = mask;
    const uint64_t first = (address[0] + imm) >> WINDOW_SHIFT,
                   last = (address[WARP_LANES - 1] + imm) >> WINDOW_SHIFT;
    if (mask == FULL_MASK && first == last && first < WINDOW_CODE &&
        w->exec->isa->is_linear(address, address[1] - address[0])) {
        in[first] = mask;
        left = 0;
    }
    EACH_LANE(i, left)
    {
        const uint64_t window = (address[i] + imm) >> WINDOW_SHIFT;
        in[window < WINDOW_CODE ? window : WINDOW_GLOBAL] |= 1u << i;
    }
    if (in[WINDOW_GLOBAL]) {
        access_global(w, r, op, in[WINDOW_GLOBAL], address, imm, writes);
        if (writes && w->watch && !w->stop) {
            watch_store(w, r, op, in[WINDOW_GLOBAL], address);
        }
    }
    if (in[WINDOW_SHARED] && !w->stop) {
        access_shared(w, r, op, in[WINDOW_SHARED], address, imm - WINDOW_BASE(WINDOW_SHARED),
                      writes);
    }
    if (in[WINDOW_LOCAL] && !w->stop) {
        access_local(w, r, op, in[WINDOW_LOCAL], address, imm - WINDOW_BASE(WINDOW_LOCAL), writes);
    }
    if (in[WINDOW_PARAM] && !w->stop) {
        access_bytes(w, r, op, in[WINDOW_PARAM], address, imm - WINDOW_BASE(WINDOW_PARAM),
                     w->exec->params, writes ? 0 : w->exec->entry->kernel.param_bytes, writes);
    }
}

void exec_load_generic(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    access_generic(w, r, op, mask, false);
}

void exec_store_generic(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    access_generic(w, r, op, mask, true);
}

/* cp.async: reads min(source size, bytes), fills up with zeros. */
void exec_copy(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint64_t *to = slot_64(r, op->b), *from = slot_64(r, op->a);
    const uint32_t *limit = slot_32(r, op->c);
    uint64_t at[WARP_LANES] = {0};
    uint32_t done = 0;
    w->clock_was_last = false;
    EACH_LANE(i, mask)
    {
        unsigned char bytes[16] = {0};
        const uint32_t size = limit[i] < op->width ? limit[i] : op->width;
        at[i] = from[i] + (uint64_t)op->imm;
        const uint64_t end = w->exec->shared_bytes;
        if (to[i] >= end || op->width > end - to[i] || to[i] % op->width) {
            warp_fault(w, PTX_FAULT_ILLEGAL_ADDRESS, op, 1u << i, to[i], op->width, true);
            return;
        }
        const unsigned char *host =
            size ? mem_global_lane(w, op, i, at[i], op->width, false) : NULL;
        if (w->stop) {
            return;
        }
        if (host) {
            memcpy(bytes, host, size);
        }
        memcpy(w->block->shared + to[i], bytes, op->width);
        done |= size ? 1u << i : 0;
    }
    mem_note(w, op, done, at, SSAN_access_READ);
    w->moved = true;
}
