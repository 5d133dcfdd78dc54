/* Bits to runs.
 *
 * Invariant: the bytes of the events are those of the bits, no more and no less. Naive model: a run
 * for each maximal interval. Intervals of one length at one distance become one run with a stride;
 * a 4 KiB block whose runs would take more bytes than its bits is told as these instead, with those
 * of blocks that follow. Cost: a load for each 64 units that are all or none set or go on as
 * before, a few operations for each interval elsewhere, a copy of the bits that stay bits. */
#include "capture/observe_leaves.h"

#include "capture/memory.h"
#include "capture/patch_abi.h"

#include <string.h>

#define RUNS         256u
#define SEGMENTS     256u
#define LEAVES_WORDS 1024u
#define LOOK_UNITS   1024u /* between looks whether a run goes on */

/* A part of a leaf that lies in one block of memory. */
struct segment {
    const uint32_t *bits;
    uint64_t base; /* address of bit 0 */
    uint64_t begin, end;
    bool is_full; /* it is a whole leaf, all bits of which are set */
};

struct teller {
    const struct observe_leaves *out;
    uint32_t kind;
    unsigned unit; /* log2 of the bytes of a bit */
    uint64_t block_begin, block_end;
    struct segment segments[SEGMENTS];
    size_t segment_count;
    struct observe_parts parts;
    uint32_t site;
    struct ssan_run runs[RUNS];
    uint32_t run_count;
    uint64_t runs_from;    /* behind the last leaf: what was told from here on is in the runs */
    uint64_t leaf_address; /* of what waits in `leaves` */
    uint32_t leaf_words;
    uint64_t leaves[LEAVES_WORDS];
};

static void flush_runs(struct teller *teller)
{
    struct ssan_event event = {.kind = SSAN_EV_set};
    if (teller->run_count == 0) {
        return;
    }
    event.set = (struct ssan_ev_set){
        teller->out->op,         (enum ssan_access)PATCH_KIND_ACCESS(teller->kind),
        SSAN_set_sureness_EXACT, teller->site,
        1u << teller->unit,      {teller->runs, teller->run_count}};
    ssan_put(teller->out->sink, &event);
    teller->run_count = 0;
}

/* Adds an interval behind all that are there. */
static void add_interval(struct teller *teller, uint64_t address, uint64_t length)
{
    struct ssan_run *last = teller->run_count ? &teller->runs[teller->run_count - 1] : NULL;
    if (last) {
        uint64_t piece = last->address + last->stride * (last->count - 1);
        if (piece + last->length == address) {
            if (last->count == 1) {
                last->length += length;
                return;
            }
            /* the last piece goes on: it is none of the others' length */
            length += last->length;
            address = piece;
            last->count--;
            if (last->count == 1) {
                last->stride = 0;
            }
        } else if (last->length == length &&
                   (last->count == 1 || piece + last->stride == address)) {
            last->stride = address - piece;
            last->count++;
            return;
        }
    }
    teller->runs[teller->run_count++] = (struct ssan_run){address, length, 0, 1};
}

/* Less than 64 bits from bit `at`, where nothing may lie behind them. */
__attribute__((noinline)) static uint64_t load_bits_slow(const uint32_t *bits, uint64_t at,
                                                         unsigned count)
{
    uint64_t word = bits[at >> 5];
    unsigned shift = at & 31;
    if (shift + count > 32) {
        word |= (uint64_t)bits[(at >> 5) + 1] << 32;
    }
    word >>= shift;
    if (shift + count > 64) {
        word |= (uint64_t)bits[(at >> 5) + 2] << (64 - shift);
    }
    return word & ((UINT64_C(1) << count) - 1);
}

/* Up to 64 bits from bit `at`. Split since nearly all are whole words (tests/bench/leaves_bench.c).
 */
static inline uint64_t load_bits(const uint32_t *bits, uint64_t at, unsigned count)
{
    const unsigned char *from = (const unsigned char *)bits + (at >> 3);
    unsigned shift = at & 7;
    uint64_t word;
    if (count < 64) {
        return load_bits_slow(bits, at, count);
    }
    memcpy(&word, from, sizeof word);
    return shift ? word >> shift | (uint64_t)from[8] << (64 - shift) : word;
}

