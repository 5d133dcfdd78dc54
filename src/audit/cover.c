/* Two questions a site, in this order: is all that a call orders ordered without the site as well
 * (by which calls)? And if not: of the operations that need order, which have a path through it,
 * and which calls order those without it?
 *
 * Only words come of it. Instances and needs beyond the limits are passed over: repeats of one site
 * tell the same story. */
#include "audit/cover.h"

#include "core/explain_nearest.h"
#include "core/explain_window.h"

#define INSTANCES_MAX 12 /* of one site that are looked at */
#define NEEDS_MAX     16
#define COVERS_MAX    4
#define TRIES_MAX     8 /* instances of a site that are tried for one need */

struct covering {
    struct sites *sites;
    const struct history *history;
    struct walk_map map;
    bool failed;
};

static void add_cover(struct covering *covering, struct site *site, uint32_t kind, uint32_t call)
{
    if (kind == AUDIT_COVER_SYNC) {
        const struct site *other = sites_of_call(covering->sites, covering->history, call);
        call = other ? other->calls.items[0] : call;
    }
    for (size_t i = 0; i < site->covers.count; i++) {
        const struct found_cover *known = &site->covers.items[i];
        const uint32_t a = call == HISTORY_NONE ? 0 : covering->history->calls.items[call].site;
        const uint32_t b =
            known->call == HISTORY_NONE ? 0 : covering->history->calls.items[known->call].site;
        if (known->kind == kind && (known->call == call || (a == b && a != 0))) {
            return;
        }
    }
    if (site->covers.count < COVERS_MAX) {
        covering->failed |= !VEC_PUSH(&site->covers, (struct found_cover){kind, call});
    }
}

/* The calls on the path to a step. */
static void add_path(struct covering *covering, struct site *site, const struct walk *walk,
                     uint32_t at)
{
    while (at != HISTORY_NONE) {
        const struct step *step = &walk->steps.items[at];
        switch (step->via) {
        case WALK_ORDER:
            break;
        case WALK_SYNC:
            add_cover(covering, site, AUDIT_COVER_SYNC, step->call);
            break;
        case WALK_CALL:
            add_cover(covering, site, AUDIT_COVER_CALL, step->call);
            break;
        case WALK_LEGACY:
            add_cover(covering, site, AUDIT_COVER_LEGACY, HISTORY_NONE);
            break;
        case WALK_HAND_OVER:
            add_cover(covering, site, AUDIT_COVER_HAND_OVER, HISTORY_NONE);
            break;
        }
        at = step->parent;
    }
}

/* The next item of the stream that is no wait; HISTORY_NONE: none. */
static uint32_t next_item(const struct history *history, uint32_t wait)
{
    const struct hist_item *item = &history->items.items[wait];
    const struct hist_stream *stream = &history->streams.items[item->stream];
    for (size_t i = item->seq; i < stream->items.count; i++) {
        if (history->items.items[stream->items.items[i]].kind != SSAN_op_kind_WAIT) {
            return stream->items.items[i];
        }
    }
    return HISTORY_NONE;
}

/* The next thing that the host does behind a call and that order counts for; UINT64_MAX: none. */
static uint64_t next_on_host(const struct history *history, uint32_t index)
{
    const struct hist_call *from = &history->calls.items[index];
    const uint64_t returned = history->syncs.items[from->index].returned;
    for (size_t i = (size_t)index + 1; i < history->calls.count; i++) {
        const struct hist_call *call = &history->calls.items[i];
        const bool counts = call->kind == CALL_ITEM || call->kind == CALL_HOST;
        if (counts && call->position > returned &&
            (!history->strict || call->thread == from->thread)) {
            return call->position;
        }
    }
    return UINT64_MAX;
}

enum reach { REACH_NOTHING_BEFORE, REACH_NOTHING_BEHIND, REACH_UNCOVERED, REACH_COVERED };

/* Whether what one instance orders is ordered without its site; adds what does it. */
static enum reach reach_of(struct covering *covering, struct site *site, uint32_t index)
{
    const struct history *history = covering->history;
    const struct hist_call *call = &history->calls.items[index];
    const uint32_t item = call->kind == CALL_ITEM ? next_item(history, call->index) : HISTORY_NONE;
    const uint64_t host = call->kind == CALL_SYNC ? next_on_host(history, index) : UINT64_MAX;
    struct walk before, walk;
    enum reach reach = REACH_COVERED;
    walk_init(&before, &covering->map, NULL);
    walk_init(&walk, &covering->map, site);
    walk_from_sync(&before, index); /* its first steps are what it waits for */
    if (before.steps.count == 0) {
        reach = REACH_NOTHING_BEFORE;
    } else if (item == HISTORY_NONE && host == UINT64_MAX) {
        reach = REACH_NOTHING_BEHIND;
    } else if (item != HISTORY_NONE) {
        walk_from_item(&walk, item);
    } else {
        walk_from_host(&walk, call->thread, host);
    }
    walk_run(&walk);
    for (size_t i = 0; reach == REACH_COVERED && i < before.steps.count; i++) {
        const struct step *step = &before.steps.items[i];
        if (walk_find(&walk, step->what, step->until) == HISTORY_NONE) {
            reach = REACH_UNCOVERED;
        }
    }
    for (size_t i = 0; reach == REACH_COVERED && i < before.steps.count; i++) {
        const struct step *step = &before.steps.items[i];
        add_path(covering, site, &walk, walk_find(&walk, step->what, step->until));
    }
    covering->failed |= before.failed || walk.failed;
    walk_finish(&before);
    walk_finish(&walk);
    return reach;
}

