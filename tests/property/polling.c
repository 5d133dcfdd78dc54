/* Programs that query; see polling.h. A world has no pointers and no padding that is not zero, so
 * it is hashed as bytes. */
#include "polling.h"

#include "base/hash.h"
#include "support/must.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define WORLDS_MAX 300000u

static_assert(sizeof(struct polling_op) == 14 &&
                  sizeof(struct polling_world) ==
                      6 + 15 * POLLING_OPS + POLLING_EVENTS + 2 + 2 * POLLING_CELLS,
              "padding would be hashed");

enum phase { PHASE_ACT, PHASE_LAUNCH, PHASE_BEHIND };

static struct polling_kernel make_kernel(struct rng *rng)
{
    struct polling_kernel kernel = {.stream = (uint8_t)(1 + rng_below(rng, POLLING_STREAMS))};
    kernel.writes = (uint8_t)(1u << rng_below(rng, POLLING_CELLS));
    kernel.reads = rng_below(rng, 2) ? (uint8_t)(1u << rng_below(rng, POLLING_CELLS)) : 0;
    kernel.odd = rng_below(rng, 4) ? kernel.writes : (uint8_t)(1u << rng_below(rng, POLLING_CELLS));
    return kernel;
}

static struct polling_statement make_poll(struct rng *rng)
{
    struct polling_statement made = {.act = POLLING_POLL};
    made.times = (uint8_t)rng_below(rng, 4);
    made.launches = made.times > 0 && rng_below(rng, 2);
    made.yes = rng_below(rng, 3) == 0;
    made.no = rng_below(rng, 3) == 0;
    if (rng_below(rng, 6) == 0) {
        made.times = POLLING_SPINS;
        made.launches = false;
    }
    return made;
}

void polling_make(struct polling_program *program, struct rng *rng)
{
    bool recorded[POLLING_EVENTS + 1] = {false};
    *program = (struct polling_program){.count = 2 + (unsigned)rng_below(rng, 6)};
    unsigned polls = 0;
    for (unsigned i = 0; i < program->count; i++) {
        struct polling_statement *made = &program->statements[i];
        uint8_t event = (uint8_t)(1 + rng_below(rng, POLLING_EVENTS));
        uint64_t dice = rng_below(rng, 10);
        if (dice >= 8 && polls < 2 && i > 0) {
            *made = make_poll(rng);
            polls++;
        } else {
            made->act = dice < 5 ? POLLING_LAUNCH : dice < 6 ? POLLING_RECORD : POLLING_WAIT;
            made->act = dice == 7 && rng_below(rng, 3) == 0 ? POLLING_JOIN : made->act;
        }
        made->stream = (uint8_t)(1 + rng_below(rng, POLLING_STREAMS));
        made->event = event;
        if (made->act != POLLING_RECORD && made->act != POLLING_LAUNCH && !recorded[event]) {
            made->event = 0;
            made->act = made->act == POLLING_WAIT ? POLLING_LAUNCH : made->act;
        }
        recorded[event] = recorded[event] || made->act == POLLING_RECORD;
        made->kernel = make_kernel(rng);
        made->then = make_kernel(rng);
        made->els = make_kernel(rng);
    }
}

static void print_kernel(const char *words, const struct polling_kernel *kernel)
{
    printf("%s launch s%u reads %x writes %x", words, kernel->stream, kernel->reads,
           kernel->writes);
    if (kernel->odd != kernel->writes) {
        printf(" (odd: %x)", kernel->odd);
    }
    printf("\n");
}

void polling_print(const struct polling_program *program)
{
    for (unsigned i = 0; i < program->count; i++) {
        const struct polling_statement *each = &program->statements[i];
        switch (each->act) {
        case POLLING_LAUNCH:
            print_kernel(" ", &each->kernel);
            break;
        case POLLING_RECORD:
        case POLLING_WAIT:
            printf("  %s e%u s%u\n", each->act == POLLING_RECORD ? "record" : "wait", each->event,
                   each->stream);
            break;
        default:
            printf("  %s %c%u", each->act == POLLING_JOIN ? "join" : "poll",
                   each->event ? 'e' : 's', each->event ? each->event : each->stream);
            printf(each->act == POLLING_POLL ? " times %u\n" : "\n", each->times);
            if (each->launches) {
                print_kernel("    each:", &each->kernel);
            }
            if (each->yes) {
                print_kernel("    yes:", &each->then);
            }
            if (each->no) {
                print_kernel("    no:", &each->els);
            }
        }
    }
}

