/* Largest set by implicit hitting sets.
 *
 * A set that fails keeps failing when more goes (order only gets less), so every set that passes
 * leaves out at least one site of each failing set. Known failing sets are kept minimal; the
 * cheapest choice of one site from each is what must stay, and when the rest passes, no larger set
 * can. Naive model: try all sets by decreasing size. Cost: one re-run for each set tried; about
 * sites x (failing sets + 1). When the budget ends, or with more sites than a mask holds, sites are
 * added by halves, then exchanged, for which there is a budget of the same size once more. */
#include "audit/together.h"

#include <string.h>

#define MASK_SITES     64
#define MAX_NODES      UINT64_C(2000000)
#define COST_OF_ONE    1024u /* above MASK_SITES: fewer sites first, then fewer that block */
#define EXCHANGE_TRIES 2

struct search {
    struct sites *sites;
    struct rerun *rerun;
    struct ssan_error *err;
    enum ssan_status status;
    size_t *candidates; /* indices of redundant sites */
    size_t count;
    size_t *left; /* indices of candidates that are to be added */
    uint64_t max_runs, begun;
    VEC(uint64_t) failing; /* minimal sets, as masks of candidates */
    VEC(uint64_t) passing;
    uint64_t nodes, best, best_cost; /* of the choice of what stays */
};

static bool may_run(const struct search *search)
{
    return search->rerun->runs - search->begun < search->max_runs;
}

/* Whether the trace without these sites has nothing new; false also on an error. */
static bool passes(struct search *search, const bool *gone)
{
    struct drops drops = {0};
    bool found = true, ok = true;
    for (size_t i = 0; ok && i < search->count; i++) {
        ok = !gone[i] || drops_add_site(&drops, search->rerun->history,
                                        &search->sites->items.items[search->candidates[i]]);
    }
    search->status = ok ? rerun_without(search->rerun, &drops, &found, NULL, 0, search->err)
                        : ssan_no_memory(search->err);
    VEC_FREE(&drops);
    return search->status == SSAN_OK && !found;
}

static void spread(uint64_t mask, bool *gone, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        gone[i] = mask >> i & 1;
    }
}

/* passes() with what is known already. */
static bool passes_mask(struct search *search, uint64_t mask)
{
    bool gone[MASK_SITES];
    if ((mask & (mask - 1)) == 0) {
        return true; /* at most one: each was tried alone */
    }
    for (size_t i = 0; i < search->failing.count; i++) {
        if ((search->failing.items[i] & ~mask) == 0) {
            return false;
        }
    }
    for (size_t i = 0; i < search->passing.count; i++) {
        if ((mask & ~search->passing.items[i]) == 0) {
            return true;
        }
    }
    spread(mask, gone, search->count);
    const bool good = passes(search, gone);
    if (good && !VEC_PUSH(&search->passing, mask)) {
        search->status = ssan_no_memory(search->err);
    }
    return good;
}

/* Makes a failing set minimal and keeps it; false when the budget ended or on an error. */
static bool add_failing(struct search *search, uint64_t mask)
{
    for (size_t i = search->count; i-- > 0 && search->status == SSAN_OK;) {
        const uint64_t less = mask & ~(UINT64_C(1) << i);
        if (less == mask) {
            continue;
        }
        if (!may_run(search)) {
            return false;
        }
        mask = passes_mask(search, less) ? mask : less;
    }
    if (search->status == SSAN_OK && !VEC_PUSH(&search->failing, mask)) {
        search->status = ssan_no_memory(search->err);
    }
    return search->status == SSAN_OK;
}

static uint64_t cost_of(const struct search *search, size_t candidate)
{
    const struct site *site = &search->sites->items.items[search->candidates[candidate]];
    return COST_OF_ONE + (site->is_wait ? 0 : 1);
}

/* Chooses one site of each failing set, at the lowest cost. */
static void choose(struct search *search, uint64_t stays, uint64_t cost)
{
    if (cost >= search->best_cost || ++search->nodes > MAX_NODES) {
        return;
    }
    for (size_t i = 0; i < search->failing.count; i++) {
        uint64_t open = search->failing.items[i];
        if (open & stays) {
            continue;
        }
        for (; open != 0; open &= open - 1) {
            const size_t bit = (size_t)__builtin_ctzll(open);
            choose(search, stays | UINT64_C(1) << bit, cost + cost_of(search, bit));
        }
        return;
    }
    search->best = stays;
    search->best_cost = cost;
}

