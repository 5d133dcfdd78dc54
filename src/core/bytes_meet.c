/* Intersections and differences of byte sets, piece against piece: arithmetic for strides, words
 * for leaves, scatters run by run. Naive model: bit by bit. Cost: the pairs of pieces whose hulls
 * overlap, found by binary search because pieces are sorted; two strided pieces of one stride cost
 * only their common stretches. */
#include "core/bytes.h"

#include "core/leaf_bits.h"

#include "base/mem.h"

#include <string.h>

struct window {
    uint64_t begin, end;
};

static bool tell(struct bytes_visitor *visitor, const struct piece *a, const struct piece *b,
                 struct window window, uint64_t begin, uint64_t end)
{
    begin = begin > window.begin ? begin : window.begin;
    end = end < window.end ? end : window.end;
    return begin >= end || visitor->meet(visitor, a, b, begin, end);
}

/* Index of the first element of a run that ends behind `at`. */
static uint64_t element_behind(const struct piece *run, uint64_t at)
{
    if (at <= run->begin || run->count == 1) {
        return 0;
    }
    uint64_t index = (at - run->begin) / run->stride;
    return at >= run->begin + index * run->stride + run->length ? index + 1 : index;
}

/* The stretches of `walked`, clipped by the elements of `other`, told as (a, b). */
static bool meet_elements(const struct piece *walked, const struct piece *other,
                          const struct piece *a, const struct piece *b, struct window window,
                          struct bytes_visitor *visitor)
{
    uint64_t low = other->begin > window.begin ? other->begin : window.begin;
    uint64_t high = piece_end(other) < window.end ? piece_end(other) : window.end;
    for (uint64_t i = element_behind(walked, low); i < walked->count; i++) {
        uint64_t from = walked->begin + i * walked->stride, to = from + walked->length;
        if (from >= high) {
            break;
        }
        for (uint64_t k = element_behind(other, from); k < other->count; k++) {
            uint64_t begin = other->begin + k * other->stride, end = begin + other->length;
            if (begin >= to) {
                break;
            }
            if (!tell(visitor, a, b, window, begin > from ? begin : from, end < to ? end : to)) {
                return false;
            }
        }
    }
    return true;
}

/* True when two runs of one stride never touch: their phases keep them apart. */
static bool phases_apart(const struct piece *a, const struct piece *b)
{
    if (a->count == 1 || b->count == 1 || a->stride != b->stride) {
        return false;
    }
    uint64_t phase = b->begin >= a->begin
                         ? (b->begin - a->begin) % a->stride
                         : (a->stride - (a->begin - b->begin) % a->stride) % a->stride;
    return phase >= a->length && phase + b->length <= a->stride;
}

/* The bytes of `piece` inside the leaf at `leaf`, as bits. */
static void leaf_bits(const struct piece *piece, uint64_t leaf, uint64_t *bits)
{
    if (piece->length == 0) {
        if (piece->begin == leaf) {
            memcpy(bits, piece->bits, LEAF_BYTES / 8);
        } else {
            memset(bits, 0, LEAF_BYTES / 8);
        }
        return;
    }
    memset(bits, 0, LEAF_BYTES / 8);
    for (uint32_t i = piece->scatter ? scatter_find(piece, leaf) : piece->count; i < piece->count;
         i++) {
        struct piece run = scatter_run(piece, i);
        if (run.begin >= leaf + LEAF_BYTES) {
            break;
        }
        uint64_t to = piece_end(&run) - leaf;
        leaf_mark(bits, run.begin > leaf ? run.begin - leaf : 0, to < LEAF_BYTES ? to : LEAF_BYTES);
    }
    if (piece->scatter) {
        return;
    }
    for (uint64_t i = element_behind(piece, leaf); i < piece->count; i++) {
        uint64_t from = piece->begin + i * piece->stride, to = from + piece->length;
        if (from >= leaf + LEAF_BYTES) {
            break;
        }
        from = from > leaf ? from - leaf : 0;
        to = to < leaf + LEAF_BYTES ? to - leaf : LEAF_BYTES;
        leaf_mark(bits, from, to);
    }
}

static bool meet_leaf(const struct piece *a, const struct piece *b, struct window window,
                      struct bytes_visitor *visitor)
{
    uint64_t leaf = a->length == 0 ? a->begin : b->begin;
    uint64_t left[LEAF_WORDS], right[LEAF_WORDS];
    leaf_bits(a, leaf, left);
    leaf_bits(b, leaf, right);
    uint64_t begin = 0, at = 0;
    bool inside = false;
    for (; at < LEAF_BYTES; at++) {
        uint64_t word = left[at / 64] & right[at / 64];
        if (!inside && at % 64 == 0 && word == 0) {
            at += 63;
            continue;
        }
        bool set = (word >> (at % 64)) & 1;
        if (set && !inside) {
            begin = at;
        } else if (!set && inside && !tell(visitor, a, b, window, leaf + begin, leaf + at)) {
            return false;
        }
        inside = set;
    }
    return !inside || tell(visitor, a, b, window, leaf + begin, leaf + LEAF_BYTES);
}