static struct polling_op kernel_op(const struct polling_kernel *kernel)
{
    return (struct polling_op){
        .stream = kernel->stream, .kind = SSAN_op_kind_KERNEL, .kernel = *kernel};
}

struct polling_action polling_next(const struct polling_program *program,
                                   const struct polling_world *world)
{
    struct polling_action action = {.step = POLLING_JOINS};
    if (world->at >= program->count) { /* joins all, then ends */
        action.step = world->at > program->count ? POLLING_ENDS : POLLING_JOINS;
        return action;
    }
    const struct polling_statement *now = &program->statements[world->at];
    action.stream = now->stream;
    action.event = now->event;
    if (world->phase != PHASE_ACT || now->act == POLLING_LAUNCH) {
        const struct polling_kernel *kernel = world->phase != PHASE_BEHIND ? &now->kernel
                                              : world->answer              ? &now->then
                                                                           : &now->els;
        action.step = POLLING_SUBMITS;
        action.op = kernel_op(kernel);
    } else if (now->act == POLLING_RECORD || now->act == POLLING_WAIT) {
        bool records = now->act == POLLING_RECORD;
        action.step = POLLING_SUBMITS;
        action.op = (struct polling_op){.stream = now->stream,
                                        .event = now->event,
                                        .kind = records ? SSAN_op_kind_RECORD : SSAN_op_kind_WAIT};
    } else if (now->act == POLLING_POLL) {
        action.step = POLLING_ASKS;
    }
    return action;
}

/* The latest operation of a stream, as a mask. */
static uint16_t last_of(const struct polling_world *world, uint8_t stream)
{
    for (unsigned i = world->op_count; i-- > 0;) {
        if (world->ops[i].stream == stream) {
            return (uint16_t)(1u << i);
        }
    }
    return 0;
}

static uint16_t record_of(const struct polling_world *world, uint8_t event)
{
    return world->recorded[event] ? (uint16_t)(1u << (world->recorded[event] - 1)) : 0;
}

static uint16_t not_done(const struct polling_world *world, uint16_t ops)
{
    for (unsigned i = 0; i < world->op_count; i++) {
        ops = (uint16_t)(world->ops[i].done ? ops & ~(1u << i) : ops);
    }
    return ops;
}

uint16_t polling_pending(const struct polling_world *world, const struct polling_action *action)
{
    uint16_t ops = 0;
    if (action->event) {
        ops = record_of(world, action->event);
    } else {
        for (uint8_t stream = 1; stream <= POLLING_STREAMS; stream++) {
            bool asked = action->stream == 0 || action->stream == stream;
            ops = asked ? ops | last_of(world, stream) : ops;
        }
    }
    return not_done(world, ops);
}

static unsigned submit(struct polling_world *world, const struct polling_op *what)
{
    unsigned index = world->op_count;
    struct polling_op op = *what;
    MUST(index < POLLING_OPS);
    for (unsigned i = 0; i < index; i++) {
        op.seq = world->ops[i].stream == op.stream ? world->ops[i].seq : op.seq;
    }
    op.seq++;
    op.needs = last_of(world, op.stream);
    if (op.kind == SSAN_op_kind_WAIT) {
        op.needs |= record_of(world, op.event);
    }
    if (op.kind == SSAN_op_kind_RECORD) {
        world->recorded[op.event] = (uint8_t)(index + 1);
    }
    world->ops[index] = op;
    world->op_count++;
    return index;
}

static void go_on(struct polling_world *world)
{
    world->at++;
    world->phase = PHASE_ACT;
    world->vain = world->answer = 0;
}

/* Behind a poll that was answered. */
static void leave(struct polling_world *world, const struct polling_statement *poll, bool answer)
{
    world->answer = answer;
    world->phase = PHASE_BEHIND;
    world->vain = 0;
    if (!(answer ? poll->yes : poll->no)) {
        go_on(world);
    }
}

unsigned polling_take(const struct polling_program *program, struct polling_world *world,
                      const struct polling_action *action, bool answer)
{
    const struct polling_statement *now = &program->statements[world->at];
    unsigned op = action->step == POLLING_SUBMITS ? submit(world, &action->op) : 0;
    if (action->step == POLLING_ASKS && !answer && now->times == POLLING_SPINS) {
        return op; /* in the same place */
    }
    if (action->step == POLLING_ASKS && (answer || world->vain == now->times)) {
        leave(world, now, answer);
    } else if (action->step == POLLING_ASKS) {
        world->vain++;
        world->phase = now->launches ? PHASE_LAUNCH : PHASE_ACT;
    } else if (world->phase == PHASE_LAUNCH) {
        world->phase = PHASE_ACT;
    } else {
        go_on(world);
    }
    return op;
}

