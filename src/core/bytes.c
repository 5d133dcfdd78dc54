/* Building byte sets: adding and sealing. Sets that are made of others are in bytes_meet.c
 * (meeting, subtracting) and bytes_clip.c (clipping, rounding). */
#include "core/bytes.h"

#include "core/leaf_bits.h"

#include "base/mem.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* From this many dense pieces in one leaf on a bitmap replaces them: fewer are a scatter, of a
 * quarter of its size. */
#define CROWDED_LEAF 32u
/* A leaf with at most this many runs is kept as runs. */
#define SPARSE_LEAF_RUNS (CROWDED_LEAF - 1)

/* Room for one more piece. */
static bool grow(struct bytes *set)
{
    if (set->count < set->room || (set->room == 0 && set->count == 0)) {
        return true;
    }
    if (set->room > UINT32_MAX / 2) {
        return false;
    }
    uint32_t room = set->room > 0 ? set->room * 2 : 4;
    struct piece *many = mem_resize(set->room > 0 ? set->many : NULL, room, sizeof(struct piece));
    if (!many) {
        return false;
    }
    if (set->room == 0) {
        many[0] = set->one;
    }
    set->many = many;
    set->room = room;
    return true;
}

/* Gives back what sealing made superfluous: sets live long in shadow. */
static void shrink(struct bytes *set)
{
    if (set->room == 0 || set->count > set->room - set->room / 16) {
        return;
    }
    if (set->count <= 1) {
        struct piece *many = set->many;
        struct piece one = set->count > 0 ? many[0] : (struct piece){0};
        mem_free(many);
        set->one = one;
        set->room = 0;
        return;
    }
    set->many = mem_shrink(set->many, set->count * sizeof(struct piece));
    set->room = set->count;
}

static bool push(struct bytes *set, struct piece piece)
{
    uint64_t end = piece_end(&piece);
    if (!grow(set)) {
        return false;
    }
    bytes_pieces(set)[set->count++] = piece;
    if (set->count == 1) {
        set->begin = piece.begin;
        set->end = end;
    }
    set->begin = piece.begin < set->begin ? piece.begin : set->begin;
    set->end = end > set->end ? end : set->end;
    set->owns = set->owns || piece.length == 0 || piece.scatter;
    return true;
}

bool bytes_add_run_slow(struct bytes *set, uint64_t address, uint64_t length, uint64_t stride,
                        uint64_t count, uint32_t site, uint32_t width)
{
    if (length == 0 || count == 0) {
        return true;
    }
    if (count == 1 || stride <= length) {
        length = (count - 1) * stride + length;
        stride = 0;
        count = 1;
    }
    for (; count > UINT32_MAX; count -= UINT32_MAX, address += UINT32_MAX * stride) {
        if (!bytes_add_run_slow(set, address, length, stride, UINT32_MAX, site, width)) {
            return false;
        }
    }
    site = bytes_site(site);
    width = bytes_width(width);
    struct piece *last = set->count > 0 ? &bytes_pieces(set)[set->count - 1] : NULL;
    if (last && count == 1 && last->count == 1 && last->length > 0 && last->site == site &&
        last->width == width && last->begin + last->length == address) {
        last->length += length;
        set->end = address + length > set->end ? address + length : set->end;
        return true;
    }
    return push(set, (struct piece){.begin = address,
                                    .length = length,
                                    .stride = stride,
                                    .count = (uint32_t)count,
                                    .site = site,
                                    .width = width});
}

static uint64_t *copy_bits(const uint64_t *bits)
{
    uint64_t *copy = mem_alloc(LEAF_BYTES / 8);
    if (copy) {
        memcpy(copy, bits, LEAF_BYTES / 8);
    }
    return copy;
}

static bool push_leaf(struct bytes *set, uint64_t address, uint64_t *take_bits, uint32_t site,
                      uint32_t width)
{
    struct piece leaf = {.begin = address,
                         .bits = take_bits,
                         .count = leaf_count(take_bits),
                         .site = bytes_site(site),
                         .width = bytes_width(width)};
    if (!push(set, leaf)) {
        mem_free(take_bits);
        return false;
    }
    return true;
}

