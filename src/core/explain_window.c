/* Order windows.
 *
 * A window is chosen from the items of both streams near the two sides; what an item touches is
 * known from its access sets, which are read in one pass for all findings together. Never more than
 * WINDOW_MAX lines: both sides and the nearest miss always are in. Cost: O(trace) for the pass,
 * O(1) for each window. */
#include "core/explain_window.h"

#include <stdlib.h>
#include <string.h>

#define REACH_BEFORE 2
#define REACH_BEHIND 8 /* of p, up to c */
#define REACH_AFTER  2 /* of c */

uint32_t call_at_position(const struct history *history, uint64_t position)
{
    const size_t at = history_call_at(history, position);
    return at < history->calls.count && history->calls.items[at].position == position
               ? (uint32_t)at
               : HISTORY_NONE;
}

uint32_t call_of_side(const struct history *history, const struct side *side, uint32_t item)
{
    return call_at_position(history, item != HISTORY_NONE ? history->items.items[item].position
                                                          : side->position);
}

/* Where the pageable block of an address begins: at the name the program gave, else at the lowest
 * operand seen. */
static uint64_t pageable_begin(const struct history *history, uint64_t address)
{
    const struct range *range = ranges_find(&history->pageable, address);
    uint64_t begin = range && range->begin <= address ? range->begin : address;
    const uint64_t lowest = begin;
    for (size_t i = 0; i < history->pointer_names.count; i++) {
        const uint64_t named = history->pointer_names.items[i].address;
        if (named >= lowest && named <= address && named > begin) {
            begin = named;
        }
    }
    return begin;
}

uint64_t block_key(const struct history *history, uint64_t address, uint64_t position)
{
    const uint32_t alloc = history_alloc_at(history, address, position);
    return alloc != HISTORY_NONE ? alloc : pageable_begin(history, address) | BLOCK_PAGEABLE;
}

static bool want(struct details *details, uint32_t item)
{
    if (item == HISTORY_NONE || map_find(&details->of, item)) {
        return true;
    }
    return map_set(&details->of, item, details->items.count) &&
           VEC_PUSH(&details->items, (struct detail){.item = item});
}

/* The items of a window's stream around one of them: indices into the stream's items. */
struct reach {
    const struct hist_stream *stream;
    size_t begin, end;
};

static struct reach reach_of(const struct history *history, uint32_t item, uint32_t behind,
                             uint64_t until)
{
    const struct hist_item *found = &history->items.items[item];
    const struct hist_stream *stream = &history->streams.items[found->stream];
    struct reach reach = {stream, found->seq > REACH_BEFORE ? found->seq - 1 - REACH_BEFORE : 0,
                          found->seq + behind};
    if (reach.end > stream->items.count) {
        reach.end = stream->items.count;
    }
    while (reach.end > found->seq &&
           history->items.items[stream->items.items[reach.end - 1]].position > until) {
        reach.end--;
    }
    return reach;
}

/* Both reaches of a pair; a side without item has none. The consumer's few next items are shown
 * too. */
static size_t reaches_of(const struct history *history, const struct pair *pair,
                         struct reach reaches[2])
{
    size_t count = 0;
    if (pair->first_item != HISTORY_NONE) {
        reaches[count++] =
            reach_of(history, pair->first_item, REACH_BEHIND, pair->hazard->then.position);
    }
    if (pair->then_item != HISTORY_NONE && pair->then_item != pair->first_item) {
        reaches[count++] = reach_of(history, pair->then_item, REACH_AFTER, UINT64_MAX);
    }
    return count;
}

bool window_prepare(struct details *details, const struct history *history, const struct pair *pair,
                    const struct miss *miss)
{
    struct reach reaches[2];
    bool ok = want(details, pair->first_item) && want(details, pair->then_item) &&
              want(details, miss->record) && want(details, miss->wait) &&
              want(details, miss->other_record);
    const size_t count = reaches_of(history, pair, reaches);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = reaches[i].begin; ok && k < reaches[i].end; k++) {
            ok = want(details, reaches[i].stream->items.items[k]);
        }
    }
    return ok;
}

