/* The search through programs that query against brute force, on random small programs.
 *
 *     property_explore_polls [--seed N] [--programs N] [--program K]
 *
 * A device of a few lines follows the search's plans, as the virtual device does: lists, items that
 * are done early, items that are held, queries that find work unfinished once. Where the search
 * says that it is complete, its runs must have met each class that brute force has, and its sum of
 * orders be that of brute force. Prints the seed and counts; exit 1 on a difference. */
#include "base/hash.h"
#include "explore/search.h"
#include "polling.h"
#include "programs_options.h"
#include "support/build_trace.h"
#include "support/must.h"
#include "unit/explore_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELL_BYTES 64u
#define CELLS_AT   UINT64_C(0x100000)
#define RUNS_MAX   4000u
#define VAIN_MAX   400u /* then what a query waits for does not come */

struct device {
    const struct polling_program *program;
    const struct plan *plan;
    struct polling_world world;
    struct trace trace;
    uint32_t number, query; /* of the call that is made */
    bool given_up, ends;    /* the plan is left; nothing more is submitted */
    bool returned[512];     /* by plan->afters */
    bool asked[POLLING_STREAMS + POLLING_EVENTS + 1]; /* and found unfinished */
    unsigned vain;
};

struct totals {
    uint64_t programs, orders, classes, runs, cut, incomplete, too_large;
};

static bool is_item(const struct polling_op *op, struct plan_item id)
{
    return op->stream == id.stream && op->seq == id.seq;
}

/* The operation that is this item, or POLLING_OPS. */
static unsigned find_op(const struct device *device, struct plan_item id)
{
    unsigned i = 0;
    while (i < device->world.op_count && !is_item(&device->world.ops[i], id)) {
        i++;
    }
    return i < device->world.op_count ? i : POLLING_OPS;
}

/* The first item of the list that is not done. */
static size_t head_of(const struct device *device)
{
    size_t head = 0;
    for (; head < device->plan->items.count; head++) {
        unsigned op = find_op(device, device->plan->items.items[head]);
        bool passes = op == POLLING_OPS ? device->ends : device->world.ops[op].done;
        if (!passes) {
            break;
        }
    }
    return head;
}

static size_t place_of(const struct device *device, unsigned op)
{
    size_t i = 0;
    while (i < device->plan->items.count &&
           !is_item(&device->world.ops[op], device->plan->items.items[i])) {
        i++;
    }
    return i;
}

static bool is_held(const struct device *device, unsigned op)
{
    for (size_t i = 0; !device->ends && i < device->plan->afters.count; i++) {
        if (!device->returned[i] &&
            is_item(&device->world.ops[op], device->plan->afters.items[i].item)) {
            return true;
        }
    }
    return false;
}

static bool may_begin(const struct device *device, unsigned op)
{
    if (!polling_is_ready(&device->world, op)) {
        return false;
    }
    size_t place = place_of(device, op);
    return device->given_up || (!is_held(device, op) &&
                                (place == device->plan->items.count || place == head_of(device)));
}

static void give_up(struct device *device)
{
    struct ssan_event event = {.kind = SSAN_EV_infeasible};
    event.infeasible.text = ssan_str("left");
    device->given_up = true;
    t_put(&device->trace, event);
}

static void put_sets(struct device *device, unsigned index, enum ssan_access access, uint8_t cells)
{
    for (unsigned cell = 0; cell < POLLING_CELLS; cell++) {
        if (cells >> cell & 1) {
            t_set(&device->trace, index + 1, access, CELLS_AT + (uint64_t)CELL_BYTES * cell,
                  CELL_BYTES);
        }
    }
}

static void run_op(struct device *device, unsigned index)
{
    polling_run(&device->world, index);
    device->vain = 0;
    put_sets(device, index, SSAN_access_READ, device->world.ops[index].read);
    put_sets(device, index, SSAN_access_WRITE, device->world.ops[index].written);
    t_close(&device->trace, index + 1);
}

/* All that these need and that is not done; with what the list has in front of it. */
static uint16_t all_needed(const struct device *device, uint16_t ops, bool listed)
{
    uint16_t more = ops, before;
    do {
        before = more;
        for (unsigned i = 0; i < device->world.op_count; i++) {
            if (!(more >> i & 1)) {
                continue;
            }
            more |= device->world.ops[i].needs;
            size_t place = place_of(device, i);
            for (size_t k = 0; listed && place < device->plan->items.count && k < place; k++) {
                unsigned op = find_op(device, device->plan->items.items[k]);
                more = (uint16_t)(op < POLLING_OPS ? more | 1u << op : more);
            }
        }
    } while (more != before);
    return more;
}

