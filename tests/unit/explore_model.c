/* The model of one run: what comes before what, what the host has joined, what conflicts, what the
 * host sees, and that hashes of calls do not depend on addresses. */
#include "explore/model.h"
#include "explore_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define D   UINT64_C(0x100000)
#define PIN UINT64_C(0x1000000)

static struct trace t;
static struct model model;

static int setup(void **state)
{
    (void)state;
    t_init(&t);
    model = (struct model){0};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    model_finish(&model);
    t_finish(&t);
    return 0;
}

static void read_model(void)
{
    struct trace_source source = trace_source(&t);
    struct ssan_error err = {0};
    if (model_read(&model, &source.source, &err)) {
        fail_msg("refused: %s", err.text);
    }
}

/* Two streams, a record and a wait between them, then a join of the second. */
static void streams_events_and_joins(void **state)
{
    (void)state;
    uint32_t a = t_non_blocking(&t), b = t_non_blocking(&t), e = t_event(&t);
    t_call(&t, 1, 0);
    t_writes(&t, a, D, 64); /* 0 */
    t_call(&t, 2, 0);
    t_record(&t, e, a); /* 1 */
    t_call(&t, 3, 0);
    t_idle(&t, b); /* 2 */
    t_call(&t, 4, 0);
    t_wait(&t, b, e); /* 3 */
    t_call(&t, 5, 0);
    t_reads(&t, b, D, 64); /* 4 */
    t_call(&t, 6, 0);
    t_writes(&t, a, D, 64); /* 5 */
    t_call(&t, 7, 0);
    t_sync(&t, SSAN_sync_kind_STREAM, b);
    t_call(&t, 8, 0);
    t_idle(&t, a); /* 6 */
    read_model();
    assert_int_equal(model.items.count, 7);
    assert_int_equal(model.items.items[4].id.stream, b);
    assert_int_equal(model.items.items[4].id.seq, 3);
    assert_true(model_before(&model, 0, 1));
    assert_true(model_before(&model, 0, 4));
    assert_false(model_before(&model, 0, 2));
    assert_false(model_before(&model, 4, 0));
    assert_false(model_before(&model, 5, 4));
    assert_false(model_before(&model, 4, 5));
    assert_true(model_before(&model, 4, 6));
    assert_false(model_before(&model, 4, 4));
    uint32_t join = model_find_call(&model, (struct plan_call){1, 7, 0});
    uint32_t after = model_find_call(&model, (struct plan_call){1, 8, 0});
    assert_int_equal(join, 6);
    assert_false(model_before_call(&model, 4, join));
    assert_true(model_before_call(&model, 4, after));
    assert_true(model_before_call(&model, 0, after));
    assert_false(model_before_call(&model, 5, after));
    assert_int_equal(model.items.items[4].call, 4);
    assert_int_equal(model.calls.items[4].items, 4);
    assert_int_equal(model.order.count, 7);
    assert_int_equal(model_find(&model, (struct plan_item){.stream = b, .seq = 3}), 4);
    assert_int_equal(model_find(&model, (struct plan_item){.stream = b, .seq = 9}), MODEL_NONE);
}

/* A wait on an event that was never recorded has a number, and no order. */
static void void_wait(void **state)
{
    (void)state;
    uint32_t a = t_non_blocking(&t), e = t_event(&t);
    t_idle(&t, a);
    t_wait(&t, a, e);
    t_idle(&t, a);
    read_model();
    assert_true(model.items.items[1].is_void);
    assert_false(model.items.items[0].is_void);
    assert_int_equal(model.items.items[2].id.seq, 3);
    assert_true(model_before(&model, 0, 2));
    assert_false(model_before(&model, 0, 1));
    assert_false(model_before(&model, 1, 2));
    assert_int_equal(model.order.count, 2);
}

