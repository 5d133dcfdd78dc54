/* The search on a device of a few lines: the documents' program without and with its wait, limits
 * of what is tried, programs that are not deterministic, and the N-th allocation failing. */
#include "base/mem.h"
#include "explore/search.h"
#include "explore_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#define D   UINT64_C(0x100000)
#define IN  UINT64_C(0x1000000)
#define OUT UINT64_C(0x1100000)

enum what { COPY_IN, SCALE, RECORD, WAIT, ADD, COPY_OUT, WHAT_COUNT };

struct device {
    bool with_wait, asks; /* asks: queries a stream before it waits for it */
    uint64_t salt;        /* makes runs differ in a call */
    struct trace trace;
    uint64_t ops[WHAT_COUNT]; /* 0: not submitted */
    bool done[WHAT_COUNT];
    int value, out;
    const struct plan *plan;
};

static const struct plan_item ids[2][WHAT_COUNT] = {
    {{1, 1, false}, {1, 2, false}, {1, 3, false}, {0, 0, false}, {2, 1, false}, {2, 2, false}},
    {{1, 1, false}, {1, 2, false}, {1, 3, false}, {2, 1, false}, {2, 2, false}, {2, 3, false}},
};

static void run_item(struct device *device, enum what what)
{
    if (device->ops[what] == 0 || device->done[what]) {
        return;
    }
    device->done[what] = true;
    switch (what) {
    case COPY_IN:
        device->value = 1;
        break;
    case SCALE:
        device->value *= 2;
        break;
    case ADD:
        device->value += 1;
        break;
    case COPY_OUT:
        device->out = device->value;
        break;
    default:
        break;
    }
    t_close(&device->trace, device->ops[what]);
}

/* Runs what stands in the list up to an item; without a list what must come before it, newest
 * first. */
static void run_up_to(struct device *device, struct plan_item item)
{
    const struct plan *plan = device->plan;
    for (size_t i = 0; i < plan->items.count; i++) {
        for (int what = 0; what < WHAT_COUNT; what++) {
            if (memcmp(&ids[device->with_wait][what], &plan->items.items[i], sizeof item) == 0) {
                run_item(device, (enum what)what);
            }
        }
        if (memcmp(&plan->items.items[i], &item, sizeof item) == 0) {
            return;
        }
    }
    for (int what = item.stream == 1 || device->with_wait ? COPY_IN : WAIT; what < WHAT_COUNT;
         what++) {
        run_item(device, (enum what)what);
    }
}

static void submit(struct device *device, enum what what, uint32_t number, uint64_t op)
{
    device->ops[what] = op;
    if (strcmp(device->plan->policy, "eager") == 0) {
        run_item(device, what);
    }
    for (size_t i = 0; i < device->plan->bys.count; i++) {
        if (device->plan->bys.items[i].call.number == number) {
            run_up_to(device, device->plan->bys.items[i].item);
        }
    }
}

static uint64_t put_op(struct device *device, uint32_t stream, enum ssan_op_kind kind,
                       uint64_t read, uint64_t write)
{
    uint64_t op = t_op(&device->trace, stream, kind);
    struct ssan_ev_op *event = &device->trace.events.items[device->trace.events.count - 1].op;
    event->width = 64 + device->salt;
    event->grid_x = 2;
    event->grid_y = event->grid_z = 1;
    if (read) {
        t_set(&device->trace, op, SSAN_access_READ, read, 64);
    }
    if (write) {
        t_set(&device->trace, op, SSAN_access_WRITE, write, 64);
    }
    return op;
}

static uint64_t put_event(struct device *device, uint32_t stream, enum ssan_op_kind kind)
{
    uint64_t op = t_op(&device->trace, stream, kind);
    device->trace.events.items[device->trace.events.count - 1].op.event = 1;
    return op;
}

/* The program, from its first call to its end. */
static void run_program(struct device *device)
{
    struct trace *t = &device->trace;
    uint32_t number = 0;
    t_init(t);
    uint32_t producer = t_non_blocking(t), consumer = t_non_blocking(t);
    t_event(t);
    t_alloc(t, SSAN_memory_DEVICE, D, 64);
    t_alloc(t, SSAN_memory_PINNED, IN, 64);
    t_alloc(t, SSAN_memory_PINNED, OUT, 64);
    device->value = -100;
    t_call(t, ++number, 0);
    submit(device, COPY_IN, number, put_op(device, producer, SSAN_op_kind_COPY, IN, D));
    t_call(t, ++number, 0);
    submit(device, SCALE, number, put_op(device, producer, SSAN_op_kind_KERNEL, D, D));
    t_call(t, ++number, 0);
    submit(device, RECORD, number, put_event(device, producer, SSAN_op_kind_RECORD));
    if (device->with_wait) {
        t_call(t, ++number, 0);
        submit(device, WAIT, number, put_event(device, consumer, SSAN_op_kind_WAIT));
    }
    t_call(t, ++number, 0);
    submit(device, ADD, number, put_op(device, consumer, SSAN_op_kind_KERNEL, D, D));
    t_call(t, ++number, 0);
    submit(device, COPY_OUT, number, put_op(device, consumer, SSAN_op_kind_COPY, D, OUT));
    if (device->asks) {
        t_call(t, number, 1);
    }
    t_call(t, ++number, 0);
    uint64_t sync = t_sync_begin(t, SSAN_sync_kind_STREAM, consumer);
    run_up_to(device, ids[device->with_wait][COPY_OUT]);
    t_sync_end(t, sync, true);
    t_call(t, ++number, 0);
    for (int what = 0; what < WHAT_COUNT; what++) {
        run_item(device, (enum what)what);
    }
}