static bool is_eager(const struct device *device)
{
    return strcmp(device->plan->policy, "eager") == 0;
}

/* The newest of these that may begin, or POLLING_OPS. */
static unsigned newest_of(const struct device *device, uint16_t ops)
{
    for (unsigned i = device->world.op_count; i-- > 0;) {
        if ((ops >> i & 1) && may_begin(device, i)) {
            return i;
        }
    }
    return POLLING_OPS;
}

static unsigned oldest(const struct device *device)
{
    unsigned i = 0;
    while (i < device->world.op_count && !may_begin(device, i)) {
        i++;
    }
    return i < device->world.op_count ? i : POLLING_OPS;
}

static bool all_done(const struct device *device, uint16_t ops)
{
    bool done = true;
    for (unsigned i = 0; i < device->world.op_count; i++) {
        done = done && (!(ops >> i & 1) || device->world.ops[i].done);
    }
    return done;
}

static void join(struct device *device, uint16_t ops)
{
    while (!all_done(device, ops)) {
        unsigned op = is_eager(device)
                          ? oldest(device)
                          : newest_of(device, all_needed(device, ops, !device->given_up));
        if (op < POLLING_OPS) {
            run_op(device, op);
        } else {
            MUST(!device->given_up);
            give_up(device);
        }
    }
}

/* What a query that asked before does: something of what it asks for. */
static void poll_once(struct device *device, uint16_t pending)
{
    unsigned op = newest_of(device, all_needed(device, pending, false));
    size_t head = head_of(device);
    if (op < POLLING_OPS) {
        run_op(device, op);
        return;
    }
    op = !device->given_up && head < device->plan->items.count
             ? find_op(device, device->plan->items.items[head])
             : POLLING_OPS;
    if (op < POLLING_OPS && may_begin(device, op)) {
        run_op(device, op);
    } else if (!device->given_up && ++device->vain > VAIN_MAX) {
        device->vain = 0;
        give_up(device);
    }
}

static bool ask(struct device *device, const struct polling_action *action)
{
    uint16_t pending = polling_pending(&device->world, action);
    bool *asked = &device->asked[action->event ? POLLING_STREAMS + action->event : action->stream];
    if (pending != 0 && !*asked) {
        *asked = true;
        return false;
    }
    if (pending != 0) {
        poll_once(device, pending);
        if (!all_done(device, pending)) {
            return false;
        }
    }
    *asked = false;
    enum ssan_sync_kind kind =
        action->event ? SSAN_sync_kind_EVENT_QUERY : SSAN_sync_kind_STREAM_QUERY;
    t_sync(&device->trace, kind, action->event ? action->event : action->stream);
    return true;
}

static void submit(struct device *device, const struct polling_action *action)
{
    struct trace *t = &device->trace;
    polling_take(device->program, &device->world, action, false);
    t_op(t, action->op.stream, (enum ssan_op_kind)action->op.kind);
    struct ssan_ev_op *event = &t->events.items[t->events.count - 1].op;
    event->event = action->op.event;
    event->grid_x = event->grid_y = event->grid_z = 1;
    event->width = 1u + action->op.kernel.reads + 16u * action->op.kernel.writes +
                   256u * action->op.kernel.odd;
    for (unsigned op; is_eager(device) && (op = oldest(device)) < POLLING_OPS;) {
        run_op(device, op);
    }
}

static bool is_call(const struct device *device, struct plan_call id)
{
    return id.thread == 1 && id.number == device->number && id.query == device->query;
}

/* What waits for a call that was passed by waits no more. */
static void begin_call(struct device *device)
{
    for (size_t i = 0; i < device->plan->afters.count; i++) {
        struct plan_call id = device->plan->afters.items[i].call;
        bool passed =
            id.number < device->number || (id.number == device->number && id.query < device->query);
        device->returned[i] = device->returned[i] || passed;
    }
}

static void end_call(struct device *device)
{
    const struct plan *plan = device->plan;
    for (size_t i = 0; i < plan->afters.count; i++) {
        device->returned[i] = device->returned[i] || is_call(device, plan->afters.items[i].call);
    }
    for (size_t i = 0; !device->given_up && i < plan->bys.count; i++) {
        if (is_call(device, plan->bys.items[i].call)) {
            unsigned op = find_op(device, plan->bys.items[i].item);
            if (op < POLLING_OPS) {
                join(device, (uint16_t)(1u << op));
            } else {
                give_up(device);
            }
        }
    }
}

