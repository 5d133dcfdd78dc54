/* Verdicts, covers and largest sets on small listings. */
#include "audit_listing.h"

#include "base/mem.h"

static const struct audit_options plain;

/* The site at a line of a.cu. */
static const struct audit_site *at(const struct audit *audit, unsigned line)
{
    for (size_t i = 0; i < audit->site_count; i++) {
        if (audit->report.ops[audit->sites[i].op].at.line == line) {
            return &audit->sites[i];
        }
    }
    fail_msg("no site at line %u", line);
    return NULL;
}

/* Line of the first call that covers a site. */
static unsigned cover_line(const struct audit *audit, const struct audit_site *site)
{
    assert_true(site->cover_count > 0);
    return audit->report.ops[site->covers[0].op].at.line;
}

static void one_wait_carries(void **state)
{
    struct listing l;
    struct audit audit = {0};
    (void)state;
    l_begin(&l);
    l_world(&l, 2, 1);
    l_kernel(&l, 1, "write", 0x10000, 10);
    l_event(&l, "record", 1, 1, 11);
    l_event(&l, "wait", 2, 1, 12);
    l_kernel(&l, 2, "read", 0x10000, 13);
    l_audit(&l, &audit, &plain);
    assert_int_equal(audit.site_count, 1);
    const struct audit_site *site = at(&audit, 12);
    assert_true(site->load_bearing && site->is_wait);
    assert_int_equal(site->protect_count, 1);
    assert_int_equal(site->known[0], 0);
    assert_int_equal(site->protects[0]->check, CHECK_RAW);
    assert_string_equal(audit.report.buffers[site->protects[0]->buffer].name, "buffer #1");
    assert_int_equal(audit.report.ops[site->protects[0]->first.op].at.line, 10);
    assert_int_equal(audit.report.ops[site->protects[0]->then.op].at.line, 13);
    assert_int_equal(audit.together, 0);
    assert_true(audit.together_exact);
    audit_finish(&audit);
}

/* Each of three ways suffices, so two can go: the join before the waits, the earlier wait stays. */
static void two_of_three_can_go(void **state)
{
    struct listing l;
    struct audit audit = {0};
    (void)state;
    l_begin(&l);
    l_world(&l, 2, 1);
    l_kernel(&l, 1, "write", 0x10000, 10);
    l_event(&l, "record", 1, 1, 11);
    l_event(&l, "wait", 2, 1, 12);
    l_sync(&l, "device", 1, "cudaDeviceSynchronize", 13);
    l_event(&l, "wait", 2, 1, 14);
    l_kernel(&l, 2, "read", 0x10000, 15);
    l_audit(&l, &audit, &plain);
    assert_int_equal(audit.redundant, 3);
    assert_int_equal(audit.together, 2);
    assert_true(audit.together_exact);
    assert_false(at(&audit, 12)->together);
    assert_true(at(&audit, 13)->together && at(&audit, 14)->together);
    assert_int_equal(at(&audit, 13)->blocked_ns, 100);
    assert_int_equal(at(&audit, 12)->why, AUDIT_COVERED);
    assert_int_equal(at(&audit, 14)->why, AUDIT_COVERED);
    assert_int_equal(cover_line(&audit, at(&audit, 14)), 12);
    audit_finish(&audit);
}

/* A place that is passed often is one site; dropping it drops all its instances. */
static void a_loop_is_one_site(void **state)
{
    struct listing l;
    struct audit audit = {0};
    (void)state;
    l_begin(&l);
    l_world(&l, 2, 1);
    for (unsigned i = 0; i < 5; i++) {
        l_kernel(&l, 1, "write", 0x10000, 10);
        l_event(&l, "record", 1, 1, 11);
        l_event(&l, "wait", 2, 1, 12);
        l_kernel(&l, 2, "read", 0x10000, 13);
        l_sync(&l, "stream", 2, "cudaStreamSynchronize", 14);
    }
    l_audit(&l, &audit, &plain);
    assert_int_equal(audit.site_count, 2);
    assert_int_equal(at(&audit, 12)->calls, 5);
    assert_true(at(&audit, 12)->load_bearing);
    assert_true(at(&audit, 14)->load_bearing); /* the next write must not overtake the read */
    assert_int_equal(at(&audit, 14)->blocked_ns, 500);
    audit_finish(&audit);
}