bool bytes_add_leaf(struct bytes *set, uint64_t address, const uint64_t *bits, uint32_t site,
                    uint32_t width)
{
    uint32_t begin = 0, end = 0;
    if (leaf_has_runs_above(bits, SPARSE_LEAF_RUNS)) {
        uint64_t *copy = copy_bits(bits);
        return copy && push_leaf(set, address, copy, site, width);
    }
    for (uint32_t at = 0; leaf_next(bits, at, &begin, &end); at = end) {
        if (!bytes_add_run(set, address + begin, end - begin, 0, 1, site, width)) {
            return false;
        }
    }
    return true;
}

bool bytes_add_leaves(struct bytes *set, const struct ssan_ev_set_leaf *event, uint32_t site,
                      uint32_t width)
{
    uint64_t room[LEAF_WORDS];
    for (uint32_t i = 0, count = ssan_leaf_count(event); i < count; i++) {
        if (!bytes_add_leaf(set, event->address + i * (uint64_t)LEAF_BYTES,
                            ssan_leaf_bits(event, i, room), site, width)) {
            return false;
        }
    }
    return true;
}

static int by_line(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    if (a->site != b->site) {
        return a->site < b->site ? -1 : 1;
    }
    if (a->width != b->width) {
        return a->width < b->width ? -1 : 1;
    }
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static int by_begin(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    if (a->begin != b->begin) {
        return a->begin < b->begin ? -1 : 1;
    }
    return by_line(left, right);
}

static bool same_line(const struct piece *a, const struct piece *b)
{
    return a->site == b->site && a->width == b->width;
}

/* Joins dense pieces of a line that touch or overlap, and leaves of one address; the set is sorted
 * by line. */
static void coalesce(struct bytes *set)
{
    size_t kept = 0, dense = SIZE_MAX, leaf = SIZE_MAX;
    for (size_t i = 0; i < set->count; i++) {
        struct piece *piece = &bytes_pieces(set)[i];
        size_t *latest = piece->length == 0 ? &leaf : &dense;
        struct piece *before = *latest < kept ? &bytes_pieces(set)[*latest] : NULL;
        bool joined = false;
        if (before && same_line(before, piece)) {
            if (piece->length == 0 && before->begin == piece->begin) {
                for (uint32_t w = 0; w < LEAF_WORDS; w++) {
                    before->bits[w] |= piece->bits[w];
                }
                before->count = leaf_count(before->bits);
                mem_free(piece->bits);
                joined = true;
            } else if (piece->length > 0 && piece->count == 1 &&
                       piece->begin <= before->begin + before->length) {
                uint64_t end = piece->begin + piece->length;
                if (end > before->begin + before->length) {
                    before->length = end - before->begin;
                }
                joined = true;
            }
        }
        if (!joined) {
            if (piece->length == 0 || piece->count == 1) {
                *latest = kept;
            }
            bytes_pieces(set)[kept++] = *piece;
        }
    }
    set->count = (uint32_t)kept;
}

/* How many pieces from `from` on are dense, of one line and inside one leaf. */
static size_t crowd(const struct bytes *set, size_t from)
{
    const struct piece *first = &bytes_pieces(set)[from];
    uint64_t leaf = first->begin / LEAF_BYTES;
    size_t count = 0;
    for (size_t i = from; i < set->count; i++) {
        const struct piece *piece = &bytes_pieces(set)[i];
        if (piece->length == 0 || piece->count != 1 || !same_line(piece, first) ||
            piece->begin / LEAF_BYTES != leaf || (piece_end(piece) - 1) / LEAF_BYTES != leaf) {
            break;
        }
        count++;
    }
    return count;
}

/* Packs crowds of dense pieces into leaves; the set is sorted by line. */
static bool pack(struct bytes *set)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->count;) {
        size_t many = crowd(set, i);
        if (many < CROWDED_LEAF) {
            many = many > 0 ? many : 1;
            memmove(&bytes_pieces(set)[kept], &bytes_pieces(set)[i],
                    many * sizeof bytes_pieces(set)[0]);
            kept += many;
            i += many;
            continue;
        }
        uint64_t *bits = mem_zalloc(LEAF_WORDS, sizeof *bits);
        if (!bits) {
            memmove(&bytes_pieces(set)[kept], &bytes_pieces(set)[i],
                    (set->count - i) * sizeof bytes_pieces(set)[0]);
            set->count = (uint32_t)(kept + set->count - i);
            return false;
        }
        struct piece leaf = bytes_pieces(set)[i];
        leaf.begin = leaf.begin / LEAF_BYTES * LEAF_BYTES;
        for (size_t k = i; k < i + many; k++) {
            leaf_mark(bits, bytes_pieces(set)[k].begin - leaf.begin,
                      piece_end(&bytes_pieces(set)[k]) - leaf.begin);
        }
        leaf.length = 0;
        leaf.bits = bits;
        leaf.count = leaf_count(bits);
        bytes_pieces(set)[kept++] = leaf;
        set->owns = true;
        i += many;
    }
    set->count = (uint32_t)kept;
    return true;
}