static void begin_trace(struct trace *t)
{
    t_init(t);
    for (unsigned i = 0; i < POLLING_STREAMS; i++) {
        t_non_blocking(t);
    }
    for (unsigned i = 0; i < POLLING_EVENTS; i++) {
        t_event(t);
    }
    t_alloc(t, SSAN_memory_DEVICE, CELLS_AT, (uint64_t)CELL_BYTES * POLLING_CELLS);
}

static void wait_for(struct device *device, const struct polling_action *action)
{
    enum ssan_sync_kind kind = action->event    ? SSAN_sync_kind_EVENT
                               : action->stream ? SSAN_sync_kind_STREAM
                                                : SSAN_sync_kind_DEVICE;
    uint32_t object = action->event ? action->event : action->stream ? action->stream : 1;
    uint64_t sync = t_sync_begin(&device->trace, kind, object);
    device->ends = device->world.at >= device->program->count;
    join(device, polling_pending(&device->world, action));
    t_sync_end(&device->trace, sync, true);
    polling_take(device->program, &device->world, action, true);
}

static void run_program(struct device *device)
{
    begin_trace(&device->trace);
    MUST(device->plan->afters.count <= sizeof device->returned);
    for (;;) {
        struct polling_action action = polling_next(device->program, &device->world);
        if (action.step == POLLING_ENDS) {
            return;
        }
        bool asks = action.step == POLLING_ASKS;
        device->query = asks ? device->query + 1 : 0;
        device->number += !asks;
        t_call(&device->trace, device->number, device->query);
        begin_call(device);
        if (action.step == POLLING_SUBMITS) {
            submit(device, &action);
        } else if (asks) {
            bool answer = ask(device, &action);
            polling_take(device->program, &device->world, &action, answer);
        } else {
            wait_for(device, &action);
        }
        end_call(device);
    }
}

static uint64_t result_of(const struct polling_world *world)
{
    uint64_t hash = 7;
    for (unsigned i = 0; i < POLLING_CELLS; i++) {
        hash = hash_mix(hash, world->cells[i]);
    }
    return hash;
}

/* Classes that runs have met, and how the search ended. */
struct found {
    struct map classes, orders;
    struct search_sums sums;
    uint64_t runs;
    bool complete, cut;
};

static void tell_pins(const char *words, const struct plan_by *pins, size_t count)
{
    printf("%s", words);
    for (size_t i = 0; i < count; i++) {
        printf(" t1.%uq%u:s%u.%u", pins[i].call.number, pins[i].call.query, pins[i].item.stream,
               pins[i].item.seq);
    }
}

static void tell_run(const struct device *device, const struct probe *probe,
                     const struct model *model, uint64_t number)
{
    printf("  run %llu kind %d of %d%s class %llx:", (unsigned long long)number, (int)probe->kind,
           (int)probe->of, device->given_up ? " (left)" : "",
           (unsigned long long)polling_class_hash(&device->world) & 0xffff);
    for (unsigned i = 0; i < device->world.done_count; i++) {
        const struct polling_op *op = &device->world.ops[device->world.order[i]];
        printf(" s%u.%u", op->stream, op->seq);
    }
    printf("; answers");
    for (size_t i = 0; i < model->calls.count; i++) {
        const struct model_call *call = &model->calls.items[i];
        if (call->id.query) {
            printf(" %u.%u:%s", call->id.number, call->id.query, call->answered ? "yes" : "no");
        }
    }
    tell_pins("; early", probe->plan.bys.items, probe->plan.bys.count);
    tell_pins("; held", probe->plan.afters.items, probe->plan.afters.count);
    printf("\n");
}