static void conflicts_and_host(void **state)
{
    (void)state;
    uint32_t a = t_non_blocking(&t), b = t_non_blocking(&t);
    t_alloc(&t, SSAN_memory_DEVICE, D, 0x10000);
    t_alloc(&t, SSAN_memory_PINNED, PIN, 0x10000);
    t_copy(&t, a, SSAN_form_ASYNC, D, PIN, 256);              /* 0 */
    t_reads(&t, b, D + 255, 1);                               /* 1 */
    t_reads(&t, b, D + 256, 64);                              /* 2 */
    t_kernel(&t, a, SSAN_access_ATOMIC, D + 256, 4);          /* 3 */
    t_kernel(&t, b, SSAN_access_ATOMIC, D + 256, 4);          /* 4 */
    t_copy(&t, b, SSAN_form_ASYNC, PIN + 128, D + 0x100, 64); /* 5 */
    uint64_t f = t_op(&t, a, SSAN_op_kind_HOSTFUNC);          /* 6 */
    t_close(&t, f);
    read_model();
    assert_true(model_conflict(&model, 0, 1));
    assert_false(model_conflict(&model, 1, 2));
    assert_false(model_conflict(&model, 0, 2));
    assert_true(model_conflict(&model, 3, 4));
    assert_true(model_conflict(&model, 2, 3));
    assert_true(model_conflict(&model, 5, 0)); /* writes the source */
    assert_true(model_conflict(&model, 6, 5));
    assert_false(model_conflict(&model, 6, 2));
    assert_true(model.items.items[0].host_reads);
    assert_false(model.items.items[0].host_writes);
    assert_true(model.items.items[5].host_writes);
    assert_false(model.items.items[1].host_reads);
}

/* Strided sets that interleave share nothing. */
static void even_and_odd(void **state)
{
    (void)state;
    uint32_t a = t_non_blocking(&t), b = t_non_blocking(&t);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t op = t_op(&t, i == 0 ? a : b, SSAN_op_kind_KERNEL);
        t_set_run(&t, op, SSAN_access_WRITE, SSAN_set_sureness_EXACT, 0,
                  (struct ssan_run){D + (i == 1 ? 4 : 0), 4, 8, 1000000});
        t_close(&t, op);
    }
    read_model();
    assert_false(model_conflict(&model, 0, 1));
    assert_true(model_conflict(&model, 0, 2));
}

static void run_twice(uint64_t shift, struct model *into)
{
    struct trace other;
    struct ssan_error err = {0};
    t_init(&other);
    uint32_t a = t_non_blocking(&other);
    t_alloc(&other, SSAN_memory_DEVICE, D + shift, 4096);
    t_call(&other, 1, 0);
    t_copy(&other, a, SSAN_form_ASYNC, D + shift + 16, PIN + shift, 64);
    struct trace_source source = trace_source(&other);
    assert_int_equal(model_read(into, &source.source, &err), SSAN_OK);
    t_finish(&other);
}

static void hashes_know_no_addresses(void **state)
{
    (void)state;
    struct model other = {0};
    run_twice(0, &model);
    run_twice(0x100000, &other);
    assert_int_equal(model.steps.count, other.steps.count);
    assert_true(model.steps.count >= 3);
    for (size_t i = 0; i < model.steps.count; i++) {
        assert_int_equal(model.steps.items[i].kind, other.steps.items[i].kind);
        assert_true(model.steps.items[i].hash == other.steps.items[i].hash);
    }
    model_finish(&other);
}

/* Ids that nobody has asked for as much memory as they say. */
static void damaged_ids(void **state)
{
    (void)state;
    const struct ssan_event events[] = {
        {.kind = SSAN_EV_call, .call = {.thread = UINT32_MAX, .number = 1}},
        {.kind = SSAN_EV_callback_begin, .callback_begin = {.thread = UINT32_MAX, .op = 1}},
        {.kind = SSAN_EV_host_access,
         .host_access = {.thread = UINT32_MAX, .address = PIN, .size = 4}},
        {.kind = SSAN_EV_stream_create, .stream_create = {.stream = UINT32_MAX}},
    };
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        struct ssan_error err = {0};
        struct trace damaged;
        struct model read = {0};
        t_init(&damaged);
        t_put(&damaged, events[i]);
        struct trace_source source = trace_source(&damaged);
        assert_int_equal(model_read(&read, &source.source, &err), SSAN_FORMAT);
        assert_non_null(strstr(err.text, "damaged"));
        model_finish(&read);
        t_finish(&damaged);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(streams_events_and_joins, setup, teardown),
        cmocka_unit_test_setup_teardown(void_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(conflicts_and_host, setup, teardown),
        cmocka_unit_test_setup_teardown(even_and_odd, setup, teardown),
        cmocka_unit_test_setup_teardown(hashes_know_no_addresses, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_ids, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
