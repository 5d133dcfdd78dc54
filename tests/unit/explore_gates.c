/* Which kernel is held: for the patterns of the case programs, and where none can be. */
#include "explore/gates.h"
#include "explore_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#define X   UINT64_C(0x100000)
#define Y   UINT64_C(0x200000)
#define PIN UINT64_C(0x1000000)

struct read_run {
    struct trace t;
    struct model model;
};

static void read_all(struct read_run *run)
{
    struct trace_source source = trace_source(&run->t);
    struct ssan_error err = {0};
    t_exit(&run->t);
    assert_int_equal(model_read(&run->model, &source.source, &err), SSAN_OK);
}

/* Copies between the two return at once. */
static void begin(struct read_run *run)
{
    t_init(&run->t);
    (void)t_alloc(&run->t, SSAN_memory_DEVICE, X, 64);
    (void)t_alloc(&run->t, SSAN_memory_DEVICE, Y, 64);
    (void)t_alloc(&run->t, SSAN_memory_PINNED, PIN, 64);
}

static void end(struct read_run *run)
{
    model_finish(&run->model);
    t_finish(&run->t);
}

/* The n-th kernel to hold for two operations, as "s1.2"; else the answer. */
static void expect(const struct read_run *run, uint64_t first, uint64_t then, unsigned n,
                   enum gates_answer answer, const char *words)
{
    const struct invert_pair pair = {.first = (uint32_t)(first - 1), .then = (uint32_t)(then - 1)};
    uint32_t held = MODEL_NONE;
    char text[32];
    assert_int_equal(gates_held(&run->model, &pair, n, &held), answer);
    if (answer == GATES_FOUND) {
        struct plan_item id = run->model.items.items[held].id;
        snprintf(text, sizeof text, "s%u.%u", id.stream, id.seq);
        assert_string_equal(text, words);
    }
}

/* A kernel is held itself; so is the one before it, unless the other side waits for that one. */
static void kernels(void **state)
{
    struct read_run run = {0};
    uint32_t a, b, e;
    uint64_t scale, shift, square;
    begin(&run);
    a = t_non_blocking(&run.t);
    b = t_non_blocking(&run.t);
    e = t_event(&run.t);
    (void)t_writes(&run.t, a, Y, 64);
    scale = t_writes(&run.t, a, X, 64);
    (void)t_record(&run.t, e, a);
    shift = t_writes(&run.t, a, X, 64);
    (void)t_wait(&run.t, b, e);
    square = t_reads(&run.t, b, X, 64);
    read_all(&run);
    expect(&run, shift, square, 0, GATES_FOUND, "s1.4");
    expect(&run, shift, square, 1, GATES_SHARED, NULL);
    expect(&run, scale, shift, 2, GATES_SHARED, NULL);
    end(&run);
}

/* A ring: drains are held against later uploads, the first one or one before it. */
static void ring(void **state)
{
    struct read_run run = {0};
    uint32_t load, work, full;
    uint64_t drains[3], loads[4];
    begin(&run);
    load = t_non_blocking(&run.t);
    work = t_non_blocking(&run.t);
    full = t_event(&run.t);
    for (int i = 0; i < 4; i++) {
        loads[i] = t_copy(&run.t, load, SSAN_form_ASYNC, X, PIN, 64);
        (void)t_record(&run.t, full, load);
        (void)t_wait(&run.t, work, full);
        if (i < 3) {
            drains[i] = t_reads(&run.t, work, X, 64);
        }
    }
    read_all(&run);
    expect(&run, drains[1], loads[2], 0, GATES_FOUND, "s2.4");
    expect(&run, drains[1], loads[2], 1, GATES_FOUND, "s2.2");
    expect(&run, drains[1], loads[2], 2, GATES_SHARED, NULL);
    end(&run);
}

/* A copy is held by a kernel in front of it, which the other side must not wait for. */
static void copies(void **state)
{
    struct read_run run = {0};
    uint32_t a, b, e;
    uint64_t out, dense, upload, reader, in;
    begin(&run);
    a = t_non_blocking(&run.t);
    b = t_non_blocking(&run.t);
    e = t_event(&run.t);
    in = t_copy(&run.t, b, SSAN_form_ASYNC, Y, PIN, 64);
    (void)t_writes(&run.t, a, X, 64); /* as 08: both come behind it */
    (void)t_record(&run.t, e, a);
    (void)t_wait(&run.t, b, e);
    out = t_copy(&run.t, b, SSAN_form_ASYNC, PIN, X, 64);
    dense = t_writes(&run.t, a, X, 64);
    (void)t_writes(&run.t, b, Y, 64);
    upload = t_copy(&run.t, b, SSAN_form_ASYNC, X, PIN, 64);
    reader = t_reads(&run.t, a, X, 64);
    read_all(&run);
    expect(&run, out, dense, 0, GATES_SHARED, NULL);
    expect(&run, upload, reader, 0, GATES_FOUND, "s2.4");
    expect(&run, in, dense, 0, GATES_NO_KERNEL, NULL);
    end(&run);
}

/* What the host has waited for before it submits the other side can't be held. */
static void joins(void **state)
{
    struct read_run run = {0};
    const struct invert_pair host = {.first = 0, .then = MODEL_NONE};
    uint32_t a, b, held;
    uint64_t copy, reader;
    begin(&run);
    a = t_non_blocking(&run.t);
    b = t_non_blocking(&run.t);
    (void)t_writes(&run.t, a, X, 64);
    t_sync(&run.t, SSAN_sync_kind_STREAM, a);
    copy = t_copy(&run.t, a, SSAN_form_ASYNC, X, PIN, 64);
    reader = t_reads(&run.t, b, X, 64);
    read_all(&run);
    expect(&run, copy, reader, 0, GATES_SHARED, NULL);
    assert_int_equal(gates_held(&run.model, &host, 0, &held), GATES_FOUND);
    assert_int_equal(held, 0); /* a trial tells whether the host waits for it */
    assert_int_equal(gates_held(&run.model, &host, 1, &held), GATES_SHARED);
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels),
        cmocka_unit_test(ring),
        cmocka_unit_test(copies),
        cmocka_unit_test(joins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