static struct detail *detail_of(struct details *details, const struct history *history, uint64_t op)
{
    const uint32_t item = history_find(&history->item_of, op);
    const uint32_t found = item == HISTORY_NONE ? HISTORY_NONE : history_find(&details->of, item);
    return found == HISTORY_NONE ? NULL : &details->items.items[found];
}

static bool touch(struct detail *detail, const struct history *history, uint64_t address)
{
    const uint64_t key = block_key(history, address, history->items.items[detail->item].position);
    for (size_t i = detail->touched.count; i-- > 0;) {
        if (detail->touched.items[i] == key) {
            return true;
        }
    }
    return VEC_PUSH(&detail->touched, key);
}

/* The first byte of each leaf. */
static bool touch_leaves(struct detail *detail, const struct history *history,
                         const struct ssan_ev_set_leaf *set)
{
    const uint32_t words = SSAN_LEAF_WORDS >> set->unit_log2;
    bool ok = true;
    for (uint32_t i = 0; ok && i < set->bits.count; i++) {
        if (set->bits.ptr[i] != 0) {
            const uint64_t bit = 64 * (uint64_t)i + (unsigned)__builtin_ctzll(set->bits.ptr[i]);
            ok = touch(detail, history, set->address + (bit << set->unit_log2));
            i |= words - 1; /* the leaf's last */
        }
    }
    return ok;
}

static bool take_op(struct details *details, const struct history *history,
                    const struct ssan_ev_op *ev)
{
    struct detail *detail = detail_of(details, history, ev->op);
    if (!detail) {
        return true;
    }
    const uint32_t grid[3] = {ev->grid_x, ev->grid_y, ev->grid_z};
    const uint32_t block[3] = {ev->block_x, ev->block_y, ev->block_z};
    memcpy(detail->grid, grid, sizeof grid);
    memcpy(detail->block, block, sizeof block);
    detail->dst = ev->dst;
    detail->src = ev->src;
    detail->width = ev->width;
    detail->height = ev->height;
    detail->dst_pitch = ev->dst_pitch;
    detail->src_pitch = ev->src_pitch;
    const bool copy = ev->kind == SSAN_op_kind_COPY;
    return (!(copy || ev->kind == SSAN_op_kind_MEMSET) || touch(detail, history, ev->dst)) &&
           (!copy || touch(detail, history, ev->src));
}

static bool take_set(struct details *details, const struct history *history,
                     const struct ssan_event *event)
{
    if (event->kind == SSAN_EV_set_leaf) {
        struct detail *detail = detail_of(details, history, event->set_leaf.op);
        return !detail || touch_leaves(detail, history, &event->set_leaf);
    }
    struct detail *detail = detail_of(details, history, event->set.op);
    bool ok = true;
    for (uint32_t i = 0; ok && detail && i < event->set.runs.count; i++) {
        ok = touch(detail, history, event->set.runs.ptr[i].address);
    }
    return ok;
}

enum ssan_status details_read(struct details *details, const struct history *history,
                              struct ssan_source *source, struct ssan_error *err)
{
    struct ssan_event event;
    struct ssan_error reason = {0};
    bool ok = true;
    for (uint64_t i = 0; ok && i < history->event_count; i++) {
        if (ssan_next(source, &event, &reason) != SSAN_NEXT_EVENT) {
            break;
        }
        if (event.kind == SSAN_EV_op) {
            ok = take_op(details, history, &event.op);
        } else if (event.kind == SSAN_EV_set || event.kind == SSAN_EV_set_leaf) {
            ok = take_set(details, history, &event);
        }
    }
    return ok ? SSAN_OK
              : ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory while explaining findings");
}

const struct detail *details_find(const struct details *details, uint32_t item)
{
    const uint32_t found = history_find(&details->of, item);
    return found == HISTORY_NONE ? NULL : &details->items.items[found];
}

