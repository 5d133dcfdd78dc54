/* Which items plans list, in which order; and what counts as turned round. */
#include "explore/invert.h"
#include "explore_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define D   UINT64_C(0x100000)
#define PIN UINT64_C(0x1000000)

struct read_run {
    struct trace t;
    struct model model;
    struct facts facts;
};

static void begin(struct read_run *run)
{
    *run = (struct read_run){0};
    t_init(&run->t);
}

static void read_all(struct read_run *run)
{
    struct trace_source source = trace_source(&run->t);
    struct ssan_error err = {0};
    assert_int_equal(model_read(&run->model, &source.source, &err), SSAN_OK);
    source = trace_source(&run->t);
    assert_int_equal(facts_read(&run->facts, &source.source, &err), SSAN_OK);
}

static void end(struct read_run *run)
{
    model_finish(&run->model);
    facts_finish(&run->facts);
    t_finish(&run->t);
}

static void expect(const struct read_run *run, const struct invert_pair *pair,
                   enum invert_variant variant, const char *policy, const char *items)
{
    struct plan plan;
    struct strbuf words = {0};
    bool there;
    assert_true(invert_plan(&run->model, &run->facts, pair, variant, &plan, &there));
    assert_int_equal(there, items != NULL);
    if (items) {
        plan_print_items(&plan, &words);
        assert_string_equal(plan.policy, policy);
        assert_string_equal(strbuf_text(&words), items);
    }
    strbuf_finish(&words);
    plan_finish(&plan);
}

/* What a run did, in the order in which it did it. */
static void expect_replay(const struct read_run *run, const struct invert_pair *pair,
                          const char *items)
{
    struct plan plan;
    struct strbuf words = {0};
    assert_true(invert_replay(&run->model, &run->facts, pair, &plan));
    plan_print_items(&plan, &words);
    assert_string_equal(strbuf_text(&words), items);
    strbuf_finish(&words);
    plan_finish(&plan);
}

/* The document's program without its wait, in the order of submission or with add in front. */
static void handover(struct read_run *run, bool turned)
{
    uint32_t a, b, e;
    uint64_t copy, scale, record, add, out, sync;
    begin(run);
    a = t_non_blocking(&run->t);
    b = t_non_blocking(&run->t);
    e = t_event(&run->t);
    t_call(&run->t, 1, 0);
    copy = t_op(&run->t, a, SSAN_op_kind_COPY);
    t_set(&run->t, copy, SSAN_access_WRITE, D, 64);
    t_call(&run->t, 2, 0);
    scale = t_op(&run->t, a, SSAN_op_kind_KERNEL);
    t_set(&run->t, scale, SSAN_access_WRITE, D, 64);
    t_call(&run->t, 3, 0);
    record = t_op(&run->t, a, SSAN_op_kind_RECORD);
    run->t.events.items[run->t.events.count - 1].op.event = e;
    t_call(&run->t, 4, 0);
    add = t_op(&run->t, b, SSAN_op_kind_KERNEL);
    t_set(&run->t, add, SSAN_access_WRITE, D, 64);
    t_call(&run->t, 5, 0);
    out = t_op(&run->t, b, SSAN_op_kind_COPY);
    t_set(&run->t, out, SSAN_access_READ, D, 64);
    t_call(&run->t, 6, 0);
    sync = t_sync_begin(&run->t, SSAN_sync_kind_STREAM, b);
    t_close(&run->t, copy);
    if (!turned) {
        t_close(&run->t, scale);
    }
    t_close(&run->t, add);
    t_close(&run->t, out);
    t_sync_end(&run->t, sync, true);
    if (turned) {
        t_close(&run->t, scale);
    }
    t_close(&run->t, record);
    t_exit(&run->t);
    read_all(run);
}

static void items_are_turned_round(void **state)
{
    struct read_run first, other;
    struct invert_pairs pairs = {0};
    const struct invert_pair *pair;
    (void)state;
    handover(&first, false);
    assert_true(invert_find(&first.model, &first.facts, first.model.items.items[1].submitted,
                            first.model.items.items[3].submitted, 4, &pairs));
    assert_int_equal(pairs.count, 1);
    pair = pairs.items;
    expect(&first, pair, INVERT_NEAR, "lazy", "s1.1,s2.1,s1.2");
    expect(&first, pair, INVERT_PAIR, "lazy", "s2.1,s1.2");
    expect(&first, pair, INVERT_LATE, "lazy", "s1.1,s2.1,s2.2,s1.2");
    expect(&first, pair, INVERT_EAGER, "eager", "s2.1,s1.2");
    assert_int_equal(invert_check(&first.model, pair, &first.model, &first.facts), INVERT_KEPT);
    handover(&other, true);
    assert_int_equal(invert_check(&first.model, pair, &other.model, &other.facts), INVERT_DONE);
    end(&other);
    begin(&other);
    t_exit(&other.t);
    read_all(&other);
    assert_int_equal(invert_check(&first.model, pair, &other.model, &other.facts), INVERT_DIVERGED);
    end(&other);
    pairs.count = 0; /* a stream orders the two */
    assert_true(invert_find(&first.model, &first.facts, first.model.items.items[0].submitted,
                            first.model.items.items[1].submitted, 4, &pairs));
    assert_int_equal(pairs.count, 0);
    mem_free(pairs.items);
    end(&first);
}