static bool meet_pieces(const struct piece *a, const struct piece *b, struct window window,
                        struct bytes_visitor *visitor);

/* Each run of the scatter `a` or `b` that reaches into the other. */
static bool meet_scatter(const struct piece *a, const struct piece *b, struct window window,
                         struct bytes_visitor *visitor)
{
    const struct piece *scatter = a->scatter ? a : b, *other = a->scatter ? b : a;
    uint64_t end = piece_end(other);
    for (uint32_t i = scatter_find(scatter, other->begin); i < scatter->count; i++) {
        struct piece run = scatter_run(scatter, i);
        if (run.begin >= end) {
            break;
        }
        if (!(a->scatter ? meet_pieces(&run, b, window, visitor)
                         : meet_pieces(a, &run, window, visitor))) {
            return false;
        }
    }
    return true;
}

static bool meet_pieces(const struct piece *a, const struct piece *b, struct window window,
                        struct bytes_visitor *visitor)
{
    if (a->begin >= piece_end(b) || b->begin >= piece_end(a)) {
        return true;
    }
    if (a->scatter || b->scatter) {
        return meet_scatter(a, b, window, visitor);
    }
    if (a->length == 0 || b->length == 0) {
        return meet_leaf(a, b, window, visitor);
    }
    if (phases_apart(a, b)) {
        return true;
    }
    return a->count <= b->count ? meet_elements(a, b, a, b, window, visitor)
                                : meet_elements(b, a, a, b, window, visitor);
}

void bytes_meet(const struct bytes *a, const struct bytes *b, uint64_t begin, uint64_t end,
                struct bytes_visitor *visitor)
{
    struct window window = {.begin = begin, .end = end};
    for (size_t i = bytes_first_near(b, begin); i < b->count && bytes_pieces(b)[i].begin < end;
         i++) {
        const struct piece *piece = &bytes_pieces(b)[i];
        uint64_t stop = piece_end(piece) < end ? piece_end(piece) : end;
        uint64_t start = piece->begin > begin ? piece->begin : begin;
        for (size_t k = bytes_first_near(a, start); k < a->count && bytes_pieces(a)[k].begin < stop;
             k++) {
            if (!meet_pieces(&bytes_pieces(a)[k], piece, window, visitor)) {
                return;
            }
        }
    }
}

/* Adds what is left of a run when the elements [from, to) go. */
static bool add_without(const struct piece *run, uint64_t from, uint64_t to, struct bytes *into)
{
    return bytes_add_run(into, run->begin, run->length, run->stride, from, run->site, run->width) &&
           (to >= run->count || bytes_add_run(into, run->begin + to * run->stride, run->length,
                                              run->stride, run->count - to, run->site, run->width));
}

/* A dense run without [begin, end). */
static bool cut_dense(const struct piece *run, uint64_t begin, uint64_t end, struct bytes *into)
{
    uint64_t stop = piece_end(run);
    if (begin > run->begin &&
        !bytes_add_run(into, run->begin, begin - run->begin, 0, 1, run->site, run->width)) {
        return false;
    }
    return end >= stop || bytes_add_run(into, end, stop - end, 0, 1, run->site, run->width);
}

/* A dense run cut by more runs of a scatter than this stays whole. */
#define MAX_SCATTER_CUTS 64u

/* A dense run without the runs of a scatter. */
static bool cut_by_scatter(const struct piece *run, const struct piece *scatter, struct bytes *into,
                           bool *changed)
{
    uint32_t from = scatter_find(scatter, run->begin);
    uint32_t to = scatter_find(scatter, piece_end(run) - 1);
    bool any =
        from < scatter->count && scatter->begin + scatter->shorts[from].offset < piece_end(run);
    *changed = any && to - from <= MAX_SCATTER_CUTS;
    uint64_t at = run->begin;
    for (uint32_t i = from; *changed && i < scatter->count && at < piece_end(run); i++) {
        struct piece cut = scatter_run(scatter, i);
        uint64_t stop = cut.begin < piece_end(run) ? cut.begin : piece_end(run);
        if (stop > at && !bytes_add_run(into, at, stop - at, 0, 1, run->site, run->width)) {
            return false;
        }
        at = piece_end(&cut) > at ? piece_end(&cut) : at;
    }
    return !*changed || at >= piece_end(run) ||
           bytes_add_run(into, at, piece_end(run) - at, 0, 1, run->site, run->width);
}

