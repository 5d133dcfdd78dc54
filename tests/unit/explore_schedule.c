/* Lists of items: what a join asks for stands where it joins, and no more; early items in front of
 * their call. */
#include "base/strbuf.h"
#include "explore/schedule.h"
#include "explore_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define D   UINT64_C(0x100000)
#define PIN UINT64_C(0x1000000)

static struct trace t;
static struct run run;

static int setup(void **state)
{
    (void)state;
    t_init(&t);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    run_finish(&run);
    t_finish(&t);
    return 0;
}

/* a: a kernel and a copy to the host; b: a kernel beside them; the host joins b, then a. */
static void make_run(void)
{
    struct model model = {0};
    struct ssan_error err = {0};
    uint32_t a = t_non_blocking(&t), b = t_non_blocking(&t);
    t_alloc(&t, SSAN_memory_DEVICE, D, 0x1000);
    t_alloc(&t, SSAN_memory_PINNED, PIN, 0x1000);
    t_call(&t, 1, 0);
    t_writes(&t, a, D, 64); /* s1.1 */
    t_call(&t, 2, 0);
    t_copy(&t, a, SSAN_form_ASYNC, PIN, D, 64); /* s1.2 */
    t_call(&t, 3, 0);
    t_writes(&t, b, D + 512, 64); /* s2.1 */
    t_call(&t, 4, 0);
    t_sync(&t, SSAN_sync_kind_STREAM, b);
    t_call(&t, 5, 0);
    t_sync(&t, SSAN_sync_kind_STREAM, a);
    t_call(&t, 6, 0);
    struct trace_source source = trace_source(&t);
    assert_int_equal(model_read(&model, &source.source, &err), SSAN_OK);
    assert_true(run_create(&run, &model));
    assert_int_equal(run.poset.count, 3);
}

static void expect(const struct plan *plan, const char *text)
{
    struct strbuf words = {0};
    plan_print(plan, &words);
    assert_string_equal(strbuf_text(&words), text);
    strbuf_finish(&words);
}

static void as_late_as_possible(void **state)
{
    (void)state;
    struct plan plan = {.policy = "lazy"};
    make_run();
    assert_true(schedule_make(&run, NULL, run.need, NULL, 0, &plan));
    expect(&plan, PLAN_FIRST_LINE "\npolicy lazy\nitems s2.1 s1.1 s1.2\n");
    plan_finish(&plan);
}

static void one_early(void **state)
{
    (void)state;
    struct plan plan = {.policy = "lazy"};
    uint32_t ready[3];
    make_run();
    schedule_ready(&run, NULL, run.need, ready);
    assert_int_equal(ready[1], 1); /* the copy: call t1.2 */
    assert_int_equal(schedule_joined(&run, 1), 4);
    assert_int_equal(schedule_joined(&run, 2), 3);
    const struct schedule_early early[] = {{1, 1}};
    assert_true(schedule_make(&run, NULL, run.need, early, 1, &plan));
    expect(&plan, PLAN_FIRST_LINE "\npolicy lazy\nitems s1.1 s1.2 s2.1\nby t1.2 s1.2\n");
    plan_finish(&plan);
}

/* Too soon: not submitted yet. Behind its join: it is done anyway. */
static void early_out_of_reach(void **state)
{
    (void)state;
    struct plan plan = {.policy = "lazy"};
    make_run();
    const struct schedule_early early[] = {{1, 0}, {2, 4}};
    assert_true(schedule_make(&run, NULL, run.need, early, 2, &plan));
    expect(&plan, PLAN_FIRST_LINE "\npolicy lazy\nitems s2.1 s1.1 s1.2\n");
    plan_finish(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_late_as_possible, setup, teardown),
        cmocka_unit_test_setup_teardown(one_early, setup, teardown),
        cmocka_unit_test_setup_teardown(early_out_of_reach, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
