/* Keys and ids of hazards: hashes of names, FNV-1a of 64 bits, folded to 32 for
 * print.
 *
 * Ids must not change with lines, addresses, thread timing or the device, so they hash words only.
 * Keys are for one trace and may use all that tells places apart in it. */
#include "core/explain_ids.h"

/* What a side calls itself: kernel, host function, CUDA call, or "host read". */
static const char *side_call(const struct history *history, const struct side *side)
{
    static const char *const host_words[] = {"host read", "host write", "host write"};
    const uint32_t item = side->op ? history_find(&history->item_of, side->op) : HISTORY_NONE;
    const struct hist_failed *failed = history_failed_at(history, side->position);
    if (side->kind == SIDE_HOST && failed) {
        return failed->name[0] ? failed->name : failed->call;
    }
    if (side->kind == SIDE_HOST) {
        return host_words[side->access];
    }
    if (item != HISTORY_NONE) {
        const struct hist_item *found = &history->items.items[item];
        const bool named =
            found->kind == SSAN_op_kind_KERNEL || found->kind == SSAN_op_kind_HOSTFUNC;
        return named && found->name[0] ? found->name : found->call;
    }
    const size_t call = history_call_at(history, side->position);
    if (call >= history->calls.count || history->calls.items[call].position != side->position ||
        history->calls.items[call].kind != CALL_HOST) {
        return "";
    }
    const char *name = history->hosts.items[history->calls.items[call].index].call;
    return name ? name : "";
}

static uint64_t add_side(uint64_t hash, const struct history *history, const struct side *side)
{
    const struct hist_site *site = history_site(history, side->site);
    const uint32_t item = side->op ? history_find(&history->item_of, side->op) : HISTORY_NONE;
    hash = hash_bytes(hash, &side->kind, sizeof side->kind);
    hash = hash_text(hash, side_call(history, side));
    if (site->stack_key != 0) {
        return hash_bytes(hash, &site->stack_key, sizeof site->stack_key);
    }
    /* a call of unknown place is told apart by its stream */
    const uint32_t stream = item == HISTORY_NONE ? 0 : history->items.items[item].stream + 1;
    return hash_bytes(hash, &stream, sizeof stream);
}

uint64_t hazard_key(const struct history *history, const struct hazard *hazard)
{
    uint64_t hash = hash_bytes(HASH_SEED, &hazard->check, sizeof hazard->check);
    hash = add_side(hash, history, &hazard->first);
    hash = add_side(hash, history, &hazard->then);
    const uint32_t alloc = history_find(&history->alloc_of, hazard->alloc);
    if (alloc != HISTORY_NONE) {
        const struct hist_site *site = history_site(history, history->allocs.items[alloc].site);
        const uint64_t where = site->stack_key != 0 ? site->stack_key : hazard->alloc;
        hash = hash_bytes(hash, &where, sizeof where);
    }
    if (hazard->stream || hazard->event) {
        hash = hash_bytes(hash, &hazard->stream, sizeof hazard->stream);
        hash = hash_bytes(hash, &hazard->event, sizeof hazard->event);
    }
    return hash;
}

uint64_t hazard_pair_key(const struct history *history, const struct hazard *hazard)
{
    if (history_site(history, hazard->first.site)->stack_key == 0 ||
        history_site(history, hazard->then.site)->stack_key == 0) {
        return 0;
    }
    const uint64_t hash = add_side(HASH_SEED, history, &hazard->first);
    return add_side(hash, history, &hazard->then) | 1;
}

uint64_t hazard_identity(const struct history *history, const struct hazard *hazard,
                         const char *buffer_name)
{
    uint64_t hash = hash_text(HASH_SEED, check_info(hazard->check)->id);
    hash = hash_text(hash, side_call(history, &hazard->first));
    hash = hash_text(hash, side_call(history, &hazard->then));
    hash = hash_text(hash, history_place(history, hazard->first.site).function);
    hash = hash_text(hash, history_place(history, hazard->then.site).function);
    const uint32_t alloc = history_find(&history->alloc_of, hazard->alloc);
    if (!buffer_name && alloc != HISTORY_NONE) {
        buffer_name = history_place(history, history->allocs.items[alloc].site).function;
    }
    return hash_text(hash, buffer_name);
}

const char *id_text(struct arena *arena, uint64_t identity, uint32_t ordinal)
{
    static const char digits[] = "0123456789abcdef";
    char *text = arena_alloc(arena, 9);
    uint64_t hash = hash_bytes(identity, &ordinal, sizeof ordinal);
    hash ^= hash >> 32;
    for (int i = 0; text && i < 8; i++) {
        text[i] = digits[hash >> (28 - 4 * i) & 15];
    }
    return text;
}
