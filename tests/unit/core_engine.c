/* The engine beyond the single rules: lifetimes, sureness, folding of repeats, edits, late closes,
 * damaged traces, lack of memory, bounded memory. Each test builds a small trace (build_trace.h)
 * and looks at the hazards. */
#include "base/mem.h"
#include "support/build_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#define D     UINT64_C(0x100000)
#define PIN   UINT64_C(0x1000000)
#define PAG   UINT64_C(0x7000000)
#define MIB   UINT64_C(0x100000)
#define READ  SSAN_access_READ
#define WRITE SSAN_access_WRITE
#define MAY   SSAN_set_sureness_MAY
#define EXACT SSAN_set_sureness_EXACT

static struct trace t;
static struct engine *engine;
static struct engine_options options;

static int setup(void **state)
{
    (void)state;
    t_init(&t);
    options = (struct engine_options){0};
    engine = NULL;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    engine_destroy(engine);
    t_finish(&t);
    return 0;
}

/* Runs the trace; there must be `count` hazards. */
static const struct hazard *run(size_t expected)
{
    struct ssan_error err = {0};
    engine_destroy(engine);
    engine = t_run(&t, &options, &err);
    if (!engine) {
        fail_msg("refused: %s", err.text);
    }
    size_t count = 0;
    const struct hazard *hazards = engine_hazards(engine, &count);
    if (count != expected) {
        fail_msg("%zu hazards, not %zu; first: %s", count, expected,
                 count > 0 ? check_info(hazards[0].check)->id : "-");
    }
    return hazards;
}

static void check_bytes(const struct hazard *hazard, uint64_t begin, uint64_t end)
{
    assert_int_equal(hazard->bytes.count, 1);
    assert_int_equal(hazard->bytes.items[0].begin, begin);
    assert_int_equal(hazard->bytes.items[0].end, end);
}

static void test_one_element(void **state)
{
    (void)state;
    uint32_t s = t_blocking(&t), u = t_blocking(&t);
    t_alloc(&t, SSAN_memory_DEVICE, D, MIB);
    t_writes(&t, s, D, 400);
    t_reads(&t, u, D + 396, 400);
    const struct hazard *hazard = run(1);
    assert_int_equal(hazard->check, CHECK_RAW);
    assert_int_equal(hazard->severity, SEVERITY_ERROR);
    assert_int_equal(hazard->sureness, SURENESS_EXACT);
    assert_int_equal(hazard->alloc, 1);
    assert_int_equal(hazard->base, D);
    assert_int_equal(hazard->first.op, 1);
    assert_int_equal(hazard->then.op, 2);
    check_bytes(hazard, 396, 400);
}

static void test_even_and_odd(void **state)
{
    (void)state;
    uint32_t s = t_blocking(&t), u = t_blocking(&t);
    t_alloc(&t, SSAN_memory_DEVICE, D, MIB);
    for (int odd = 0; odd < 2; odd++) {
        uint64_t op = t_op(&t, odd ? u : s, SSAN_op_kind_KERNEL);
        t_set_run(&t, op, WRITE, EXACT, 7,
                  (struct ssan_run){
                      .address = D + 4 * (uint64_t)odd, .length = 4, .stride = 8, .count = 1000});
        t_close(&t, op);
    }
    run(0);
}

/* Two kernels on streams of their own write every second unit of memory, in turn. `bits`: `count`
 * words for each of them. */
static void write_leaves(uint64_t *bits, uint32_t count, uint32_t unit_log2)
{
    uint32_t s = t_blocking(&t), u = t_blocking(&t);
    t_alloc(&t, SSAN_memory_DEVICE, D, MIB);
    for (uint32_t i = 0; i < 2; i++) {
        memset(bits + i * count, i ? 0xaa : 0x55, count * sizeof *bits);
        uint64_t op = t_op(&t, i ? u : s, SSAN_op_kind_KERNEL);
        t_put(&t,
              (struct ssan_event){.kind = SSAN_EV_set_leaf,
                                  .set_leaf = {.op = op,
                                               .access = WRITE,
                                               .address = D,
                                               .unit_log2 = unit_log2,
                                               .bits = {.ptr = bits + i * count, .count = count}}});
        t_close(&t, op);
    }
}