static void measure(struct bytes *set)
{
    uint64_t reach = 0, weight = set->count; /* weight: a piece for each run of a scatter */
    set->begin = set->end = 0;
    set->owns = false;
    for (size_t i = 0; i < set->count; i++) {
        const struct piece *piece = &bytes_pieces(set)[i];
        weight += piece->scatter ? piece->count - 1 : 0;
        uint64_t end = piece_end(piece);
        set->begin = i == 0 || piece->begin < set->begin ? piece->begin : set->begin;
        set->end = i == 0 || end > set->end ? end : set->end;
        reach = end - piece->begin > reach ? end - piece->begin : reach;
        set->owns = set->owns || piece->length == 0 || piece->scatter;
    }
    if (set->room > 0) {
        set->reach = reach;
    }
    set->full = weight < UINT32_MAX - set->count ? set->count + (uint32_t)weight : UINT32_MAX;
}

/* What a producer writes by address, of one line, is in order already. */
static void sort(struct bytes *set, int (*compare)(const void *, const void *))
{
    const struct piece *pieces = bytes_pieces(set);
    size_t i = 1;
    while (i < set->count && compare(&pieces[i - 1], &pieces[i]) <= 0) {
        i++;
    }
    if (i < set->count) {
        qsort(bytes_pieces(set), set->count, sizeof *pieces, compare);
    }
}

bool bytes_seal_slow(struct bytes *set)
{
    bool fine = !set->owns || scatter_unpack(set);
    if (set->count > 1 && fine) {
        sort(set, by_line);
        coalesce(set);
        fine = pack(set) && scatter_pack(set);
        sort(set, by_begin);
    }
    shrink(set);
    measure(set);
    return fine;
}

uint64_t bytes_held_slow(const struct bytes *set)
{
    uint64_t held = (uint64_t)set->room * sizeof(struct piece);
    for (size_t i = 0; set->owns && i < set->count; i++) {
        const struct piece *piece = &bytes_pieces(set)[i];
        held += piece->length == 0 ? LEAF_BYTES / 8
                : piece->scatter   ? piece->count * sizeof(struct short_run)
                                   : 0;
    }
    return held;
}

bool verify_bytes(const struct bytes *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct piece *piece = &bytes_pieces(set)[i];
        if (piece->begin < set->begin || piece_end(piece) > set->end ||
            (i > 0 && piece->begin < bytes_pieces(set)[i - 1].begin) ||
            piece_end(piece) - piece->begin > bytes_reach(set)) {
            return false;
        }
        if (piece->length == 0 && (!set->owns || piece->begin % LEAF_BYTES != 0)) {
            return false;
        }
        if (piece->scatter && (!set->owns || piece->count < 2 || piece->length > UINT16_MAX)) {
            return false;
        }
        if (piece->length > 0 && !piece->scatter && piece->count > 1 &&
            piece->stride <= piece->length) {
            return false;
        }
    }
    return true;
}

void bytes_finish_slow(struct bytes *set)
{
    for (size_t i = 0; set->owns && i < set->count; i++) {
        struct piece *piece = &bytes_pieces(set)[i];
        if (piece->length == 0) {
            mem_free(piece->bits);
        } else if (piece->scatter) {
            mem_free(piece->shorts);
        }
    }
    if (set->room > 0) {
        mem_free(set->many);
    }
}