/* The elements of a strided `a` that `b` covers whole: [*from, *to); false when none. */
static bool covered_elements(const struct piece *a, const struct piece *b, uint64_t *from,
                             uint64_t *to)
{
    if (b->count == 1) {
        uint64_t end = piece_end(b);
        *from = b->begin <= a->begin ? 0 : (b->begin - a->begin + a->stride - 1) / a->stride;
        *to = end < a->begin + a->length ? 0 : (end - a->begin - a->length) / a->stride + 1;
        *to = *to < a->count ? *to : a->count;
        return *from < *to;
    }
    if (a->stride != b->stride) {
        return false;
    }
    /* element i of a lies in element i + shift of b */
    uint64_t phase = 0;
    int64_t shift = 0;
    if (a->begin >= b->begin) {
        phase = (a->begin - b->begin) % a->stride;
        shift = (int64_t)((a->begin - b->begin) / a->stride);
    } else {
        uint64_t behind = (b->begin - a->begin + a->stride - 1) / a->stride;
        phase = behind * a->stride - (b->begin - a->begin);
        shift = -(int64_t)behind;
    }
    if (phase + a->length > b->length) {
        return false;
    }
    int64_t stop = (int64_t)b->count - shift;
    *from = shift < 0 ? (uint64_t)-shift : 0;
    *to = stop <= 0 ? 0 : (uint64_t)stop < a->count ? (uint64_t)stop : a->count;
    return *from < *to;
}

static bool cut_leaf(const struct piece *a, const struct piece *b, struct bytes *into)
{
    uint64_t bits[LEAF_WORDS];
    leaf_bits(b, a->begin, bits);
    for (uint32_t w = 0; w < LEAF_WORDS; w++) {
        bits[w] = a->bits[w] & ~bits[w];
    }
    return bytes_add_leaf(into, a->begin, bits, a->site, a->width);
}

/* Adds `a` without `b` to `into`; *changed tells whether anything was taken away. */
static bool cut_piece(const struct piece *a, const struct piece *b, struct bytes *into,
                      bool *changed)
{
    *changed = true;
    if (a->length == 0) {
        return cut_leaf(a, b, into);
    }
    if (b->scatter) {
        *changed = false;
        return a->count > 1 || cut_by_scatter(a, b, into, changed);
    }
    if (a->count == 1 && b->length > 0 && b->count == 1) {
        return cut_dense(a, b->begin, piece_end(b), into);
    }
    uint64_t from = 0, to = 0;
    if (a->count > 1 && b->length > 0 && covered_elements(a, b, &from, &to)) {
        return add_without(a, from, to, into);
    }
    *changed = false;
    return true;
}

/* One piece is cut at most this often: more holes would cost more than they free. */
#define MAX_CUTS 64u

/* Adds `piece` without the pieces of `b` from index `k` on. What is cut may be cut again. */
static bool cut_all(const struct piece *piece, const struct bytes *b, size_t k, unsigned cuts,
                    struct bytes *result)
{
    for (uint32_t i = 0; piece->scatter && i < piece->count; i++) {
        struct piece run = scatter_run(piece, i);
        if (!cut_all(&run, b, bytes_first_near(b, run.begin), 0, result)) {
            return false;
        }
    }
    if (piece->scatter) {
        return true;
    }
    for (; cuts < MAX_CUTS && k < b->count && bytes_pieces(b)[k].begin < piece_end(piece); k++) {
        const struct piece *other = &bytes_pieces(b)[k];
        if (piece_end(other) <= piece->begin) {
            continue;
        }
        struct bytes parts = {0};
        bool changed = false;
        bool fine = cut_piece(piece, other, &parts, &changed);
        for (size_t i = 0; fine && changed && i < parts.count; i++) {
            fine = cut_all(&bytes_pieces(&parts)[i], b, k + 1, cuts + 1, result);
        }
        bytes_finish(&parts);
        if (!fine || changed) {
            return fine;
        }
    }
    if (piece->length == 0) {
        return bytes_add_leaf(result, piece->begin, piece->bits, piece->site, piece->width);
    }
    return bytes_add_run(result, piece->begin, piece->length, piece->stride, piece->count,
                         piece->site, piece->width);
}

/* A dense piece that holds all of `a`: the common case, without any copying. */
static bool swallows(const struct bytes *b, const struct bytes *a)
{
    for (size_t k = 0; k < b->count && bytes_pieces(b)[k].begin <= a->begin; k++) {
        const struct piece *piece = &bytes_pieces(b)[k];
        if (piece->length > 0 && piece->count == 1 && piece_end(piece) >= a->end) {
            return true;
        }
    }
    return false;
}

bool bytes_subtract(struct bytes *a, const struct bytes *b)
{
    if (!bytes_near(a, b)) {
        return true;
    }
    if (swallows(b, a)) {
        bytes_finish(a);
        return true;
    }
    struct bytes result = {0};
    bool is_made = true;
    for (size_t i = 0; i < a->count && is_made; i++) {
        const struct piece *piece = &bytes_pieces(a)[i];
        is_made = cut_all(piece, b, bytes_first_near(b, piece->begin), 0, &result);
    }
    return bytes_become(a, &result, is_made);
}
