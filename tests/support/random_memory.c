/* Places, their generations, and the small byte sets inside them. */
#include "support/must.h"
#include "support/random_state.h"

void random_places(struct random_state *state)
{
    static const struct random_place places[PLACE_COUNT] = {
        {SSAN_memory_DEVICE, UINT64_C(0x700000000000), 0, false},
        {SSAN_memory_DEVICE, UINT64_C(0x700000400000), 0, false},
        {SSAN_memory_DEVICE, UINT64_C(0x700000800000), 0, false},
        {SSAN_memory_PINNED, UINT64_C(0x200000000000), 0, false},
        {SSAN_memory_PINNED, UINT64_C(0x200000400000), 0, false},
        {SSAN_memory_MANAGED, UINT64_C(0x600000000000), 0, false},
        {SSAN_memory_PAGEABLE, UINT64_C(0x10000000), 0, false},
        {SSAN_memory_PAGEABLE, UINT64_C(0x10400000), 0, false},
        {SSAN_memory_REGISTERED, UINT64_C(0x10800000), 0, false},
    };
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        state->places[i] = places[i];
    }
}

bool random_is_live(const struct random_place *place)
{
    return place->alloc || place->memory == SSAN_memory_PAGEABLE;
}

struct random_place *random_find_place(struct random_state *state, unsigned memories)
{
    struct random_place *found = NULL;
    uint64_t seen = 0;
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        struct random_place *at = &state->places[i];
        /* A registered range is pageable before and after. */
        enum ssan_memory now =
            at->memory == SSAN_memory_REGISTERED && !at->alloc ? SSAN_memory_PAGEABLE : at->memory;
        bool live = at->alloc || now == SSAN_memory_PAGEABLE;
        if (live && (memories >> now & 1) && pick(state, ++seen) == 0) {
            found = at;
        }
    }
    return found;
}

static uint64_t offset_of(struct random_state *state)
{
    uint64_t offset = 4 * pick(state, 12);
    return chance(state, 15) ? 4096 - 16 + offset : offset;
}

static void hold_leaf(struct random_state *state, struct ssan_ev_set set, uint64_t base)
{
    uint64_t words[64] = {0};
    words[0] = rng_next(state->rng) & rng_next(state->rng) & UINT64_C(0x0000ffff0000ffff);
    words[0] |= chance(state, 30) ? UINT64_C(0xf0) : UINT64_C(0xf);
    words[pick(state, 64)] |= 1;
    uint32_t unit_log2 = chance(state, 30) ? 2 : 0;
    struct ssan_event event = {.kind = SSAN_EV_set_leaf};
    event.set_leaf = (struct ssan_ev_set_leaf){
        .op = set.op,
        .access = set.access,
        .sureness = set.sureness,
        .site = set.site,
        .width = set.width,
        .address = base + (chance(state, 20) ? 4096 : 0),
        .unit_log2 = unit_log2,
        .bits = {words, unit_log2 && chance(state, 50) ? 16 : 64},
    };
    tape_put(&state->held, &event);
}

void random_hold_set(struct random_state *state, uint64_t op, const struct random_place *place,
                     enum ssan_access access, enum ssan_set_sureness sureness, uint64_t *address)
{
    struct ssan_run runs[2] = {0};
    struct ssan_event event = {.kind = SSAN_EV_set};
    uint32_t count = 1;
    *address = place->address + offset_of(state);
    runs[0] = (struct ssan_run){*address, 4 * (1 + pick(state, 4)), 0, 1};
    if (chance(state, 10)) { /* odd bytes */
        runs[0].length = 1 + pick(state, 7);
        runs[0].address += pick(state, 4);
        *address = runs[0].address;
    } else if (chance(state, 15)) {
        runs[0] = (struct ssan_run){*address, 4, 8 + 4 * pick(state, 3), 2 + pick(state, 4)};
    } else if (chance(state, 3)) { /* the whole place, in one piece */
        runs[0] = (struct ssan_run){place->address, PLACE_BYTES, 0, 1};
        *address = place->address;
    }
    if (chance(state, 10) && runs[0].count == 1 && runs[0].length < 64) {
        runs[1] = (struct ssan_run){*address + 64, 4, 0, 1};
        count = 2;
    }
    event.set = (struct ssan_ev_set){
        .op = op,
        .access = access,
        .sureness = sureness,
        .site = ++state->site,
        .width = access == SSAN_access_ATOMIC ? 4 : (uint32_t)(1u << pick(state, 4)),
        .runs = {runs, count},
    };
    if (chance(state, 8)) {
        hold_leaf(state, event.set, place->address);
    } else {
        tape_put(&state->held, &event);
    }
}