/* The largest set; false when the search ended early. */
static bool find_exact(struct search *search, bool *gone)
{
    const uint64_t all =
        search->count == MASK_SITES ? UINT64_MAX : (UINT64_C(1) << search->count) - 1;
    while (search->status == SSAN_OK && may_run(search)) {
        search->nodes = 0;
        search->best_cost = UINT64_MAX;
        choose(search, 0, 0);
        if (search->nodes > MAX_NODES) {
            return false;
        }
        const uint64_t mask = all & ~search->best;
        if (passes_mask(search, mask)) {
            spread(mask, gone, search->count);
            return search->status == SSAN_OK;
        }
        if (search->status != SSAN_OK || !add_failing(search, mask)) {
            return false;
        }
    }
    return false;
}

static size_t size_of(const bool *gone, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += gone[i];
    }
    return size;
}

/* Adds these sites at once if the set then passes, else one half of them after the other. */
static void add_some(struct search *search, bool *gone, const size_t *some, size_t count)
{
    if (count == 0 || search->status != SSAN_OK || !may_run(search)) {
        return;
    }
    for (size_t k = 0; k < count; k++) {
        gone[some[k]] = true;
    }
    if (size_of(gone, search->count) == 1 || passes(search, gone)) {
        return; /* one alone was tried before */
    }
    for (size_t k = 0; k < count; k++) {
        gone[some[k]] = false;
    }
    if (count > 1) {
        add_some(search, gone, some, count / 2);
        add_some(search, gone, some + count / 2, count - count / 2);
    }
}

/* Adds all sites that can go with the others, as far as the budget reaches. */
static void add_all(struct search *search, bool *gone, bool backwards)
{
    size_t count = 0;
    for (size_t k = 0; k < search->count; k++) {
        const size_t i = backwards ? search->count - 1 - k : k;
        if (!gone[i]) {
            search->left[count++] = i;
        }
    }
    add_some(search, gone, search->left, count);
}

/* A large set, not known to be the largest: two greedy ones, the better improved by exchanges. */
static void find_large(struct search *search, bool *gone, bool *other)
{
    const size_t bytes = search->count * sizeof *gone;
    memset(gone, 0, bytes);
    memset(other, 0, bytes);
    add_all(search, gone, true);
    add_all(search, other, false);
    if (size_of(other, search->count) > size_of(gone, search->count)) {
        memcpy(gone, other, bytes);
    }
    if (search->count > 0 && size_of(gone, search->count) == 0) {
        gone[0] = true;
    }
    for (size_t i = 0, tries = 0; i < search->count && tries < EXCHANGE_TRIES; i++) {
        if (!gone[i] || search->status != SSAN_OK || !may_run(search)) {
            continue;
        }
        memcpy(other, gone, bytes);
        other[i] = false;
        add_all(search, other, true);
        tries++;
        if (size_of(other, search->count) > size_of(gone, search->count)) {
            memcpy(gone, other, bytes);
        }
    }
}

enum ssan_status together_find(struct sites *sites, struct rerun *rerun, uint64_t max_runs,
                               bool *exact, struct ssan_error *err)
{
    const size_t sites_count = sites->items.count;
    struct search search = {
        .sites = sites, .rerun = rerun, .err = err, .max_runs = max_runs, .begun = rerun->runs};
    bool *gone = mem_zalloc(sites_count + 1, sizeof *gone);
    bool *other = mem_zalloc(sites_count + 1, sizeof *other);
    search.candidates = mem_zalloc(sites_count + 1, sizeof *search.candidates);
    search.left = mem_zalloc(sites_count + 1, sizeof *search.left);
    if (!gone || !other || !search.candidates || !search.left) {
        search.status = ssan_no_memory(err);
    }
    for (size_t i = 0; search.status == SSAN_OK && i < sites_count; i++) {
        if (sites->items.items[i].fresh.count == 0) {
            search.candidates[search.count++] = i;
        }
    }
    *exact = search.status == SSAN_OK && search.count <= MASK_SITES && find_exact(&search, gone);
    if (search.status == SSAN_OK && !*exact) {
        search.begun = rerun->runs;
        find_large(&search, gone, other);
    }
    for (size_t i = 0; search.status == SSAN_OK && i < search.count; i++) {
        sites->items.items[search.candidates[i]].together = gone[i];
    }
    VEC_FREE(&search.failing);
    VEC_FREE(&search.passing);
    mem_free(search.candidates);
    mem_free(search.left);
    mem_free(other);
    mem_free(gone);
    return search.status;
}