/* Bits [at, end) that are as those `stride` before them: where these end. */
static uint64_t same_until(const struct segment *segment, uint64_t at, uint64_t end,
                           uint64_t stride)
{
    while (at < end) {
        unsigned count = end - at < 64 ? (unsigned)(end - at) : 64;
        uint64_t other =
            load_bits(segment->bits, at, count) ^ load_bits(segment->bits, at - stride, count);
        if (other) {
            return at + (unsigned)__builtin_ctzll(other);
        }
        at += count;
    }
    return end;
}

/* Lets the last run go on over bits [at, end), which lie behind it, and answers where those begin
 * that it does not tell. The bits that stand `stride` before them hold its last piece and nothing
 * else, if all of them were told as runs: so do they, as far as they are the same. */
static uint64_t repeat_last(struct teller *teller, const struct segment *segment, uint64_t at,
                            uint64_t end)
{
    struct ssan_run *last = teller->run_count ? &teller->runs[teller->run_count - 1] : NULL;
    if (!last || last->count < 2) {
        return at;
    }
    uint64_t piece = last->address + last->stride * (last->count - 1);
    uint64_t here = segment->base + (at << teller->unit);
    uint64_t from = teller->runs_from > segment->begin ? teller->runs_from : segment->begin;
    if (piece + last->stride < here || from + last->stride > here) {
        return at;
    }
    uint64_t same = same_until(segment, at, end, last->stride >> teller->unit);
    uint64_t stop = segment->base + (same << teller->unit);
    if (stop < piece + last->length + last->stride) {
        return at;
    }
    uint64_t more = (stop - piece - last->length) / last->stride;
    last->count += more;
    piece += more * last->stride;
    return (piece + last->length - segment->base) >> teller->unit;
}

/* Intervals of bits [at, end) of a segment, as far as there are no more than `limit` runs then.
 * False: there would be; what was added stays. */
static bool add_intervals(struct teller *teller, const struct segment *segment, uint64_t at,
                          uint64_t end, uint32_t limit)
{
    uint64_t open = UINT64_MAX; /* where the current interval began */
    while (at < end) {
        unsigned count = end - at < 64 ? (unsigned)(end - at) : 64;
        uint64_t word = load_bits(segment->bits, at, count);
        unsigned i = 0;
        while (i < count) {
            uint64_t rest = (open == UINT64_MAX ? word : ~word) >> i;
            unsigned next = rest ? i + (unsigned)__builtin_ctzll(rest) : count;
            i = next < count ? next : count;
            if (i == count) {
                break;
            }
            if (open == UINT64_MAX) {
                open = at + i;
                continue;
            }
            if (teller->run_count >= limit) {
                return false;
            }
            add_interval(teller, segment->base + (open << teller->unit),
                         (at + i - open) << teller->unit);
            open = UINT64_MAX;
        }
        at += count;
    }
    if (open != UINT64_MAX) {
        if (teller->run_count >= limit) {
            return false;
        }
        add_interval(teller, segment->base + (open << teller->unit), (end - open) << teller->unit);
    }
    return true;
}

/* The same, with a look now and then whether the last run goes on. */
static bool add_bits(struct teller *teller, const struct segment *segment, uint64_t at,
                     uint64_t end, uint32_t limit)
{
    while (at < end) {
        at = repeat_last(teller, segment, at, end);
        uint64_t stop = end - at < LOOK_UNITS ? end : at + LOOK_UNITS;
        if (!add_intervals(teller, segment, at, stop, limit)) {
            return false;
        }
        at = stop;
    }
    return true;
}

/* Writes the leaves that wait. */
static void flush_leaves(struct teller *teller)
{
    struct ssan_event event = {.kind = SSAN_EV_set_leaf};
    if (teller->leaf_words == 0) {
        return;
    }
    event.set_leaf = (struct ssan_ev_set_leaf){teller->out->op,
                                               (enum ssan_access)PATCH_KIND_ACCESS(teller->kind),
                                               SSAN_set_sureness_EXACT,
                                               teller->site,
                                               1u << teller->unit,
                                               teller->leaf_address,
                                               teller->unit,
                                               {teller->leaves, teller->leaf_words}};
    ssan_put(teller->out->sink, &event);
    teller->leaf_words = 0;
}