/* Bitmaps of single bytes, neighbours on two streams. */
static void test_neighbouring_bytes(void **state)
{
    (void)state;
    static uint64_t bits[2][64];
    write_leaves(bits[0], 64, 0);
    run(0);
    bits[1][3] |= 1; /* byte 192 */
    check_bytes(run(1), 192, 193);
}

/* The second of two leaves with a bit for each word. */
static void test_leaves_of_words(void **state)
{
    (void)state;
    static uint64_t bits[2][32];
    write_leaves(bits[0], 32, 2);
    run(0);
    bits[1][20] |= UINT64_C(1) << 34; /* the 1314th word */
    check_bytes(run(1), 5256, 5260);
}

static void test_device_lines(void **state)
{
    (void)state;
    uint32_t s = t_blocking(&t), u = t_blocking(&t);
    t_alloc(&t, SSAN_memory_DEVICE, D, MIB);
    uint64_t op = t_op(&t, s, SSAN_op_kind_KERNEL);
    for (uint32_t i = 0; i < 6; i++) { /* one line for each 64 bytes */
        t_set_run(&t, op, WRITE, EXACT, 900 + i,
                  (struct ssan_run){.address = D + 64 * (uint64_t)i, .length = 64, .count = 1});
    }
    t_close(&t, op);
    t_reads(&t, u, D + 64, 128);
    const struct hazard *hazard = run(1);
    assert_int_equal(hazard->first.lines[0], 901);
    assert_int_equal(hazard->first.lines[1], 902);
    assert_int_equal(hazard->first.lines[2], 0);
    check_bytes(hazard, 64, 192);
}

static void may_against(enum ssan_access sure, enum ssan_access may)
{
    uint32_t s = t_blocking(&t), u = t_blocking(&t);
    t_alloc(&t, SSAN_memory_DEVICE, D, MIB);
    t_kernel(&t, s, sure, D, 64);
    uint64_t op = t_op(&t, u, SSAN_op_kind_KERNEL);
    t_set_run(&t, op, may, MAY, 0, (struct ssan_run){.address = D, .length = 64, .count = 1});
    t_close(&t, op);
}

static void test_footprint(void **state)
{
    (void)state;
    may_against(WRITE, READ);
    const struct hazard *hazard = run(1);
    assert_int_equal(hazard->sureness, SURENESS_FOOTPRINT);
    assert_int_equal(hazard->severity, SEVERITY_ERROR);
    assert_int_equal(engine_totals(engine)->footprints, 1);
}

static void test_possible(void **state)
{
    (void)state;
    may_against(READ, WRITE);
    const struct hazard *hazard = run(1);
    assert_int_equal(hazard->sureness, SURENESS_POSSIBLE);
    assert_int_equal(hazard->severity, SEVERITY_WARNING);
    assert_int_equal(hazard->documented, SEVERITY_WARNING);
}

/* Sets and closes come late and out of order; shadow still works in submission order. */
static void test_late_closes(void **state)
{
    (void)state;
    uint32_t s = t_blocking(&t), u = t_blocking(&t);
    t_alloc(&t, SSAN_memory_DEVICE, D, MIB);
    uint64_t a = t_op(&t, s, SSAN_op_kind_KERNEL), b = t_op(&t, u, SSAN_op_kind_KERNEL);
    t_set(&t, b, READ, D, 64);
    t_close(&t, b);
    t_host(&t, WRITE, PAG, 8);
    t_set(&t, a, WRITE, D, 64);
    t_close(&t, a);
    const struct hazard *hazard = run(1);
    assert_int_equal(hazard->check, CHECK_RAW); /* by the order of issue, not of execution */
    assert_int_equal(hazard->first.op, a);
}

/* An address resolves as of the submission, though its memory is freed and reused before the sets
 * arrive. */
static void test_resolves_at_submission(void **state)
{
    (void)state;
    uint32_t s = t_blocking(&t), u = t_blocking(&t);
    uint32_t old = t_alloc(&t, SSAN_memory_DEVICE, D, 64);
    uint64_t a = t_op(&t, s, SSAN_op_kind_KERNEL);
    t_sync(&t, SSAN_sync_kind_DEVICE, 1);
    t_free(&t, old);
    uint32_t new = t_alloc(&t, SSAN_memory_DEVICE, D, 64);
    uint64_t b = t_op(&t, u, SSAN_op_kind_KERNEL), c = t_op(&t, s, SSAN_op_kind_KERNEL);
    t_set(&t, b, WRITE, D, 64);
    t_set(&t, c, WRITE, D, 64);
    t_set(&t, a, WRITE, D, 64);
    t_close(&t, c);
    t_close(&t, b);
    t_close(&t, a);
    const struct hazard *hazard = run(1);
    assert_int_equal(hazard->alloc, new);
    assert_int_equal(hazard->first.op, b);
    assert_int_equal(hazard->then.op, c);
}

