/* The engine at its limits: bounded memory, sets that are rounded for it, damaged traces, lack of
 * memory. */
#include "core_engine.h"

#include "base/mem.h"

static void test_rounding(void **state)
{
    (void)state;
    uint32_t s = t_blocking(&t), u = t_blocking(&t);
    t_alloc(&t, SSAN_memory_DEVICE, D, 64 * MIB);
    uint64_t op = t_op(&t, s, SSAN_op_kind_KERNEL);
    for (uint64_t i = 0; i < 4000; i++) { /* no stride, few a leaf */
        t_set(&t, op, WRITE, D + i * 1024 + (i * i * 7) % 700, 4);
    }
    t_close(&t, op);
    t_reads(&t, u, D + 2040, 1); /* in the same 64 bytes as the second, not the same byte */
    run(0);
    options.shadow_limit_bytes = 10000;
    const struct hazard *hazards = run(1);
    assert_int_equal(hazards[0].sureness, SURENESS_POSSIBLE);
    assert_int_equal(hazards[0].severity, SEVERITY_WARNING);
    assert_true(engine_totals(engine)->rounded_sets > 0);
    assert_true(engine_bytes(engine) < 1000000);
}

static void test_bounded_memory(void **state)
{
    (void)state;
    uint32_t s = t_blocking(&t), u = t_blocking(&t), e = t_event(&t);
    t_alloc(&t, SSAN_memory_DEVICE, D, MIB);
    uint64_t held[2] = {0};
    for (int half = 0; half < 2; half++) {
        for (int i = 0; i < 2000; i++) {
            t.sites = 0; /* a loop: the same places again */
            t_host(&t, WRITE, PIN, 64);
            t_copy(&t, s, SSAN_form_SYNC, D, PAG, 512);
            t_writes(&t, s, D + 1024 + (uint64_t)(i % 7) * 512, 512);
            t_record(&t, e, s);
            t_wait(&t, u, e);
            t_reads(&t, u, D, 8192);
            t_sync(&t, SSAN_sync_kind_DEVICE, 1);
            uint32_t n = t_non_blocking(&t); /* streams and memory come and go */
            uint32_t p = t_alloc(&t, SSAN_memory_DEVICE, 2 * MIB + (uint64_t)(i % 50) * 64, 64);
            t_writes(&t, n, 2 * MIB + (uint64_t)(i % 50) * 64, 64);
            t_sync(&t, SSAN_sync_kind_STREAM, n);
            t_stream_destroy(&t, n);
            t_free(&t, p);
        }
        run(0);
        held[half] = engine_bytes(engine);
    }
    /* ids of streams and allocations cost a table entry each; nothing else grows */
    uint64_t growth = held[1] - held[0];
    if (growth > 2000 * 400) {
        fail_msg("%llu bytes more for 2000 more rounds", (unsigned long long)growth);
    }
}

/* Host functions that acquire, round after round: what they order is kept only as long as somebody
 * needs it. */
static void test_bounded_gates(void **state)
{
    (void)state;
    uint32_t s = t_blocking(&t);
    uint64_t held[2] = {0};
    for (int half = 0; half < 2; half++) {
        for (int i = 0; i < 2000; i++) {
            t.sites = 0;
            uint64_t gate = t_op(&t, s, SSAN_op_kind_HOSTFUNC);
            t_writes(&t, s, PIN, 64);
            t_host(&t, WRITE, PIN, 64); /* before the release: the kernel waits for it */
            t_release(&t, 5);
            t_callback(&t, 2, gate, true);
            t.thread = 2;
            t_acquire(&t, 5);
            t_host(&t, READ, PIN, 64);
            t.thread = 1;
            t_callback(&t, 2, gate, false);
            t_close(&t, gate);
            t_sync(&t, SSAN_sync_kind_STREAM, s);
        }
        run(0);
        held[half] = engine_bytes(engine);
    }
    assert_true(held[1] < held[0] + 10000);
}