static void explore(const struct polling_program *program, struct found *found, bool tell)
{
    const struct search_limits limits = {
        .count = {.down_sets = 100000, .bytes = 1 << 26, .probes = 10, .seed = 1},
        .seed = 1,
        .one_early = 0,
        .queries = RUNS_MAX,
        .sample = 10};
    struct search search;
    struct probe probe;
    enum search_next next;
    search_init(&search, &limits);
    while ((next = search_next(&search, &probe)) == SEARCH_RUN && found->runs < RUNS_MAX) {
        struct device device = {.program = program, .plan = &probe.plan};
        struct model model = {0};
        run_program(&device);
        struct trace_source source = trace_source(&device.trace);
        struct ssan_error err = {0};
        const struct probe_result result = {
            .outcome = {.out_hash = result_of(&device.world), .out_bytes = 1},
            .infeasible = device.given_up};
        MUST(model_read(&model, &source.source, &err) == SSAN_OK);
        if (tell) {
            tell_run(&device, &probe, &model, found->runs);
        }
        MUST(map_set(&found->classes, polling_class_hash(&device.world), 1));
        MUST(map_set(&found->orders, polling_order_hash(&device.world), 1));
        found->runs++;
        MUST(search_take(&search, &probe, &model, &result));
        model_finish(&model);
        t_finish(&device.trace);
    }
    if (next == SEARCH_RUN) {
        probe_finish(&probe);
    }
    MUST(search.determinism.found == NULL);
    found->cut = next != SEARCH_DONE;
    if (tell) {
        printf("  unreached %llu, queries left out %llu, polls cut %llu\n",
               (unsigned long long)search.unreached, (unsigned long long)search.queries_left_out,
               (unsigned long long)search.polls_cut);
    }
    found->complete = !found->cut && search_left(&search) == 0 && search.unreached == 0 &&
                      search.queries_left_out == 0 && search.polls_cut == 0;
    found->sums = search_sum(&search);
    search_finish(&search);
}

/* How many of the first are not in the second. */
static uint64_t missing(const struct map *all, const struct map *from)
{
    size_t cursor = 0;
    uint64_t key, value, count = 0;
    while (map_next(all, &cursor, &key, &value)) {
        count += map_find(from, key) == NULL;
    }
    return count;
}

static bool compare(const struct polling_program *program, uint64_t index,
                    const struct polling_all *all, const struct found *found)
{
    uint64_t missed = missing(&all->classes, &found->classes);
    uint64_t foreign = missing(&found->orders, &all->orders);
    long double orders = (long double)all->orders.count;
    bool same_sums = found->sums.classes == all->classes.count && found->sums.orders >= orders &&
                     found->sums.total >= orders;
    if (foreign == 0 && (!found->complete || (missed == 0 && same_sums))) {
        return true;
    }
    printf("program %llu:\n", (unsigned long long)index);
    polling_print(program);
    printf("%llu runs in %llu classes with %.0Lf of %.0Lf orders; brute force has %zu with %zu "
           "orders; %llu not met; %llu runs that there can't be\n",
           (unsigned long long)found->runs, (unsigned long long)found->sums.classes,
           found->sums.orders, found->sums.total, all->classes.count, all->orders.count,
           (unsigned long long)missed, (unsigned long long)foreign);
    return false;
}

static bool run_one(uint64_t seed, uint64_t index, bool tell, struct totals *totals)
{
    struct rng rng = {hash_mix(seed, index)};
    struct polling_program program;
    struct polling_all all;
    struct found found = {0};
    bool fine = true;
    polling_make(&program, &rng);
    polling_brute_force(&program, &all);
    if (!all.cut) {
        explore(&program, &found, tell);
        fine = compare(&program, index, &all, &found);
    }
    totals->programs++;
    totals->too_large += all.cut;
    totals->orders += all.orders.count;
    totals->classes += all.classes.count;
    totals->runs += found.runs;
    totals->cut += found.cut;
    totals->incomplete += !all.cut && !found.cut && !found.complete;
    polling_all_finish(&all);
    map_finish(&found.classes);
    map_finish(&found.orders);
    return fine;
}

int main(int argc, char **argv)
{
    struct programs_options options = {.seed = 20261130, .programs = 2000};
    if (!programs_options_read(&options, argc, argv)) {
        return 64;
    }
    struct totals totals = {0};
    uint64_t wrong = 0;
    for (uint64_t i = options.first; wrong < 10 && i < options.first + options.programs; i++) {
        wrong += !run_one(options.seed, i, options.is_one, &totals);
    }
    printf("%llu programs, %llu orders in %llu classes, %llu runs; %llu searches incomplete and "
           "%llu cut, %llu programs too large: %s\n",
           (unsigned long long)totals.programs, (unsigned long long)totals.orders,
           (unsigned long long)totals.classes, (unsigned long long)totals.runs,
           (unsigned long long)totals.incomplete, (unsigned long long)totals.cut,
           (unsigned long long)totals.too_large,
           wrong == 0 ? "search and brute force agree" : "search and brute force differ");
    return wrong == 0 && totals.programs > 0 ? 0 : 1;
}
