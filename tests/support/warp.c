/* See warp.h. */
#include "support/warp.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define STACK_BYTES (64u << 10)

enum state { READY, ACTIVE, EQUAL, FIRST, ENDED };

struct lane {
    ucontext_t context;
    char *stack;
    unsigned warp, number;
    enum state state; /* READY, or the question it waits with */
    int place;
    unsigned call;
    uint32_t mask; /* whom it asks */
    uint64_t value;
    uint64_t answer;
};

#define COPIES 1024u

/* A level 1 cache: 16 bytes at each place, by their address. */
struct cache {
    struct copy {
        uint64_t at; /* 0: none */
        uint64_t words[2];
    } copies[COPIES];
};

static struct {
    struct rng *rng;
    bool is_kept_together;
    struct lane *lanes;
    struct cache *caches;
    uint64_t counts[WARP_CALLS][WARP_ATOMIC + 1];
    unsigned count, left;
    struct lane *current;
    ucontext_t scheduler;
    void (*body)(void *self, unsigned warp, unsigned lane);
    void *self;
} machine;

static void leave(enum state state)
{
    struct lane *lane = machine.current;
    lane->state = state;
    swapcontext(&lane->context, &machine.scheduler);
}

void warp_step(void)
{
    if (rng_below(machine.rng, 4) == 0) {
        leave(READY);
    }
}

void warp_call(unsigned call)
{
    machine.current->call = call;
}

void warp_keep_together(bool is_kept)
{
    machine.is_kept_together = is_kept;
}

static struct copy *copy_of(const void *at, enum warp_access access)
{
    machine.counts[machine.current->call % WARP_CALLS][access]++;
    uint64_t number = (uintptr_t)at / 16;
    return &machine.caches[machine.current->warp].copies[number % COPIES];
}

const void *warp_near(const void *at)
{
    struct copy *copy = copy_of(at, WARP_NEAR);
    uint64_t offset = (uintptr_t)at % 16;
    const uint64_t *words = (const void *)((uintptr_t)at - offset);
    if (copy->at != (uintptr_t)words) {
        copy->at = (uintptr_t)words;
        copy->words[0] = __atomic_load_n(&words[0], __ATOMIC_ACQUIRE);
        copy->words[1] = __atomic_load_n(&words[1], __ATOMIC_RELAXED);
    }
    return (const char *)copy->words + offset;
}

void warp_far(const void *at, enum warp_access access)
{
    struct copy *copy = copy_of(at, access);
    if (access != WARP_LOAD && copy->at == (uintptr_t)at / 16 * 16) {
        copy->at = 0;
    }
}

uint64_t warp_count(unsigned call, enum warp_access access)
{
    return machine.counts[call][access];
}

static uint64_t ask(enum state question, int place, uint32_t mask, uint64_t value)
{
    struct lane *lane = machine.current;
    lane->place = place;
    lane->mask = mask;
    lane->value = value;
    leave(question);
    return lane->answer;
}

uint32_t warp_active_at(int place)
{
    return (uint32_t)ask(ACTIVE, place, 0, 0);
}

bool warp_all_equal_at(int place, uint32_t mask, uint64_t value)
{
    return ask(EQUAL, place, mask, value) != 0;
}

uint64_t warp_from_first_at(int place, uint32_t mask, uint64_t value)
{
    return ask(FIRST, place, mask, value);
}

uint32_t warp_lane(void)
{
    return machine.current->number;
}

static void run_lane(void)
{
    struct lane *lane = machine.current;
    machine.body(machine.self, lane->warp, lane->number);
    leave(ENDED);
}

/* Lanes of the warp that wait with the same question at the same place. */
static uint32_t together(const struct lane *warp, const struct lane *with)
{
    uint32_t mask = 0;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        if (warp[i].state == with->state && warp[i].place == with->place &&
            warp[i].call == with->call && warp[i].mask == with->mask) {
            mask |= 1u << i;
        }
    }
    return mask;
}

static void answer(struct lane *warp, uint32_t mask, uint64_t value)
{
    for (unsigned i = 0; i < WARP_LANES; i++) {
        if (mask >> i & 1) {
            warp[i].answer = value;
            warp[i].state = READY;
        }
    }
}

/* Answers the question of a lane where it can be; no lane of the warp is ready for it: those that
 * ask for who is active are together, or, now and then, only some of them are. */
static bool try_answer(struct lane *warp, struct lane *lane)
{
    uint32_t there = together(warp, lane);
    if (lane->state == ACTIVE) {
        if (!machine.is_kept_together && rng_below(machine.rng, 4) == 0) {
            there &= (uint32_t)rng_next(machine.rng) | 1u << lane->number;
        }
        answer(warp, there, there);
        return true;
    }
    if ((there & lane->mask) != lane->mask) {
        return false;
    }
    if (lane->state == FIRST) {
        answer(warp, lane->mask, warp[__builtin_ctz(lane->mask)].value);
        return true;
    }
    bool result = true;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        result = result && (!(lane->mask >> i & 1) || warp[i].value == lane->value);
    }
    answer(warp, lane->mask, result);
    return true;
}

/* True when a lane of the warp can go on without an answer. */
static bool has_ready(const struct lane *warp)
{
    for (unsigned i = 0; i < WARP_LANES; i++) {
        if (warp[i].state == READY) {
            return true;
        }
    }
    return false;
}

static void create_lane(unsigned index)
{
    struct lane *lane = &machine.lanes[index];
    lane->warp = index / WARP_LANES;
    lane->number = index % WARP_LANES;
    lane->stack = malloc(STACK_BYTES);
    getcontext(&lane->context);
    lane->context.uc_stack.ss_sp = lane->stack;
    lane->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&lane->context, run_lane, 0);
}

static void run_some_lane(void)
{
    struct lane *lane = &machine.lanes[rng_below(machine.rng, machine.count)];
    struct lane *warp = &machine.lanes[lane->warp * WARP_LANES];
    if (lane->state == READY) {
        machine.current = lane;
        swapcontext(&machine.scheduler, &lane->context);
        machine.left -= lane->state == ENDED;
    } else if (lane->state != ENDED && !has_ready(warp)) {
        (void)try_answer(warp, lane);
    }
}

void warp_run(struct rng *rng, unsigned warps,
              void (*lane)(void *self, unsigned warp, unsigned lane), void *self)
{
    machine.rng = rng;
    machine.body = lane;
    machine.self = self;
    machine.left = machine.count = warps * WARP_LANES;
    machine.lanes = calloc(machine.count, sizeof *machine.lanes);
    machine.caches = calloc(warps, sizeof *machine.caches);
    memset(machine.counts, 0, sizeof machine.counts);
    for (unsigned i = 0; i < machine.count; i++) {
        create_lane(i);
    }
    while (machine.left > 0) {
        run_some_lane();
    }
    for (unsigned i = 0; i < machine.count; i++) {
        free(machine.lanes[i].stack);
    }
    free(machine.lanes);
    free(machine.caches);
}