/* Where the trace has an error at the same places, the loss of a wait shows in its instances. */
static void more_instances_count(void **state)
{
    struct listing l;
    struct audit audit = {0};
    (void)state;
    l_begin(&l);
    l_world(&l, 2, 2);
    for (unsigned i = 0; i < 3; i++) { /* the event of the second turn is never recorded */
        l_kernel(&l, 1, "write", 0x10000 + 0x1000 * i, 10);
        if (i != 1) {
            l_event(&l, "record", 1, 1, 11);
        }
        l_event(&l, "wait", 2, i == 1 ? 2 : 1, 12);
        l_kernel(&l, 2, "read", 0x10000 + 0x1000 * i, 13);
    }
    l_event(&l, "wait", 2, 1, 14); /* a second time, with nothing behind it */
    l_audit(&l, &audit, &plain);
    const struct audit_site *site = at(&audit, 12);
    assert_true(site->load_bearing && !site->together);
    assert_int_equal(site->protect_count, 1);
    assert_int_equal(site->known[0], 1);
    assert_int_equal(site->protects[0]->count, 2);
    assert_false(at(&audit, 14)->load_bearing);
    assert_int_equal(audit.together, 1);
    audit_finish(&audit);
}

static void reasons(void **state)
{
    struct listing l;
    struct audit audit = {0};
    (void)state;
    l_begin(&l);
    l_world(&l, 3, 3);
    l_event(&l, "wait", 2, 3, 20); /* never recorded */
    l_kernel(&l, 1, "write", 0x10000, 10);
    l_event(&l, "record", 1, 1, 11);
    l_event(&l, "wait", 1, 1, 21); /* its own stream */
    l_kernel(&l, 1, "read", 0x10000, 12);
    l_event(&l, "record", 1, 2, 13);
    l_event(&l, "wait", 2, 2, 22); /* nothing in common */
    l_kernel(&l, 2, "write", 0x14000, 14);
    l_event(&l, "wait", 3, 2, 23); /* nothing behind it */
    l_audit(&l, &audit, &plain);
    assert_int_equal(audit.redundant, 4);
    assert_int_equal(at(&audit, 20)->why, AUDIT_NOTHING_BEFORE);
    assert_int_equal(at(&audit, 21)->why, AUDIT_COVERED);
    assert_int_equal(at(&audit, 21)->cover_count, 0);
    assert_int_equal(at(&audit, 22)->why, AUDIT_NO_CONFLICT);
    assert_int_equal(at(&audit, 23)->why, AUDIT_NOTHING_BEHIND);
    assert_int_equal(audit.together, 4);
    audit_finish(&audit);
}

/* Advice that a dropped call takes along, or that its loss brings, is no verdict. */
static void advice_counts_for_nothing(void **state)
{
    struct listing l;
    struct audit audit = {0};
    (void)state;
    l_begin(&l);
    l_world(&l, 1, 0);
    l_kernel(&l, 1, "write", 0x10000, 10);
    l_sync(&l, "stream", 1, "cudaStreamSynchronize", 11); /* without it: pending at exit */
    l_audit(&l, &audit, &plain);
    assert_false(at(&audit, 11)->load_bearing);
    audit_finish(&audit);
}

static void pairs(struct listing *l, unsigned waits)
{
    l_begin(l);
    l_world(l, 2, 1);
    l_kernel(l, 1, "write", 0x10000, 10);
    l_event(l, "record", 1, 1, 11);
    for (unsigned i = 0; i < waits; i++) {
        l_event(l, "wait", 2, 1, 100 + i);
    }
    l_kernel(l, 2, "read", 0x10000, 15);
}

/* With too few re-runs for a proof the set still passes, and the audit says that it ended early. */
static void an_early_end_is_told(void **state)
{
    const struct audit_options few = {.max_runs = 6}, one = {.max_runs = 1};
    struct listing l;
    struct audit audit = {0};
    (void)state;
    pairs(&l, 6);
    l_audit(&l, &audit, &few);
    assert_int_equal(audit.redundant, 6);
    assert_false(audit.together_exact);
    assert_int_equal(audit.together, 5); /* which greedy search finds here */
    audit_finish(&audit);
    audit = (struct audit){0};
    pairs(&l, 6);
    l_audit(&l, &audit, &one);
    assert_false(audit.together_exact);
    assert_int_equal(audit.together, 1);
    audit_finish(&audit);
    audit = (struct audit){0};
    pairs(&l, 70); /* above what the exact search takes */
    l_audit(&l, &audit, &plain);
    assert_int_equal(audit.redundant, 70);
    assert_false(audit.together_exact);
    assert_int_equal(audit.together, 69);
    audit_finish(&audit);
    audit = (struct audit){0};
    pairs(&l,
          600); /* more than the budget: the search is bounded, each place is tried all the same */
    l_audit(&l, &audit, &plain);
    assert_int_equal(audit.redundant, 600);
    assert_int_equal(audit.together, 599);
    assert_in_range(audit.runs, 600, 600 + 500 + 6);
    audit_finish(&audit);
}