/* A copy reads what the host overwrites; `early`: the host comes first. */
static void overwrite(struct read_run *run, bool early)
{
    uint32_t a;
    uint64_t copy, sync;
    begin(run);
    a = t_non_blocking(&run->t);
    t_host(&run->t, SSAN_access_WRITE, PIN, 64);
    t_call(&run->t, 1, 0);
    copy = t_op(&run->t, a, SSAN_op_kind_COPY);
    t_set(&run->t, copy, SSAN_access_READ, PIN, 64);
    if (!early) {
        t_close(&run->t, copy);
    }
    t_host(&run->t, SSAN_access_WRITE, PIN, 64);
    t_call(&run->t, 2, 0);
    sync = t_sync_begin(&run->t, SSAN_sync_kind_STREAM, a);
    if (early) {
        t_close(&run->t, copy);
    }
    t_sync_end(&run->t, sync, true);
    t_exit(&run->t);
    read_all(run);
}

static void the_host_comes_first(void **state)
{
    struct read_run first, other;
    struct invert_pairs pairs = {0};
    (void)state;
    overwrite(&first, false);
    assert_int_equal(first.facts.hosts.count, 2);
    assert_true(invert_find(&first.model, &first.facts, first.model.items.items[0].submitted,
                            first.facts.hosts.items[1].position, 4, &pairs));
    assert_int_equal(pairs.count, 1);
    assert_int_equal(pairs.items[0].then, MODEL_NONE);
    assert_int_equal(pairs.items[0].number, 2);
    expect(&first, pairs.items, INVERT_NEAR, "lazy", "");
    expect(&first, pairs.items, INVERT_PAIR, "lazy", "a1.2,s1.1");
    expect(&first, pairs.items, INVERT_LATE, "lazy", "s1.1");
    expect(&first, pairs.items, INVERT_EAGER, "eager", NULL); /* nothing to hold it with */
    assert_int_equal(invert_check(&first.model, pairs.items, &first.model, &first.facts),
                     INVERT_KEPT);
    overwrite(&other, true);
    assert_int_equal(invert_check(&first.model, pairs.items, &other.model, &other.facts),
                     INVERT_DONE);
    expect_replay(&first, pairs.items, "s1.1,a1.2");
    expect_replay(&other, pairs.items, "a1.2,s1.1");
    end(&other);
    mem_free(pairs.items);
    end(&first);
}

/* The width of a byte is that of the kernel behind the copies that brought it. */
static void copies_hand_on_widths(void **state)
{
    struct read_run run;
    struct ssan_event *event;
    uint32_t a;
    uint64_t kernel, copy;
    (void)state;
    begin(&run);
    a = t_non_blocking(&run.t);
    kernel = t_op(&run.t, a, SSAN_op_kind_KERNEL);
    t_set(&run.t, kernel, SSAN_access_WRITE, D, 64);
    run.t.events.items[run.t.events.count - 1].set.width = 8;
    t_close(&run.t, kernel);
    copy = t_op(&run.t, a, SSAN_op_kind_COPY);
    event = &run.t.events.items[run.t.events.count - 1];
    event->op.dst = PIN;
    event->op.src = D;
    event->op.width = 64;
    event->op.height = 1;
    t_set(&run.t, copy, SSAN_access_WRITE, PIN, 64);
    t_close(&run.t, copy);
    t_exit(&run.t);
    read_all(&run);
    assert_int_equal(facts_width(&run.facts, &run.model, PIN + 16), 8);
    assert_int_equal(facts_width(&run.facts, &run.model, D), 8);
    assert_int_equal(facts_width(&run.facts, &run.model, PIN + 64), 0);
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_turned_round),
        cmocka_unit_test(the_host_comes_first),
        cmocka_unit_test(copies_hand_on_widths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
