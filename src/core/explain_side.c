/* Fills the sides and the bytes of findings.
 *
 * Everything lies in the report's arena. Cost: O(log blocks) a hazard, O(ranges) for its bytes. */
#include "core/explain_side.h"

#include <string.h>

#define DEVICE_LINES 16 /* told of a side at most */

uint64_t hazard_block(const struct history *history, const struct hazard *hazard)
{
    const uint32_t alloc = history_find(&history->alloc_of, hazard->alloc);
    const uint64_t offset = hazard->bytes.count > 0 ? hazard->bytes.items[0].begin : 0;
    return alloc != HISTORY_NONE ? alloc
                                 : block_key(history, hazard->base + offset, hazard->then.position);
}

bool hazard_has_block(const struct hazard *hazard)
{
    return hazard->bytes.count > 0 || hazard->alloc != 0;
}

bool side_want(struct tables *tables, const struct side *side, uint32_t item)
{
    const uint32_t call = call_of_side(tables->history, side, item);
    const bool create =
        call != HISTORY_NONE && tables->history->calls.items[call].kind == CALL_CREATE;
    return create || tables_want_call(tables, call);
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool is_same_place(const struct place *a, const struct place *b)
{
    return a->line == b->line && is_same_text(a->file, b->file) &&
           (a->file || is_same_text(a->function, b->function));
}

static void add_line(struct finding_side *out, struct place *places, size_t room,
                     const struct place *place)
{
    size_t i = 0;
    while (i < out->device_count && !is_same_place(&places[i], place)) {
        i++;
    }
    if ((place->file || place->function) && i == out->device_count && i < room) {
        places[out->device_count++] = *place;
    }
}

/* The candidate device lines: each site is one, or has several as its frames. */
static bool fill_lines(struct tables *tables, struct finding_side *out, const struct side *side)
{
    struct place *places = arena_alloc(&tables->report->arena, DEVICE_LINES * sizeof *places);
    for (size_t i = 0; places && i < HAZARD_LINES && side->lines[i] != 0; i++) {
        const struct hist_site *site = history_site(tables->history, side->lines[i]);
        for (size_t k = 0; site && k < site->frame_count; k++) {
            add_line(out, places, DEVICE_LINES, &site->frames[k]);
        }
    }
    out->device_at = places;
    return places != NULL;
}

bool side_fill(struct tables *tables, struct finding_side *out, const struct side *side,
               uint32_t item)
{
    out->op = tables_op(tables, call_of_side(tables->history, side, item));
    out->access =
        side->kind == SIDE_ALLOC || side->kind == SIDE_FREE ? SSAN_access_WRITE : side->access;
    out->size_bytes = side->width;
    return fill_lines(tables, out, side);
}

bool side_fill_bytes(struct tables *tables, struct finding *finding, const struct hazard *hazard)
{
    const uint64_t begin = block_begin(tables->history, hazard_block(tables->history, hazard));
    const size_t count = hazard->bytes.count;
    struct range *items = arena_alloc(&tables->report->arena, (count + 1) * sizeof *items);
    for (size_t i = 0; items && i < count; i++) {
        items[i].begin = hazard->bytes.items[i].begin + hazard->base - begin;
        items[i].end = hazard->bytes.items[i].end + hazard->base - begin;
    }
    finding->bytes = (struct ranges){.items = items, .count = count, .room = count};
    return items != NULL;
}