bool polling_is_ready(const struct polling_world *world, unsigned op)
{
    return !world->ops[op].done && not_done(world, world->ops[op].needs) == 0;
}

void polling_run(struct polling_world *world, unsigned index)
{
    struct polling_op *op = &world->ops[index];
    unsigned sum = index + 1;
    for (unsigned cell = 0; cell < POLLING_CELLS; cell++) {
        if (op->kernel.reads >> cell & 1) {
            sum = sum * 5 + world->cells[cell];
        }
    }
    op->read = op->kernel.reads;
    op->written = sum % 2 ? op->kernel.odd : op->kernel.writes;
    for (unsigned cell = 0; cell < POLLING_CELLS; cell++) {
        if (op->written >> cell & 1) {
            world->cells[cell] = (uint16_t)(sum + 3u * op->stream + op->seq);
        }
    }
    op->done = true;
    world->order[world->done_count++] = (uint8_t)index;
}

/* What an item is: its name, what was asked for, what it touched. */
static uint64_t mark_of(const struct polling_op *op)
{
    uint64_t words[] = {op->stream,        op->seq,        op->kind, op->event,
                        op->kernel.stream, op->kernel.odd, op->read, op->kernel.writes,
                        op->kernel.reads,  op->written};
    uint64_t mark = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        mark = hash_mix(mark, words[i]);
    }
    return mark;
}

uint64_t polling_order_hash(const struct polling_world *world)
{
    uint64_t hash = world->done_count;
    for (unsigned i = 0; i < world->done_count; i++) {
        hash = hash_mix(hash, mark_of(&world->ops[world->order[i]]));
    }
    return hash;
}

uint64_t polling_class_hash(const struct polling_world *world)
{
    uint64_t hash = world->done_count;
    for (unsigned y = 0; y < world->done_count; y++) {
        const struct polling_op *b = &world->ops[world->order[y]];
        hash += mark_of(b);
        for (unsigned x = 0; x < y; x++) {
            const struct polling_op *a = &world->ops[world->order[x]];
            if ((a->written & (b->written | b->read)) || (a->read & b->written)) {
                hash += hash_mix(mark_of(a), mark_of(b));
            }
        }
    }
    return hash;
}

static uint64_t world_hash(const struct polling_world *world)
{
    const unsigned char *bytes = (const unsigned char *)world;
    uint64_t hash = 1;
    for (size_t i = 0; i < sizeof *world; i++) {
        hash = hash_mix(hash, bytes[i]);
    }
    return hash;
}

static void visit(const struct polling_program *program, const struct polling_world *world,
                  struct polling_all *all)
{
    uint64_t hash = world_hash(world);
    if (all->cut || map_find(&all->worlds, hash)) {
        return;
    }
    MUST(map_set(&all->worlds, hash, 1));
    all->cut = all->worlds.count > WORLDS_MAX;
    struct polling_action action = polling_next(program, world);
    struct polling_world next;
    if (action.step == POLLING_ENDS) {
        uint64_t class = polling_class_hash(world);
        MUST(map_set(&all->orders, polling_order_hash(world), class));
        MUST(map_set(&all->classes, class, 1));
        return;
    }
    uint16_t pending = polling_pending(world, &action);
    if (action.step != POLLING_JOINS || pending == 0) {
        memcpy(&next, world, sizeof next);
        polling_take(program, &next, &action, pending == 0);
        visit(program, &next, all);
    }
    for (unsigned i = 0; i < world->op_count; i++) {
        if (polling_is_ready(world, i)) {
            memcpy(&next, world, sizeof next);
            polling_run(&next, i);
            visit(program, &next, all);
        }
    }
}

void polling_brute_force(const struct polling_program *program, struct polling_all *all)
{
    struct polling_world world;
    memset(&world, 0, sizeof world);
    *all = (struct polling_all){0};
    visit(program, &world, all);
}

void polling_all_finish(struct polling_all *all)
{
    map_finish(&all->worlds);
    map_finish(&all->orders);
    map_finish(&all->classes);
}