/* Several buffers, each with two waits that suffice: one of each must stay. */
static void several_failing_sets(void **state)
{
    struct listing l;
    struct audit audit = {0};
    (void)state;
    l_begin(&l);
    l_world(&l, 2, 8);
    for (unsigned i = 0; i < 4; i++) {
        l_kernel(&l, 1, "write", 0x10000 + 0x1000 * i, 10 + i);
        l_event(&l, "record", 1, 1 + 2 * i, 30 + i);
        l_event(&l, "record", 1, 2 + 2 * i, 40 + i);
    }
    for (unsigned i = 4; i-- > 0;) { /* the last record first would cover all: take them upwards */
        const unsigned k = 3 - i;
        l_event(&l, "wait", 2, 1 + 2 * k, 50 + k);
        l_event(&l, "wait", 2, 2 + 2 * k, 60 + k);
        l_kernel(&l, 2, "read", 0x10000 + 0x1000 * k, 20 + k);
    }
    l_audit(&l, &audit, &plain);
    assert_int_equal(audit.redundant, 8);
    assert_int_equal(audit.together, 4);
    assert_true(audit.together_exact);
    audit_finish(&audit);
}

/* Calls without lines are told apart by what they wait for. */
static void without_lines(void **state)
{
    struct listing l;
    struct audit audit = {0};
    (void)state;
    l_begin(&l);
    l_world(&l, 2, 2);
    l_kernel(&l, 1, "write", 0x10000, 10);
    l_event(&l, "record", 1, 1, 11);
    l_event(&l, "record", 1, 2, 11);
    l_line(&l, "op op=4 stream=2 kind=wait event=1 thread=1");
    l_line(&l, "op_closed op=4");
    l_line(&l, "op op=5 stream=2 kind=wait event=2 thread=1");
    l_line(&l, "op_closed op=5");
    l_line(&l, "sync sync=1 kind=stream object=2 thread=1");
    l_line(&l, "sync_return sync=1 ok=1");
    l_audit(&l, &audit, &plain);
    assert_int_equal(audit.site_count, 3);
    assert_int_equal(audit.redundant, 3);
    audit_finish(&audit);
}

static void accidents_are_listed(void **state)
{
    struct listing l;
    struct audit audit = {0};
    (void)state;
    l_begin(&l);
    l_line(&l, "stream_create stream=1 context=1 flavour=blocking thread=1 at=\"a.cu:1\"");
    l_line(&l, "stream_create stream=2 context=1 flavour=legacy thread=1");
    l_line(&l, "alloc alloc=1 context=1 memory=device address=0x10000 size=65536 "
               "call=\"cudaMalloc\" thread=1 at=\"a.cu:3\"");
    l_kernel(&l, 1, "write", 0x10000, 10);
    l_kernel(&l, 2, "read", 0x10000, 11); /* behind it by the legacy barrier */
    l_sync(&l, "device", 1, "cudaDeviceSynchronize", 12);
    l_audit(&l, &audit, &plain);
    assert_int_equal(audit.accident_count, 1);
    assert_int_equal(audit.accidents[0].rests, AUDIT_RESTS_LEGACY);
    const struct report *in = audit.accidents[0].in;
    assert_string_equal(in->streams[in->ops[audit.accidents[0].finding->then.op].stream].name,
                        "legacy");
    audit_finish(&audit);
}

/* Whether a fix has this edit. */
static bool has_edit(const struct fix *fix, uint32_t line, const char *text)
{
    bool found = false;
    for (size_t i = 0; fix && i < fix->edit_count; i++) {
        found |= fix->edits[i].line == line && fix->edits[i].insert_before &&
                 strcmp(fix->edits[i].insert_before, text) == 0;
    }
    return found;
}

/* The legacy stream writes, at `line` another call stands, and a loop behind it reads. */
static void loop_behind(struct audit *audit, unsigned line)
{
    struct listing l;
    l_begin(&l);
    l_line(&l, "stream_create stream=1 context=1 flavour=blocking thread=1 at=\"a.cu:1 main\"");
    l_line(&l, "stream_create stream=2 context=1 flavour=legacy thread=1");
    l_line(&l, "alloc alloc=1 context=1 memory=device address=0x10000 size=65536 "
               "call=\"cudaMalloc\" thread=1 at=\"a.cu:3 main\"");
    l_kernel(&l, 2, "write", 0x10000, 10);
    if (line > 0) {
        l_kernel(&l, 1, "write", 0x18000, line);
    }
    for (unsigned i = 0; i < 3; i++) {
        l_kernel(&l, 1, "read", 0x10000, 20);
    }
    l_audit(&l, audit, &plain);
    assert_int_equal(audit->accident_count, 1);
}

