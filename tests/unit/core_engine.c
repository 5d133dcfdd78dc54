/* The engine beyond the single rules: lifetimes, sureness, folding of repeats, edits, late closes.
 * Each test builds a small trace and looks at the hazards. */
#include "core_engine.h"

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

int main(void)
{
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
