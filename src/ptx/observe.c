/* Where runs go once they are closed: whole pages as ranges, the rest as bits of leaves. Where
 * memory runs out `lost` is set, and the sets are not all. */
#include "ptx/observe.h"

#include <stdlib.h>
#include <string.h>

#define PAGE(address)  ((address) / SSAN_LEAF_BYTES)
#define LEAF_RUN_LIMIT 16   /* 16 runs of 32 bytes are as large as a leaf's bitmap */
#define STRIDE_LIMIT   4096 /* closed strides; behind that they become leaves */

static struct ptx_leaf *find_leaf(struct observer *o, uint64_t page)
{
    const uint32_t slot = (uint32_t)page % OBSERVE_CACHE;
    if (o->cached_leaf[slot] && o->cached_page[slot] == page) {
        return &o->leaves.items[o->cached_leaf[slot] - 1];
    }
    const uint64_t *known = map_find(&o->leaf_of, page);
    uint64_t index = known ? *known : 0;
    if (!index) {
        const struct ptx_leaf fresh = {.address = page * SSAN_LEAF_BYTES};
        if (!VEC_PUSH(&o->leaves, fresh)) {
            o->lost = true;
            return NULL;
        }
        index = o->leaves.count;
        if (!map_set(&o->leaf_of, page, index)) {
            o->leaves.count--;
            o->lost = true;
            return NULL;
        }
    }
    o->cached_page[slot] = page;
    o->cached_leaf[slot] = (uint32_t)index;
    return &o->leaves.items[index - 1];
}

/* Sets bits [first, end) of a leaf, end <= SSAN_LEAF_BYTES. */
static void set_bits(struct ptx_leaf *leaf, uint32_t first, uint32_t end)
{
    while (first < end) {
        const uint32_t word = first / 64, low = first % 64,
                       high = end - word * 64 < 64 ? end - word * 64 : 64;
        const uint64_t below = high == 64 ? UINT64_MAX : (UINT64_C(1) << high) - 1;
        leaf->bits[word] |= below & (UINT64_MAX << low);
        first = word * 64 + 64;
    }
}

/* Puts [begin, end) where it stays: whole pages as ranges, the rest as bits. */
static void keep_run(struct observer *o, uint64_t begin, uint64_t end)
{
    const uint64_t first_whole = PAGE(begin + SSAN_LEAF_BYTES - 1), end_whole = PAGE(end);
    if (first_whole < end_whole) {
        o->lost |=
            !ranges_add(&o->whole, first_whole * SSAN_LEAF_BYTES, end_whole * SSAN_LEAF_BYTES);
        const uint64_t head_end = first_whole * SSAN_LEAF_BYTES, tail = end_whole * SSAN_LEAF_BYTES;
        if (begin < head_end) {
            keep_run(o, begin, head_end);
        }
        if (tail < end) {
            keep_run(o, tail, end);
        }
        return;
    }
    while (begin < end) {
        const uint64_t page = PAGE(begin), page_end = (page + 1) * SSAN_LEAF_BYTES;
        const uint64_t stop = end < page_end ? end : page_end;
        struct ptx_leaf *leaf = find_leaf(o, page);
        if (leaf) {
            set_bits(leaf, (uint32_t)(begin % SSAN_LEAF_BYTES),
                     (uint32_t)(stop - page * SSAN_LEAF_BYTES));
        }
        begin = stop;
    }
}

void observe_run_slow(struct observer *o, uint64_t begin, uint64_t end)
{
    if (o->begin < o->end) {
        if (end == o->begin) { /* goes downward */
            o->begin = begin;
            return;
        }
        keep_run(o, o->begin, o->end);
    }
    o->begin = begin;
    o->end = end;
}

static void spread_stride(struct observer *o, const struct ssan_run *run)
{
    for (uint64_t i = 0; i < run->count; i++) {
        keep_run(o, run->address + i * run->stride, run->address + i * run->stride + run->length);
    }
}

static void keep_stride(struct observer *o)
{
    if (!o->count) {
        return;
    }
    const struct ssan_run run = {o->address, o->length, o->stride, o->count};
    /* short strides are smaller as bits: 32 bytes of run against length * count bits */
    if (run.count < 256 || o->strides.count >= STRIDE_LIMIT) {
        spread_stride(o, &run);
    } else if (!VEC_PUSH(&o->strides, run)) {
        o->lost = true;
    }
    o->count = 0;
}

void observe_stride(struct observer *o, uint64_t address, uint64_t length, uint64_t stride,
                    uint32_t count)
{
    if (o->count && o->length == length && o->stride == stride) {
        if (address == o->address + o->count * stride) {
            o->count += count;
            return;
        }
        const uint64_t into = address - o->address;
        if (address >= o->address && into % stride == 0 && into / stride + count <= o->count) {
            return; /* seen */
        }
    }
    keep_stride(o);
    o->address = address;
    o->length = length;
    o->stride = stride;
    o->count = count;
}