/* The allocation that is to fail, counted from the last mem_fail_at; 0: none. */
static uint64_t fail_nth;

/* Programs that query, from now on. */
static bool asks;

/* Explores up to `most` runs. False when out of memory. */
static bool explore(struct search *search, const struct search_limits *limits, bool with_wait,
                    bool salted, uint64_t most)
{
    search_init(search, limits);
    for (uint64_t count = 0; count < most; count++) {
        struct probe probe;
        struct model model = {0};
        struct ssan_error err = {0};
        enum search_next next = search_next(search, &probe);
        if (next != SEARCH_RUN) {
            return next == SEARCH_DONE;
        }
        struct device device = {
            .with_wait = with_wait, .asks = asks, .salt = salted ? count : 0, .plan = &probe.plan};
        uint64_t used = mem_count(); /* the device is no part of what may fail */
        mem_fail_at(0);
        run_program(&device);
        mem_fail_at(fail_nth > used ? fail_nth - used : 0);
        fail_nth = fail_nth > used ? fail_nth - used : 0;
        struct trace_source source = trace_source(&device.trace);
        const struct probe_result result = {
            .outcome = {.out_hash = (uint64_t)device.out, .out_bytes = 1}};
        enum ssan_status status = model_read(&model, &source.source, &err);
        bool fine = true;
        if (status) {
            search_skip(search, &probe);
        } else {
            fine = search_take(search, &probe, &model, &result);
        }
        model_finish(&model);
        t_finish(&device.trace);
        if (status || !fine) {
            return false;
        }
    }
    return true;
}

static const struct search_limits limits = {
    .count = {.down_sets = 10000, .bytes = 1 << 24, .probes = 10, .seed = 1},
    .seed = 1,
    .torn = 4,
    .one_early = 10,
    .queries = 100,
    .sample = 12};

static void without_wait(void **state)
{
    (void)state;
    struct search search;
    assert_true(explore(&search, &limits, false, false, 1000));
    struct search_sums sums = search_sum(&search);
    assert_int_equal(sums.classes, 6);
    assert_true(sums.total == 10 && sums.orders == 10 && sums.wrong == 7);
    assert_false(sums.total_estimated);
    assert_int_equal(search_left(&search), 0);
    assert_int_equal(search.unreached, 0);
    assert_int_equal(search_left_extra(&search), 0);
    assert_int_equal(search.by_kind[PROBE_TORN], 4);
    assert_null(search.determinism.found);
    search_finish(&search);
}

static void with_wait(void **state)
{
    (void)state;
    struct search search;
    assert_true(explore(&search, &limits, true, false, 1000));
    struct search_sums sums = search_sum(&search);
    assert_true(sums.total == 1 && sums.orders == 1 && sums.wrong == 0);
    assert_int_equal(sums.classes, 1);
    assert_int_equal(search_left(&search), 0);
    assert_int_equal(search.by_kind[PROBE_TORN], 0); /* no kernels race */
    search_finish(&search);
}

static void queries(void **state)
{
    (void)state;
    struct search search;
    struct search_limits few = limits;
    few.queries = 1;
    asks = true;
    assert_true(explore(&search, &limits, false, false, 1000));
    assert_true(search.by_kind[PROBE_QUERY] > 1);
    assert_int_equal(search.queries_left_out, 0);
    search_finish(&search);
    assert_true(explore(&search, &few, false, false, 1000));
    assert_true(search.queries_left_out > 0);
    search_finish(&search);
    asks = false;
}

static void stopped_early(void **state)
{
    (void)state;
    struct search search;
    assert_true(explore(&search, &limits, false, false, 5));
    struct search_sums sums = search_sum(&search);
    assert_true(sums.total == 10 && sums.orders < 10);
    assert_true(search_left(&search) > 0);
    assert_int_equal(search_left_extra(&search), limits.torn); /* early ones are not known yet */
    search_finish(&search);
}

static void not_deterministic(void **state)
{
    (void)state;
    struct search search;
    assert_true(explore(&search, &limits, false, true, 1000));
    assert_non_null(search.determinism.found);
    assert_non_null(strstr(search.determinism.expected, "[bytes or blocks: 65]"));
    assert_non_null(strstr(search.determinism.found, "[bytes or blocks: 66]"));
    assert_int_equal(search.taken, limits.sample);
    search_finish(&search);
}

/* Every allocation fails once, and everything behind it: no crash, no leak (of the sanitizer's
 * build). */
static void no_memory(void **state)
{
    (void)state;
    const struct search_limits few = {
        .count = {.down_sets = 1000, .bytes = 1 << 24}, .seed = 1, .sample = 9};
    for (uint64_t nth = 1; nth < 100000; nth += 1 + nth / 40) {
        struct search search;
        fail_nth = nth;
        mem_fail_at(nth);
        bool fine = explore(&search, &few, false, false, 1000);
        bool reached = fail_nth == 0 || mem_count() >= fail_nth;
        mem_fail_at(fail_nth = 0);
        assert_true(fine || reached);
        search_finish(&search);
        if (fine) {
            return;
        }
    }
    fail_msg("it takes more allocations than were tried");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_wait),      cmocka_unit_test(with_wait),
        cmocka_unit_test(queries),           cmocka_unit_test(stopped_early),
        cmocka_unit_test(not_deterministic), cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
