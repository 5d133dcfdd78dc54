/* Blocks of memory and what host threads do to it, for the history.
 *
 * Keeps the blocks that live at this point of the trace sorted by address, so that an address
 * resolves by bisection; what lies in none is pageable memory, of which the operands that calls
 * name are kept. Naive model: a list of blocks, searched each time. Cost: O(log n) to look up, O(n)
 * to move for each alloc and free. */
#include "core/explain_read_parts.h"

#include "core/order.h"

#include <string.h>

/* First live block that ends behind `address`. */
static size_t live_at(const struct reader_state *state, uint64_t address)
{
    size_t low = 0, high = state->live.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (state->live.items[middle].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

uint32_t read_block_of(const struct reader_state *state, uint64_t address)
{
    const size_t at = live_at(state, address);
    const bool inside = at < state->live.count && state->live.items[at].address <= address;
    return inside ? state->live.items[at].alloc : HISTORY_NONE;
}

enum ssan_memory read_memory_of(const struct reader_state *state, uint64_t address)
{
    const uint32_t block = read_block_of(state, address);
    return block == HISTORY_NONE ? SSAN_memory_PAGEABLE
                                 : state->history->allocs.items[block].memory;
}

/* Remembers pageable bytes that a call names. */
bool read_add_operand(struct reader_state *state, uint64_t address, uint64_t size, uint32_t site,
                      const char *call, bool source)
{
    struct history *history = state->history;
    if (size == 0 || size > UINT64_MAX - address || read_block_of(state, address) != HISTORY_NONE) {
        return true;
    }
    if (!ranges_add(&history->pageable, address, address + size)) {
        return false;
    }
    if (map_find(&state->operand_of, address)) {
        return true;
    }
    return map_set(&state->operand_of, address, 1) &&
           VEC_PUSH(&history->operands,
                    (struct hist_operand){address, size, state->position, site, call, source});
}

static bool add_host(struct reader_state *state, struct hist_host host)
{
    struct history *history = state->history;
    host.position = state->position;
    host.seq = read_next_seq(&state->seq_of, host.thread);
    return host.seq > 0 &&
           read_add_call(state, CALL_HOST, (uint32_t)history->hosts.count, host.thread,
                         host.site) &&
           VEC_PUSH(&history->hosts, host);
}

bool read_alloc(struct reader_state *state, const struct ssan_ev_alloc *ev)
{
    struct history *history = state->history;
    const uint32_t index = (uint32_t)history->allocs.count;
    const uint64_t *lives = map_find(&state->lives, ev->address);
    const uint32_t generation = lives ? (uint32_t)*lives + 1 : 1;
    const char *call = read_intern(state, ev->call);
    const uint64_t end = ev->address + (ev->size ? ev->size : 1);
    const struct hist_alloc alloc = {
        .id = ev->alloc,
        .context = ev->context,
        .thread = ev->thread,
        .site = ev->site,
        .memory = ev->memory,
        .address = ev->address,
        .size = ev->size,
        .position = state->position,
        .freed = UINT64_MAX,
        .generation = generation,
        .call = call,
    };
    if (!call || !map_set(&state->lives, ev->address, generation) ||
        !map_set(&history->alloc_of, ev->alloc, index) || !VEC_PUSH(&history->allocs, alloc) ||
        !VEC_RESERVE(&state->live, state->live.count + 1)) {
        return false;
    }
    const size_t at = live_at(state, ev->address);
    memmove(&state->live.items[at + 1], &state->live.items[at],
            (state->live.count - at) * sizeof *state->live.items);
    state->live.items[at] = (struct live){ev->address, end, index};
    state->live.count++;
    return add_host(state, (struct hist_host){.thread = ev->thread,
                                              .call = call,
                                              .site = ev->site,
                                              .alloc = index,
                                              .address = ev->address,
                                              .size = ev->size,
                                              .kind = ROP_ALLOC});
}

bool read_free(struct reader_state *state, const struct ssan_ev_free *ev)
{
    struct history *history = state->history;
    const uint32_t index = history_find(&history->alloc_of, ev->alloc);
    const char *call = read_intern(state, ev->call);
    if (index == HISTORY_NONE || !call) {
        return call != NULL;
    }
    struct hist_alloc *alloc = &history->allocs.items[index];
    alloc->freed = state->position;
    alloc->free_call = call;
    alloc->free_thread = ev->thread;
    alloc->free_site = ev->site;
    for (size_t i = live_at(state, alloc->address); i < state->live.count; i++) {
        if (state->live.items[i].alloc == index) {
            state->live.count--;
            memmove(&state->live.items[i], &state->live.items[i + 1],
                    (state->live.count - i) * sizeof *state->live.items);
            break;
        }
    }
    /* R-IMPL-3: drivers wait here; no manual promises it. */
    const bool of_all = order_free_joins_all(alloc->memory);
    return add_host(state, (struct hist_host){.thread = ev->thread,
                                              .call = call,
                                              .site = ev->site,
                                              .alloc = index,
                                              .address = alloc->address,
                                              .size = alloc->size,
                                              .kind = ROP_FREE}) &&
           read_add_join(state, (struct hist_join){.bound = state->position,
                                                   .kind = JOIN_CONTEXT,
                                                   .object = of_all ? HISTORY_NONE : alloc->context,
                                                   .thread = ev->thread,
                                                   .observed_only = true});
}

bool read_host_access(struct reader_state *state, const struct ssan_ev_host_access *ev)
{
    const bool reads = ev->access == SSAN_access_READ;
    const struct hist_host host = {
        .thread = ev->thread,
        .site = ev->site,
        .alloc = read_block_of(state, ev->address),
        .address = ev->address,
        .size = ev->size,
        .kind = reads ? ROP_HOST_READ : ROP_HOST_WRITE,
    };
    return add_host(state, host) &&
           read_add_operand(state, ev->address, ev->size, ev->site,
                            reads ? "SSAN_HOST_READ" : "SSAN_HOST_WRITE", reads);
}

bool read_pool(struct reader_state *state, const struct ssan_event *event)
{
    const bool takes = event->kind == SSAN_EV_pool_alloc;
    const struct ssan_ev_pool_alloc *alloc = &event->pool_alloc;
    const struct ssan_ev_pool_free *freed = &event->pool_free;
    const uint64_t address = takes ? alloc->address : freed->address;
    const uint64_t *size = map_find(&state->pool_sizes, address);
    const struct hist_host host = {
        .thread = takes ? alloc->thread : freed->thread,
        .site = takes ? alloc->site : freed->site,
        .alloc = read_block_of(state, address),
        .address = address,
        .size = takes  ? alloc->size
                : size ? *size
                       : 0,
        .kind = takes ? ROP_ALLOC : ROP_FREE,
        .call = takes ? "SSAN_POOL_ALLOC" : "SSAN_POOL_FREE",
    };
    return (!takes || map_set(&state->pool_sizes, address, alloc->size)) && add_host(state, host);
}