/* A record of the legacy stream is a barrier, so it comes in front of the loop or not at all. */
static void no_barrier_in_a_loop(void **state)
{
    struct audit audit = {0};
    (void)state;
    loop_behind(&audit, 12);
    assert_true(
        has_edit(audit.accidents[0].fix, 12, "cudaEventRecord(ssan_ready, cudaStreamLegacy);"));
    audit_finish(&audit);
    audit = (struct audit){0};
    loop_behind(&audit, 0);
    assert_null(audit.accidents[0].fix);
    audit_finish(&audit);
}

/* A wait of the host that only the legacy barrier makes redundant says so. */
static void covers_by_accident(void **state)
{
    struct listing l;
    struct audit audit = {0};
    (void)state;
    l_begin(&l);
    l_line(&l, "stream_create stream=1 context=1 flavour=blocking thread=1 at=\"a.cu:1\"");
    l_line(&l, "stream_create stream=2 context=1 flavour=legacy thread=1");
    l_line(&l, "alloc alloc=1 context=1 memory=device address=0x10000 size=65536 "
               "call=\"cudaMalloc\" thread=1 at=\"a.cu:3\"");
    l_kernel(&l, 1, "write", 0x10000, 10);
    l_sync(&l, "stream", 1, "cudaStreamSynchronize", 11);
    l_kernel(&l, 2, "read", 0x10000, 12);
    l_audit(&l, &audit, &plain);
    assert_int_equal(audit.redundant, 1);
    assert_true(audit.sites[0].by_accident);
    audit_finish(&audit);
}

static void assumptions_are_judged(void **state)
{
    const struct audit_options non_blocking = {.assume = AUDIT_ASSUME_NON_BLOCKING};
    const struct audit_options per_thread = {.assume = AUDIT_ASSUME_PER_THREAD};
    const struct audit_options *const both[] = {&non_blocking, &per_thread};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct listing l;
        struct audit audit = {0};
        l_begin(&l);
        l_line(&l, "stream_create stream=1 context=1 flavour=blocking thread=1 at=\"a.cu:1\"");
        l_line(&l, "stream_create stream=2 context=1 flavour=legacy thread=1");
        l_line(&l, "alloc alloc=1 context=1 memory=device address=0x10000 size=65536 "
                   "call=\"cudaMalloc\" thread=1 at=\"a.cu:3\"");
        l_kernel(&l, 1, "write", 0x10000, 10);
        l_kernel(&l, 2, "read", 0x10000, 11);
        l_sync(&l, "stream", 2, "cudaStreamSynchronize", 12);
        l_audit(&l, &audit, both[i]);
        assert_int_equal(audit.assume, both[i]->assume);
        size_t errors = 0;
        for (size_t k = 0; k < audit.assumed.finding_count; k++) {
            errors += audit.assumed.findings[k]->severity == SEVERITY_ERROR;
        }
        assert_int_equal(errors, 1);
        audit_finish(&audit);
    }
}

/* Every allocation fails once: a status, and nothing is left behind. */
static void no_memory(void **state)
{
    const struct audit_options options = {.assume =
                                              AUDIT_ASSUME_NON_BLOCKING | AUDIT_ASSUME_PER_THREAD};
    struct listing l;
    struct reader *reader = NULL;
    struct engine *engine;
    uint64_t failures = 0;
    (void)state;
    pairs(&l, 3);
    l_sync(&l, "device", 1, "cudaDeviceSynchronize", 30);
    l_line(&l, "exit");
    assert_int_equal(
        reader_open_listing(&reader, "listing", strbuf_text(&l.text), l.text.length, NULL),
        SSAN_OK);
    engine = judged(reader_source(reader));
    for (uint64_t nth = 1;; nth++) {
        struct audit audit = {0};
        struct ssan_error err = {0};
        mem_fail_at(nth);
        const enum ssan_status status =
            audit_run(&audit, engine, reader_source(reader), &options, &err);
        mem_fail_at(0);
        audit_finish(&audit);
        if (status == SSAN_OK) {
            break;
        }
        assert_int_equal(status, SSAN_NO_MEMORY);
        failures++;
    }
    print_message("%llu allocations failed\n", (unsigned long long)failures);
    assert_true(failures > 100);
    engine_destroy(engine);
    reader_close(reader);
    strbuf_finish(&l.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_wait_carries),
        cmocka_unit_test(two_of_three_can_go),
        cmocka_unit_test(a_loop_is_one_site),
        cmocka_unit_test(more_instances_count),
        cmocka_unit_test(reasons),
        cmocka_unit_test(advice_counts_for_nothing),
        cmocka_unit_test(an_early_end_is_told),
        cmocka_unit_test(several_failing_sets),
        cmocka_unit_test(without_lines),
        cmocka_unit_test(accidents_are_listed),
        cmocka_unit_test(no_barrier_in_a_loop),
        cmocka_unit_test(covers_by_accident),
        cmocka_unit_test(assumptions_are_judged),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