static void test_use_after_free(void **state)
{
    (void)state;
    uint32_t s = t_blocking(&t);
    uint32_t p = t_alloc(&t, SSAN_memory_DEVICE, D, 64);
    t_free(&t, p);
    t_reads(&t, s, D + 32, 64);
    const struct hazard *hazard = run(1);
    assert_int_equal(hazard->check, CHECK_USE_AFTER_FREE);
    assert_int_equal(hazard->first.kind, SIDE_FREE);
    assert_int_equal(hazard->alloc, p);
    check_bytes(hazard, 32, 64);
}

static void test_unregistered_is_pageable(void **state)
{
    (void)state;
    uint32_t s = t_blocking(&t), n = t_non_blocking(&t);
    t_alloc(&t, SSAN_memory_DEVICE, D, MIB);
    uint32_t p = t_alloc(&t, SSAN_memory_REGISTERED, PAG, 64);
    t_copy(&t, s, SSAN_form_ASYNC, D, PAG, 64);
    t_sync(&t, SSAN_sync_kind_STREAM, s);
    t_free(&t, p);
    t_host(&t, WRITE, PAG, 64);
    t_copy(&t, n, SSAN_form_ASYNC, D, PAG, 64); /* row A1 now */
    t_host(&t, WRITE, PAG, 64);
    const struct hazard *hazard = run(1);
    assert_string_equal(hazard->ordered_by, "A1");
    assert_int_equal(hazard->alloc, 0);
}

static void pool(struct trace *trace, bool alloc, uint64_t address, uint64_t size)
{
    struct ssan_event event = {.kind = alloc ? SSAN_EV_pool_alloc : SSAN_EV_pool_free};
    if (alloc) {
        event.pool_alloc.pool = 1;
        event.pool_alloc.address = address;
        event.pool_alloc.size = size;
        event.pool_alloc.site = t_site(trace);
    } else {
        event.pool_free.pool = 1;
        event.pool_free.address = address;
        event.pool_free.site = t_site(trace);
    }
    t_put(trace, event);
}

static void test_pool(void **state)
{
    (void)state;
    uint32_t s = t_blocking(&t), u = t_blocking(&t);
    uint32_t slab = t_alloc(&t, SSAN_memory_DEVICE, D, MIB);
    pool(&t, true, D + 256, 256);
    t_reads(&t, s, D + 256, 256);
    pool(&t, false, D + 256, 0);
    t_reads(&t, s, D + 256, 64); /* after its end */
    pool(&t, true, D + 256, 128);
    t_writes(&t, u, D + 256, 128); /* the next life: races with both reads of the first */
    const struct hazard *hazards = run(3);
    assert_int_equal(hazards[0].check, CHECK_USE_AFTER_FREE);
    assert_int_equal(hazards[0].alloc, slab);
    check_bytes(&hazards[0], 256, 320);
    assert_int_equal(hazards[1].check, CHECK_WAR);
    assert_int_equal(hazards[2].check, CHECK_WAR);
}

static void test_ignored(void **state)
{
    (void)state;
    uint32_t s = t_blocking(&t), u = t_blocking(&t);
    t_alloc(&t, SSAN_memory_DEVICE, D, MIB);
    t_put(&t, (struct ssan_event){.kind = SSAN_EV_ignore,
                                  .ignore = {.address = D + 16, .size = 32, .on = 1}});
    t_writes(&t, s, D, 64);
    t_reads(&t, u, D, 64);
    const struct hazard *hazard = run(1);
    assert_int_equal(hazard->bytes.count, 2);
    assert_int_equal(hazard->bytes.items[0].end, 16);
    assert_int_equal(hazard->bytes.items[1].begin, 48);
}

/* Repeats of one pair of places: counted once each, told with the earliest `then` and the latest
 * `first`. */