void observe_lanes(struct observer *o, const uint64_t *address, uint32_t mask, uint32_t width,
                   uint64_t offset)
{
    uint64_t begin = 0, end = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        const uint64_t at = address[__builtin_ctz(left)] + offset;
        if (at == end && begin < end) {
            end = at + width;
            continue;
        }
        if (begin < end) {
            keep_run(o, begin, end);
        }
        begin = at;
        end = at + width;
    }
    if (begin < end) {
        keep_run(o, begin, end);
    }
}

void observe_groups(struct observer *o, const struct lane_shape *shape, uint64_t offset,
                    uint32_t width)
{
    const uint64_t length = shape->stride * (GROUP_LANES - 1) + width;
    uint64_t begin = shape->base[0] + offset, end = begin + length;
    for (int g = 1; g < LANE_GROUPS; g++) {
        const uint64_t at = shape->base[g] + offset;
        if (at == end) {
            end = at + length;
        } else if (at < begin || at + length > end) { /* not seen just before */
            keep_run(o, begin, end);
            begin = at;
            end = at + length;
        }
    }
    keep_run(o, begin, end);
}

void observe_finish(struct observer *o)
{
    ranges_finish(&o->whole);
    map_finish(&o->leaf_of);
    VEC_FREE(&o->leaves);
    VEC_FREE(&o->strides);
}

void observe_merge(struct observer *to, struct observer *from)
{
    if (from->begin < from->end) {
        keep_run(to, from->begin, from->end);
    }
    if (from->count) {
        const struct ssan_run open = {from->address, from->length, from->stride, from->count};
        if (open.count < 256) {
            spread_stride(to, &open);
        } else {
            to->lost |= !VEC_PUSH(&to->strides, open);
        }
    }
    for (size_t i = 0; i < from->whole.count; i++) {
        to->lost |= !ranges_add(&to->whole, from->whole.items[i].begin, from->whole.items[i].end);
    }
    for (size_t i = 0; i < from->strides.count; i++) {
        to->lost |= !VEC_PUSH(&to->strides, from->strides.items[i]);
    }
    for (size_t i = 0; i < from->leaves.count; i++) {
        struct ptx_leaf *leaf = find_leaf(to, PAGE(from->leaves.items[i].address));
        for (size_t k = 0; leaf && k < SSAN_LEAF_WORDS; k++) {
            leaf->bits[k] |= from->leaves.items[i].bits[k];
        }
    }
    to->lost |= from->lost;
}

/* First bit from `at` on that has the wanted value; SSAN_LEAF_BYTES when there is none. */
static uint32_t next_bit(const struct ptx_leaf *leaf, uint32_t at, bool wanted)
{
    while (at < SSAN_LEAF_BYTES) {
        const uint64_t word =
            (wanted ? leaf->bits[at / 64] : ~leaf->bits[at / 64]) & (UINT64_MAX << at % 64);
        if (word) {
            return at / 64 * 64 + (uint32_t)__builtin_ctzll(word);
        }
        at = (at / 64 + 1) * 64;
    }
    return SSAN_LEAF_BYTES;
}

static uint32_t count_runs(const struct ptx_leaf *leaf)
{
    uint32_t runs = 0;
    for (uint32_t at = next_bit(leaf, 0, true); at < SSAN_LEAF_BYTES; runs++) {
        at = next_bit(leaf, next_bit(leaf, at, false), true);
    }
    return runs;
}

static int by_address(const void *a, const void *b)
{
    const struct ptx_leaf *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* Leaves that are smaller as runs become ranges; the others stay. */
static bool thin_leaves(struct observer *o)
{
    size_t kept = 0;
    if (o->leaves.count) {
        qsort(o->leaves.items, o->leaves.count, sizeof *o->leaves.items, by_address);
    }
    for (size_t i = 0; i < o->leaves.count; i++) {
        const struct ptx_leaf *leaf = &o->leaves.items[i];
        if (count_runs(leaf) > LEAF_RUN_LIMIT) {
            o->leaves.items[kept++] = *leaf;
            continue;
        }
        for (uint32_t at = next_bit(leaf, 0, true); at < SSAN_LEAF_BYTES;) {
            const uint32_t end = next_bit(leaf, at, false);
            if (!ranges_add(&o->whole, leaf->address + at, leaf->address + end)) {
                return false;
            }
            at = next_bit(leaf, end, true);
        }
    }
    o->leaves.count = kept;
    memset(o->cached_leaf, 0, sizeof o->cached_leaf);
    map_finish(&o->leaf_of);
    return true;
}

bool observe_close(struct observer *o, struct observed_runs *runs)
{
    if (!thin_leaves(o)) {
        return false;
    }
    for (size_t i = 0; i < o->whole.count; i++) {
        const struct range *range = &o->whole.items[i];
        const struct ssan_run run = {range->begin, range->end - range->begin, 0, 1};
        if (!VEC_PUSH(runs, run)) {
            return false;
        }
    }
    for (size_t i = 0; i < o->strides.count; i++) {
        if (!VEC_PUSH(runs, o->strides.items[i])) {
            return false;
        }
    }
    return !o->lost;
}