static void start_at(struct walk *walk, const struct pair *pair, const struct side *then)
{
    if (pair->then_item != HISTORY_NONE) {
        walk_from_item(walk, pair->then_item);
    } else {
        walk_from_host(walk, then->thread, then->position);
    }
}

/* Whether a path from `first` to the walk's root leads through a call of the site. */
static bool leads_through(struct covering *covering, const struct site *site,
                          const struct walk *walk, const struct hist_item *first)
{
    bool through = false;
    size_t tries = 0;
    for (size_t i = 0; !through && tries < TRIES_MAX && i < walk->steps.count; i++) {
        const struct step *step = &walk->steps.items[i];
        if (step->via != WALK_SYNC ||
            sites_of_call(covering->sites, covering->history, step->call) != site) {
            continue;
        }
        struct walk behind;
        tries++;
        walk_init(&behind, &covering->map, NULL);
        walk_from_sync(&behind, step->call);
        walk_run(&behind);
        through = walk_find(&behind, first->stream, first->seq) != HISTORY_NONE;
        covering->failed |= behind.failed;
        walk_finish(&behind);
    }
    return through;
}

/* Adds what orders a pair of operations without the site; false when the site has no part in their
 * order. */
static bool add_need(struct covering *covering, struct site *site, const struct hazard *need)
{
    const struct history *history = covering->history;
    const struct pair pair = pair_of(history, need, false);
    struct walk all, walk;
    bool part = false;
    if (pair.first_item == HISTORY_NONE) {
        return false; /* what the host did first is before every later submission */
    }
    const struct hist_item *first = &history->items.items[pair.first_item];
    walk_init(&all, &covering->map, NULL);
    walk_init(&walk, &covering->map, site);
    start_at(&all, &pair, &need->then);
    walk_run(&all);
    if (leads_through(covering, site, &all, first)) {
        start_at(&walk, &pair, &need->then);
        walk_run(&walk);
        const uint32_t at = walk_find(&walk, first->stream, first->seq);
        part = at != HISTORY_NONE;
        add_path(covering, site, &walk, at);
    }
    covering->failed |= all.failed || walk.failed;
    walk_finish(&all);
    walk_finish(&walk);
    return part;
}

static void cover_site(struct covering *covering, struct site *site, const struct fresh_list *needs)
{
    size_t counts[4] = {0};
    const size_t count = site->calls.count;
    const size_t looked = count < INSTANCES_MAX ? count : INSTANCES_MAX;
    for (size_t i = 0; i < looked; i++) { /* the first and the last half */
        const size_t at = i < (looked + 1) / 2 ? i : count - (looked - i);
        counts[reach_of(covering, site, site->calls.items[at])]++;
    }
    if (counts[REACH_UNCOVERED] == 0 && counts[REACH_NOTHING_BEHIND] == 0) {
        site->why = counts[REACH_COVERED] > 0 ? AUDIT_COVERED : AUDIT_NOTHING_BEFORE;
        return;
    }
    bool needed = false;
    VEC_FREE(&site->covers);
    for (size_t i = 0; i < needs->count && i < NEEDS_MAX; i++) {
        needed |= add_need(covering, site, &needs->items[i].hazard);
    }
    site->why = needed                         ? AUDIT_NEEDED_COVERED
                : counts[REACH_UNCOVERED] == 0 ? AUDIT_NOTHING_BEHIND
                                               : AUDIT_NO_CONFLICT;
}

bool cover_find(struct sites *sites, const struct history *history, const struct fresh_list *needs,
                bool documented)
{
    struct covering covering = {.sites = sites, .history = history};
    covering.failed = !walk_map_init(&covering.map, history, documented);
    for (size_t i = 0; !covering.failed && i < sites->items.count; i++) {
        if (sites->items.items[i].fresh.count == 0) {
            cover_site(&covering, &sites->items.items[i], needs);
        }
    }
    walk_map_finish(&covering.map);
    return !covering.failed;
}