static void test_repeats(void **state)
{
    (void)state;
    uint32_t s = t_blocking(&t), u = t_blocking(&t);
    t_alloc(&t, SSAN_memory_DEVICE, D, MIB);
    for (uint32_t round = 0; round < 5; round++) {
        for (uint32_t k = 0; k < 2; k++) {
            t_writes(&t, s, D + 64 * (uint64_t)k, 64);
            t.events.items[t.events.count - 3].op.site = 71;
        }
        t_reads(&t, u, D, 128);
        t.events.items[t.events.count - 3].op.site = 72;
    }
    const struct hazard *hazards = run(2);
    const struct hazard *raw = hazards[0].check == CHECK_RAW ? &hazards[0] : &hazards[1];
    assert_int_equal(raw->check, CHECK_RAW);
    assert_int_equal(raw->first.op, 2);
    assert_int_equal(raw->then.op, 3);
    assert_int_equal(raw->count, 10);
    check_bytes(raw, 64, 128);
}

static void test_pending(void **state)
{
    (void)state;
    uint32_t s = t_blocking(&t), u = t_blocking(&t), e = t_event(&t);
    t_idle(&t, s);
    t_idle(&t, s);
    t_idle(&t, u);
    t_record(&t, e, u);
    t_sync(&t, SSAN_sync_kind_EVENT, e);
    run(0); /* no exit: cut */
    t_exit(&t);
    const struct hazard *hazard = run(1);
    assert_int_equal(hazard->check, CHECK_PENDING_AT_EXIT);
    assert_int_equal(hazard->severity, SEVERITY_ADVICE);
    assert_int_equal(hazard->stream, s);
    assert_int_equal(hazard->then.op, 2);
}

static void test_fault_ends_judging(void **state)
{
    (void)state;
    uint32_t s = t_blocking(&t), u = t_blocking(&t);
    t_alloc(&t, SSAN_memory_DEVICE, D, MIB);
    t_writes(&t, s, D, 64);
    t_reads(&t, u, D, 64);
    t_put(&t, (struct ssan_event){.kind = SSAN_EV_fault, .fault = {.op = 2}});
    t_reads(&t, u, D, 64);
    run(1);
}

/* The fix of a missing wait: with the edge the race is gone; dropping a wait brings it back. */
static void test_edits(void **state)
{
    (void)state;
    uint32_t s = t_blocking(&t), u = t_blocking(&t), e = t_event(&t);
    t_alloc(&t, SSAN_memory_DEVICE, D, MIB);
    uint64_t produce = t_writes(&t, s, D, 64);
    t_record(&t, e, s);
    uint64_t before = t.events.count;
    t_reads(&t, u, D, 64);
    run(1);
    struct edit edits[2] = {{.before = before, .kind = EDIT_WAIT_LATEST, .stream = u, .event = e}};
    options.edits = edits;
    options.edit_count = 1;
    run(0);
    edits[0] = (struct edit){.before = before, .kind = EDIT_WAIT_ITEM, .stream = u, .op = produce};
    run(0);
    edits[0] =
        (struct edit){.before = before, .kind = EDIT_HOST_JOIN_STREAM, .stream = s, .thread = 1};
    run(0);
    edits[0] = (struct edit){.before = before, .kind = EDIT_HOST_JOIN, .op = produce, .thread = 1};
    run(0);
    /* the record is dropped: what the wait binds to was never recorded */
    edits[0] = (struct edit){.before = before - 2, .kind = EDIT_DROP};
    edits[1] = (struct edit){.before = before, .kind = EDIT_WAIT_LATEST, .stream = u, .event = e};
    options.edit_count = 2;
    run(1);
    /* ... and recorded anew */
    edits[0] = (struct edit){.before = before, .kind = EDIT_RECORD, .stream = s, .event = e};
    run(0);
}

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
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(one_element),
        TEST(even_and_odd),
        TEST(neighbouring_bytes),
        TEST(leaves_of_words),
        TEST(device_lines),
        TEST(footprint),
        TEST(possible),
        TEST(late_closes),
        TEST(resolves_at_submission),
        TEST(use_after_free),
        TEST(unregistered_is_pageable),
        TEST(pool),
        TEST(ignored),
        TEST(repeats),
        TEST(pending),
        TEST(fault_ends_judging),
        TEST(edits),
        TEST(rounding),
        TEST(bounded_memory),
        TEST(bounded_gates),
        TEST(damaged),
        TEST(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