uint64_t random_host_bytes(struct random_state *state, const struct random_place *place,
                           uint64_t *size)
{
    *size = chance(state, 10) ? 1 + pick(state, 7) : 4 * (1 + pick(state, 6));
    return place->address + offset_of(state);
}

static const char *alloc_call(enum ssan_memory memory)
{
    switch (memory) {
    case SSAN_memory_DEVICE:
        return "cudaMalloc";
    case SSAN_memory_PINNED:
        return "cudaMallocHost";
    case SSAN_memory_MANAGED:
        return "cudaMallocManaged";
    default:
        return "cudaHostRegister";
    }
}

static const char *free_call(enum ssan_memory memory)
{
    switch (memory) {
    case SSAN_memory_PINNED:
        return "cudaFreeHost";
    case SSAN_memory_REGISTERED:
        return "cudaHostUnregister";
    default:
        return "cudaFree";
    }
}

/* Opens a generation in an empty place, or ends one. */
void random_lifetime_call(struct random_state *state, uint32_t thread)
{
    struct random_place *place = &state->places[pick(state, PLACE_COUNT)];
    if (place->memory == SSAN_memory_PAGEABLE) {
        return;
    }
    struct ssan_event event = {0};
    if (place->alloc) {
        if (state->callback_acquires || chance(state, 50)) {
            random_run_callbacks(state);
        }
        event.kind = SSAN_EV_free;
        event.free = (struct ssan_ev_free){place->alloc, ssan_str(free_call(place->memory)), thread,
                                           ++state->site};
        place->alloc = 0;
    } else {
        event.kind = SSAN_EV_alloc;
        event.alloc = (struct ssan_ev_alloc){
            .alloc = ++state->allocs,
            .context = 1 + (uint32_t)pick(state, state->contexts),
            .memory = place->memory,
            .address = place->address,
            .size =
                place->memory == SSAN_memory_REGISTERED && chance(state, 50) ? 4096 : PLACE_BYTES,
            .call = ssan_str(alloc_call(place->memory)),
            .thread = thread,
            .site = ++state->site,
        };
        place->alloc = state->allocs;
        place->used = true;
        /* Blocks of the program's allocator went with the old generation. */
        for (size_t i = 0; i < state->blocks.count; i++) {
            if (state->blocks.items[i].address - place->address < PLACE_BYTES) {
                state->blocks.items[i] = state->blocks.items[--state->blocks.count];
                i--;
            }
        }
    }
    emit(state, &event);
}

/* Hands a block of a device allocation out, or takes it back: mostly to hand it out again at once.
 */
void random_pool_call(struct random_state *state, uint32_t thread)
{
    struct random_place *place = random_find_place(state, 1u << SSAN_memory_DEVICE);
    struct ssan_event event = {0};
    if (!place) {
        return;
    }
    struct random_block block = {place->address + 32 * pick(state, 2), 32, true};
    for (size_t i = 0; i < state->blocks.count; i++) {
        if (state->blocks.items[i].address == block.address) {
            event.kind = SSAN_EV_pool_free;
            event.pool_free =
                (struct ssan_ev_pool_free){0xb001, block.address, thread, ++state->site};
            emit(state, &event);
            state->blocks.items[i] = state->blocks.items[--state->blocks.count];
            if (chance(state, 20)) {
                return;
            }
            break;
        }
    }
    event.kind = SSAN_EV_pool_alloc;
    event.pool_alloc =
        (struct ssan_ev_pool_alloc){0xb001, block.address, block.size, thread, ++state->site};
    emit(state, &event);
    MUST(VEC_PUSH(&state->blocks, block));
}

void random_ignore(struct random_state *state)
{
    struct random_place *place = &state->places[pick(state, PLACE_COUNT)];
    struct ssan_event event = {.kind = SSAN_EV_ignore};
    event.ignore =
        (struct ssan_ev_ignore){place->address + 16 * pick(state, 2), 16, (uint32_t)pick(state, 2)};
    emit(state, &event);
}