/* Bits [at, end) of a segment, within one block of SSAN_LEAF_BYTES, as a leaf behind those that
 * wait. */
static void add_leaf_block(struct teller *teller, const struct segment *segment, uint64_t at,
                           uint64_t end)
{
    uint32_t words = SSAN_LEAF_WORDS >> teller->unit;
    uint64_t first = at / (words * UINT64_C(64)) * (words * UINT64_C(64));
    uint64_t address = segment->base + (first << teller->unit);
    if (teller->leaf_words + words > LEAVES_WORDS ||
        address != teller->leaf_address + ((uint64_t)teller->leaf_words * 64 << teller->unit)) {
        flush_leaves(teller);
    }
    if (teller->leaf_words == 0) {
        teller->leaf_address = address;
    }
    uint64_t *leaf = &teller->leaves[teller->leaf_words];
    memcpy(leaf, segment->bits + first / 32, words * sizeof *leaf);
    for (uint64_t i = 0, word = at - first; i < word / 64; i++) {
        leaf[i] = 0;
    }
    leaf[(at - first) / 64] &= UINT64_MAX << ((at - first) % 64);
    for (uint64_t i = (end - first + 63) / 64; i < words; i++) {
        leaf[i] = 0;
    }
    if (end % 64) {
        leaf[(end - first) / 64] &= ~(UINT64_MAX << (end % 64));
    }
    teller->leaf_words += words;
    teller->runs_from = address + SSAN_LEAF_BYTES;
}

/* The first unit whose first byte is not below `address`. */
static uint64_t unit_from(const struct teller *teller, const struct segment *segment,
                          uint64_t address)
{
    uint64_t unit = UINT64_C(1) << teller->unit;
    return (address - segment->base + unit - 1) >> teller->unit;
}

/* Calls what(teller, segment, at, end) for the bits of each block of SSAN_LEAF_BYTES. */
static void each_block(struct teller *teller, const struct segment *segment,
                       void (*what)(struct teller *, const struct segment *, uint64_t, uint64_t))
{
    uint64_t at = unit_from(teller, segment, segment->begin);
    uint64_t end = unit_from(teller, segment, segment->end);
    uint64_t block_units = SSAN_LEAF_BYTES >> teller->unit;
    while (at < end) {
        uint64_t stop = (at / block_units + 1) * block_units;
        stop = stop < end ? stop : end;
        what(teller, segment, at, stop);
        at = stop;
    }
}

/* The part that bit `at` of a segment is of: its row, and its bit there. */
static uint16_t *part_of(struct teller *teller, const struct segment *segment, uint64_t at,
                         uint16_t *bit)
{
    uint32_t leaf =
        (uint32_t)(segment->base >> teller->unit >> (PATCH_WORD_SHIFT + PATCH_LEAF_SHIFT));
    uint32_t parts = PATCH_PARTS(leaf, (uint32_t)(at >> PATCH_WORD_SHIFT));
    *bit = (uint16_t)(parts >> 16);
    return &teller->parts.rows[__builtin_ctz(parts)];
}

static void note_parts(struct teller *teller, const struct segment *segment, uint64_t at,
                       uint64_t end)
{
    uint16_t bit, *row = part_of(teller, segment, at, &bit);
    while (!(*row & bit) && at < end) {
        unsigned count = end - at < 64 ? (unsigned)(end - at) : 64;
        if (load_bits(segment->bits, at, count)) {
            *row |= bit;
        }
        at += count;
    }
}

/* All bits of a page are set. Most pages of kernels that go over whole arrays are such. */
static bool is_full_page(const uint32_t *bits)
{
    uint64_t words[8];
    for (uint32_t i = 0; i < PATCH_PAGE_WORDS; i += 16) {
        memcpy(words, bits + i, sizeof words);
        if ((words[0] & words[1] & words[2] & words[3] & words[4] & words[5] & words[6] &
             words[7]) != UINT64_MAX) {
            return false;
        }
    }
    return true;
}