void details_finish(struct details *details)
{
    for (size_t i = 0; i < details->items.count; i++) {
        VEC_FREE(&details->items.items[i].touched);
    }
    VEC_FREE(&details->items);
    map_finish(&details->of);
}

/* A call that may stand in a window; lower ranks go in first. */
struct candidate {
    uint32_t call;
    uint32_t rank;
};

#define CANDIDATES_MAX (8 + 2 * (REACH_BEFORE + REACH_BEHIND + 1))

struct candidates {
    struct candidate items[CANDIDATES_MAX];
    size_t count;
};

static void consider(struct candidates *candidates, uint32_t call, uint32_t rank)
{
    if (call == HISTORY_NONE) {
        return;
    }
    for (size_t i = 0; i < candidates->count; i++) {
        if (candidates->items[i].call == call) {
            if (rank < candidates->items[i].rank) {
                candidates->items[i].rank = rank;
            }
            return;
        }
    }
    if (candidates->count < CANDIDATES_MAX) {
        candidates->items[candidates->count++] = (struct candidate){call, rank};
    }
}

static void consider_item(struct candidates *candidates, const struct history *history,
                          uint32_t item, uint32_t rank)
{
    if (item != HISTORY_NONE) {
        consider(candidates, call_at_position(history, history->items.items[item].position), rank);
    }
}

static int by_rank(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    return (a->call > b->call) - (a->call < b->call);
}

static int by_call(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Whether an item belongs into the story of a block: it orders, or it touches the block. */
static bool is_relevant(const struct details *details, const struct history *history, uint32_t item,
                        uint64_t block)
{
    const enum ssan_op_kind kind = history->items.items[item].kind;
    if (kind == SSAN_op_kind_RECORD || kind == SSAN_op_kind_WAIT) {
        return true;
    }
    const struct detail *detail = details_find(details, item);
    for (size_t i = 0; detail && i < detail->touched.count; i++) {
        if (detail->touched.items[i] == block) {
            return true;
        }
    }
    return false;
}

struct window window_select(const struct details *details, const struct history *history,
                            const struct pair *pair, const struct miss *miss)
{
    struct candidates candidates = {.count = 0};
    struct window window = {.count = 0};
    struct reach reaches[2];
    const struct hazard *hazard = pair->hazard;
    const uint32_t alloc = history_find(&history->alloc_of, hazard->alloc);
    const uint64_t first_byte =
        hazard->base + (hazard->bytes.count ? hazard->bytes.items[0].begin : 0);
    const uint64_t block =
        alloc != HISTORY_NONE ? alloc : block_key(history, first_byte, hazard->then.position);
    consider(&candidates, call_of_side(history, &hazard->first, pair->first_item), 0);
    consider(&candidates, call_of_side(history, &hazard->then, pair->then_item), 0);
    consider_item(&candidates, history, miss->record, 0);
    consider_item(&candidates, history, miss->wait, 0);
    consider_item(&candidates, history, miss->other_record, 0);
    if (miss->sync != HISTORY_NONE) {
        consider(&candidates, call_at_position(history, history->syncs.items[miss->sync].position),
                 0);
    }
    const size_t count = reaches_of(history, pair, reaches);
    for (size_t i = 0; i < count; i++) {
        const uint32_t center =
            i == 0 && pair->first_item != HISTORY_NONE ? pair->first_item : pair->then_item;
        for (size_t k = reaches[i].begin; k < reaches[i].end; k++) {
            const uint32_t item = reaches[i].stream->items.items[k];
            const size_t middle = history->items.items[center].seq - 1;
            const size_t distance = k > middle ? k - middle : middle - k;
            if (is_relevant(details, history, item, block)) {
                consider_item(&candidates, history, item, 1 + (uint32_t)distance);
            }
        }
    }
    qsort(candidates.items, candidates.count, sizeof *candidates.items, by_rank);
    for (size_t i = 0; i < candidates.count && window.count < WINDOW_MAX; i++) {
        window.calls[window.count++] = candidates.items[i].call;
    }
    qsort(window.calls, window.count, sizeof *window.calls, by_call);
    return window;
}
