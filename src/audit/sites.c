/* Gathers calls into sites. A site's instances keep the order of the trace, and sites stand in the
 * order of their first instance. Naive model: calls grouped by (file, line, name). Cost: O(calls).
 */
#include "audit/sites.h"

bool sites_is_sync(const struct history *history, const struct hist_call *call)
{
    return call->kind == CALL_SYNC ||
           (call->kind == CALL_ITEM && history->items.items[call->index].kind == SSAN_op_kind_WAIT);
}

/* What makes two calls the same site. Without any stack they are told apart by what they wait for.
 */
static uint64_t key_of(const struct history *history, const struct hist_call *call)
{
    const struct hist_site *site = history_site(history, call->site);
    uint64_t key = hash_text(HASH_SEED, history_call_name(history, call));
    if (site->place_key != 0) {
        return hash_bytes(key, &site->place_key, sizeof site->place_key);
    }
    if (site->stack_key != 0 && call->site != 0) {
        return hash_bytes(key, &site->stack_key, sizeof site->stack_key);
    }
    const uint32_t object = call->kind == CALL_SYNC ? history->syncs.items[call->index].object
                                                    : history->items.items[call->index].event;
    const uint32_t kind =
        call->kind == CALL_SYNC ? 1 + (uint32_t)history->syncs.items[call->index].kind : 0;
    return hash_bytes(hash_bytes(key, &object, sizeof object), &kind, sizeof kind);
}

static bool add(struct sites *sites, const struct history *history, uint32_t index)
{
    const struct hist_call *call = &history->calls.items[index];
    const uint64_t key = key_of(history, call);
    uint32_t known = history_find(&sites->of, key);
    if (known == HISTORY_NONE) {
        const struct site site = {.call = history_call_name(history, call),
                                  .key = key,
                                  .is_wait = call->kind == CALL_ITEM};
        known = (uint32_t)sites->items.count;
        if (!map_set(&sites->of, key, known) || !VEC_PUSH(&sites->items, site)) {
            return false;
        }
    }
    struct site *site = &sites->items.items[known];
    if (call->kind == CALL_SYNC) {
        site->blocked_ns += history->syncs.items[call->index].blocked_ns;
    }
    return VEC_PUSH(&site->calls, index);
}

bool sites_collect(struct sites *sites, const struct history *history)
{
    for (uint32_t i = 0; i < history->calls.count; i++) {
        if (sites_is_sync(history, &history->calls.items[i]) && !add(sites, history, i)) {
            return false;
        }
    }
    return true;
}

struct site *sites_of_call(const struct sites *sites, const struct history *history, uint32_t call)
{
    const struct hist_call *found = &history->calls.items[call];
    if (!sites_is_sync(history, found)) {
        return NULL;
    }
    const uint32_t index = history_find(&sites->of, key_of(history, found));
    return index == HISTORY_NONE ? NULL : &sites->items.items[index];
}

void sites_finish(struct sites *sites)
{
    for (size_t i = 0; i < sites->items.count; i++) {
        VEC_FREE(&sites->items.items[i].calls);
        VEC_FREE(&sites->items.items[i].covers);
        VEC_FREE(&sites->items.items[i].fresh);
    }
    VEC_FREE(&sites->items);
    map_finish(&sites->of);
}