static void note_all(struct teller *teller, const struct segment *segment)
{
    for (uint64_t at = 0; at < PATCH_PAGE_WORDS * UINT64_C(32); at += PATCH_PAGE_WORDS * 2) {
        uint16_t bit, *row = part_of(teller, segment, at, &bit);
        *row |= bit;
    }
}

static void tell_full(struct teller *teller, const struct segment *segment)
{
    if (teller->run_count + 1 >= RUNS) {
        flush_runs(teller);
    }
    add_interval(teller, segment->base, segment->end - segment->base);
}

static void tell_block(struct teller *teller, const struct segment *segment, uint64_t at,
                       uint64_t end)
{
    struct ssan_run last;
    const uint32_t most = (SSAN_LEAF_BYTES >> teller->unit) / 8 / sizeof last;
    if (teller->run_count + most + 1 > RUNS) {
        flush_runs(teller);
    }
    uint32_t count = teller->run_count;
    if (count) {
        last = teller->runs[count - 1];
    }
    if (!add_bits(teller, segment, at, end, count + most)) {
        teller->run_count = count;
        if (count) {
            teller->runs[count - 1] = last;
        }
        add_leaf_block(teller, segment, at, end);
    }
}

/* Tells the segments that were gathered. */
static void end_group(struct teller *teller)
{
    memset(&teller->parts, 0, sizeof teller->parts);
    for (size_t i = 0; i < teller->segment_count; i++) {
        if (teller->segments[i].is_full) {
            note_all(teller, &teller->segments[i]);
        } else {
            each_block(teller, &teller->segments[i], note_parts);
        }
    }
    if (teller->segment_count) {
        const struct segment *last = &teller->segments[teller->segment_count - 1];
        teller->site = teller->out->find_site(teller->out->self, teller->kind,
                                              teller->segments[0].begin, last->end, &teller->parts);
    }
    for (size_t i = 0; i < teller->segment_count; i++) {
        if (teller->segments[i].is_full) {
            tell_full(teller, &teller->segments[i]);
        } else {
            each_block(teller, &teller->segments[i], tell_block);
        }
    }
    flush_runs(teller);
    flush_leaves(teller);
    teller->runs_from = 0;
    teller->segment_count = 0;
}

/* Sets the group of `address` up: the live block that holds it, or what lies between two. */
static void find_block(struct teller *teller, uint64_t address)
{
    struct memory_block block;
    if (!memory_next(address, &block)) {
        teller->block_begin = address;
        teller->block_end = UINT64_MAX;
    } else if (block.address > address) {
        teller->block_begin = address;
        teller->block_end = block.address;
    } else {
        teller->block_begin = block.address;
        teller->block_end = block.address + block.size;
    }
}

static void add_leaf(struct teller *teller, const struct observe_leaf *leaf)
{
    uint64_t base = (leaf->what >> 3) << (PATCH_LEAF_SHIFT + PATCH_WORD_SHIFT) << teller->unit;
    uint64_t end = base + ((uint64_t)PATCH_PAGE_WORDS * 32 << teller->unit);
    for (uint64_t at = base; at < end;) {
        if (at < teller->block_begin || at >= teller->block_end ||
            teller->segment_count == SEGMENTS) {
            end_group(teller);
            find_block(teller, at);
        }
        uint64_t stop = teller->block_end < end ? teller->block_end : end;
        teller->segments[teller->segment_count++] = (struct segment){
            leaf->bits, base, at, stop, stop - at == end - base && is_full_page(leaf->bits)};
        at = stop;
    }
}

void observe_leaves_tell(const struct observe_leaves *out, const struct observe_leaf *leaves,
                         size_t count)
{
    struct teller teller;
    teller.out = out;
    teller.kind = 0;
    teller.segment_count = 0;
    teller.run_count = 0;
    teller.runs_from = 0;
    teller.leaf_words = 0;
    teller.leaf_address = 0;
    teller.block_begin = teller.block_end = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t kind = leaves[i].what & 7;
        if (kind != teller.kind) {
            end_group(&teller);
            teller.kind = kind;
            teller.unit = PATCH_UNIT(PATCH_KIND_IS_SMALL(kind));
            teller.block_begin = teller.block_end = 0;
        }
        add_leaf(&teller, &leaves[i]);
    }
    end_group(&teller);
}
