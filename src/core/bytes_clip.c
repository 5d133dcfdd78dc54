/* Sets made of one other: its part inside a window, exactly, and the set rounded out. */
#include "core/bytes.h"

#include "core/leaf_bits.h"

/* Adds the pieces of a strided run that lie inside [begin, end), cut at its borders. */
static bool clip_strided(const struct piece *piece, uint64_t begin, uint64_t end,
                         struct bytes *into)
{
    uint64_t first = begin > piece->begin ? (begin - piece->begin) / piece->stride : 0;
    uint64_t last = (end - 1 - piece->begin) / piece->stride;
    last = last < piece->count - 1 ? last : piece->count - 1;
    for (int side = 0; side < 2 && first <= last; side++) { /* cut pieces at both borders */
        uint64_t at = piece->begin + (side == 0 ? first : last) * piece->stride;
        uint64_t from = at > begin ? at : begin;
        uint64_t to = at + piece->length < end ? at + piece->length : end;
        if (from == at && to == at + piece->length) {
            continue;
        }
        if (from < to && !bytes_add_run(into, from, to - from, 0, 1, piece->site, piece->width)) {
            return false;
        }
        if (side == 0) {
            first++;
        } else if (last == 0) {
            return true;
        } else {
            last--;
        }
    }
    return first > last ||
           bytes_add_run(into, piece->begin + first * piece->stride, piece->length, piece->stride,
                         last - first + 1, piece->site, piece->width);
}

static bool clip_leaf(const struct piece *piece, uint64_t begin, uint64_t end, struct bytes *into)
{
    uint64_t bits[LEAF_WORDS] = {0};
    uint64_t from = begin > piece->begin ? begin - piece->begin : 0;
    uint64_t to = end - piece->begin < LEAF_BYTES ? end - piece->begin : LEAF_BYTES;
    leaf_mark(bits, from, to);
    for (uint32_t w = 0; w < LEAF_WORDS; w++) {
        bits[w] &= piece->bits[w];
    }
    return bytes_add_leaf(into, piece->begin, bits, piece->site, piece->width);
}

static bool clip_scatter(const struct piece *piece, uint64_t begin, uint64_t end,
                         struct bytes *into)
{
    for (uint32_t i = scatter_find(piece, begin); i < piece->count; i++) {
        struct piece run = scatter_run(piece, i);
        uint64_t from = run.begin > begin ? run.begin : begin;
        uint64_t to = piece_end(&run) < end ? piece_end(&run) : end;
        if (run.begin >= end) {
            break;
        }
        if (!bytes_add_run(into, from, to - from, 0, 1, piece->site, piece->width)) {
            return false;
        }
    }
    return true;
}

bool bytes_clip(const struct bytes *set, uint64_t begin, uint64_t end, struct bytes *into)
{
    for (size_t i = bytes_first_near(set, begin);
         i < set->count && bytes_pieces(set)[i].begin < end; i++) {
        const struct piece *piece = &bytes_pieces(set)[i];
        if (piece_end(piece) <= begin) {
            continue;
        }
        bool fine = true;
        if (piece->length == 0) {
            fine = clip_leaf(piece, begin, end, into);
        } else if (piece->scatter) {
            fine = clip_scatter(piece, begin, end, into);
        } else if (piece->count > 1) {
            fine = clip_strided(piece, begin, end, into);
        } else {
            uint64_t from = piece->begin > begin ? piece->begin : begin;
            uint64_t to = piece_end(piece) < end ? piece_end(piece) : end;
            fine = bytes_add_run(into, from, to - from, 0, 1, piece->site, piece->width);
        }
        if (!fine) {
            return false;
        }
    }
    return bytes_seal(into);
}

static bool round_piece(const struct piece *piece, uint64_t unit, struct bytes *into)
{
    uint64_t down = ~(unit - 1);
    for (uint32_t i = 0; piece->scatter && i < piece->count; i++) {
        struct piece run = scatter_run(piece, i);
        if (!round_piece(&run, unit, into)) {
            return false;
        }
    }
    if (piece->scatter) {
        return true;
    }
    if (piece->length > 0 && (piece->count == 1 || piece->stride <= 2 * unit)) {
        uint64_t begin = piece->begin & down, end = (piece_end(piece) + unit - 1) & down;
        return bytes_add_run(into, begin, end - begin, 0, 1, 0, 0);
    }
    if (piece->length > 0) { /* a wide stride is one piece already: rounding would only grow it */
        return bytes_add_run(into, piece->begin, piece->length, piece->stride, piece->count, 0, 0);
    }
    uint32_t begin = 0, end = 0;
    for (uint32_t at = 0; leaf_next(piece->bits, at, &begin, &end); at = end) {
        uint64_t from = (piece->begin + begin) & down, to = (piece->begin + end + unit - 1) & down;
        if (!bytes_add_run(into, from, to - from, 0, 1, 0, 0)) {
            return false;
        }
    }
    return true;
}

bool bytes_round(struct bytes *set, uint64_t unit)
{
    struct bytes rounded = {0};
    bool is_made = true;
    for (size_t i = 0; i < set->count && is_made; i++) {
        /* sealing as we go keeps the intermediate set small */
        is_made = round_piece(&bytes_pieces(set)[i], unit, &rounded) &&
                  (rounded.count <= BYTES_SEAL_FROM || bytes_seal(&rounded));
    }
    return bytes_become(set, &rounded, is_made);
}