/* Every event once with an id that does not exist, twice the same close, sizes that wrap. */
static void test_damaged(void **state)
{
    (void)state;
    static const struct ssan_run wraps = {.address = 8, .length = UINT64_MAX, .count = 1};
    static const struct ssan_run overlaps = {
        .address = 8, .length = 8, .stride = 4, .count = 1 << 30};
    const struct ssan_event events[] = {
        {.kind = SSAN_EV_op, .op = {.op = 2, .stream = 1}},
        {.kind = SSAN_EV_op, .op = {.op = 1, .stream = 7}},
        {.kind = SSAN_EV_op, .op = {.op = 1, .stream = 1, .kind = SSAN_op_kind_WAIT, .event = 9}},
        {.kind = SSAN_EV_op, .op = {.op = 1, .stream = 1, .thread = UINT32_MAX}},
        {.kind = SSAN_EV_op_return, .op_return = {.op = 5}},
        {.kind = SSAN_EV_op_closed, .op_closed = {.op = 5}},
        {.kind = SSAN_EV_set, .set = {.op = 5}},
        {.kind = SSAN_EV_set_leaf, .set_leaf = {.op = 5, .address = 1}},
        {.kind = SSAN_EV_stream_create, .stream_create = {.stream = 5}},
        {.kind = SSAN_EV_stream_create, .stream_create = {.stream = 2, .context = UINT32_MAX}},
        {.kind = SSAN_EV_stream_destroy, .stream_destroy = {.stream = 5}},
        {.kind = SSAN_EV_event_create, .event_create = {.event = 5}},
        {.kind = SSAN_EV_event_destroy, .event_destroy = {.event = 5}},
        {.kind = SSAN_EV_alloc, .alloc = {.alloc = 5, .address = 1, .size = 1}},
        {.kind = SSAN_EV_alloc, .alloc = {.alloc = 1, .address = 9, .size = UINT64_MAX}},
        {.kind = SSAN_EV_free, .free = {.alloc = 5}},
        {.kind = SSAN_EV_sync, .sync = {.sync = 5}},
        {.kind = SSAN_EV_sync, .sync = {.sync = 1, .kind = SSAN_sync_kind_EVENT, .object = 5}},
        {.kind = SSAN_EV_sync_return, .sync_return = {.sync = 5}},
        {.kind = SSAN_EV_callback_begin, .callback_begin = {.op = 5}},
        {.kind = SSAN_EV_callback_end, .callback_end = {.op = 5}},
        {.kind = SSAN_EV_host_access, .host_access = {.address = 9, .size = UINT64_MAX}},
        {.kind = SSAN_EV_host_access, .host_access = {.thread = UINT32_MAX}},
    };
    t_blocking(&t);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        struct ssan_error err = {0};
        t_put(&t, events[i]);
        assert_null(t_run(&t, &options, &err));
        assert_int_equal(err.status, SSAN_FORMAT);
        assert_int_equal(err.position, t.events.count - 1);
        t.events.count--;
    }
    uint64_t op = t_op(&t, 1, SSAN_op_kind_KERNEL);
    for (int i = 0; i < 2; i++) {
        struct ssan_error err = {0};
        t_set_run(&t, op, READ, EXACT, 0, i ? overlaps : wraps);
        assert_null(t_run(&t, &options, &err));
        assert_int_equal(err.status, SSAN_FORMAT);
        t.events.count--;
    }
    t_close(&t, op);
    t_close(&t, op);
    struct ssan_error err = {0};
    assert_null(t_run(&t, &options, &err));
    assert_int_equal(err.status, SSAN_FORMAT);
}

/* The N-th allocation fails, for every N: a status, never a crash, and nothing leaks (the asan
 * preset looks). */
static void test_out_of_memory(void **state)
{
    (void)state;
    uint32_t s = t_blocking(&t), u = t_blocking(&t), e = t_event(&t);
    uint32_t p = t_alloc(&t, SSAN_memory_PINNED, PIN, MIB);
    t_host(&t, WRITE, PIN, 64);
    t_copy(&t, s, SSAN_form_ASYNC, D, PAG, 64);
    t_writes(&t, s, PIN, 64);
    t_record(&t, e, s);
    t_reads(&t, u, PIN + 32, 64);
    uint64_t f = t_op(&t, s, SSAN_op_kind_HOSTFUNC);
    t_release(&t, 5);
    t_callback(&t, 2, f, true);
    t.thread = 2;
    t_acquire(&t, 5);
    t_host(&t, READ, PIN, 64);
    t_callback(&t, 2, f, false);
    t.thread = 1;
    t_close(&t, f);
    pool(&t, true, PIN + 64, 64);
    pool(&t, false, PIN + 64, 64);
    t_sync_end(&t, t_sync_begin(&t, SSAN_sync_kind_DEVICE, 1), false);
    t_free(&t, p);
    t_reads(&t, u, PIN, 64);
    t_exit(&t);
    for (int strict = 0; strict < 2; strict++) {
        options.threads = strict ? THREADS_STRICT : THREADS_OBSERVED;
        for (uint64_t nth = 1;; nth++) {
            struct ssan_error err = {0};
            mem_fail_at(nth);
            struct engine *survivor = t_run(&t, &options, &err);
            mem_fail_at(0);
            if (survivor) {
                engine_destroy(survivor);
                assert_true(nth > 20);
                break;
            }
            assert_true(err.status == SSAN_NO_MEMORY || err.status == SSAN_OK);
            assert_true(nth < 10000);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rounding), TEST(bounded_memory), TEST(bounded_gates),
        TEST(damaged),  TEST(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
