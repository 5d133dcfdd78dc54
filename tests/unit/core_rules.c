/* Every rule of order.def that has code: a small trace with a known outcome, and the rule's mutant,
 * which must change it. The outcome is the list of hazards, one word each: the check's short name,
 * "!" for an error, "?" for a warning with its rule, "." for advice. */
#include "base/mem.h"
#include "base/strbuf.h"
#include "core/order.h"
#include "support/build_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define D     UINT64_C(0x100000) /* device memory */
#define D2    UINT64_C(0x400000)
#define PIN   UINT64_C(0x1000000) /* page-locked */
#define PIN2  UINT64_C(0x1400000)
#define MAN   UINT64_C(0x2000000) /* managed */
#define REG   UINT64_C(0x3000000) /* registered host memory, the first half of 1 MiB */
#define PAG   UINT64_C(0x7000000) /* pageable */
#define PAG2  UINT64_C(0x7400000)
#define MIB   UINT64_C(0x100000)
#define KIB   UINT64_C(0x400)
#define SYNC  SSAN_form_SYNC
#define ASYNC SSAN_form_ASYNC
#define READ  SSAN_access_READ
#define WRITE SSAN_access_WRITE

struct rule_case {
    const char *name;
    bool strict;
    const char *outcome;
    void (*build)(struct trace *t);
};

static void memories(struct trace *t)
{
    t_alloc(t, SSAN_memory_DEVICE, D, MIB);
    t_alloc(t, SSAN_memory_DEVICE, D2, MIB);
    t_alloc(t, SSAN_memory_PINNED, PIN, MIB);
    t_alloc(t, SSAN_memory_PINNED, PIN2, MIB);
    t_alloc(t, SSAN_memory_MANAGED, MAN, MIB);
    t_alloc(t, SSAN_memory_REGISTERED, REG, MIB / 2);
}

static void stream_order(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_writes(t, s, D, MIB);
    t_reads(t, s, D, MIB);
}

static void two_streams(struct trace *t)
{
    uint32_t s = t_blocking(t), u = t_blocking(t);
    t_writes(t, s, D, MIB);
    t_reads(t, u, D, MIB);
}

static void legacy_barrier(struct trace *t)
{
    uint32_t legacy = t_legacy(t), s = t_blocking(t), u = t_blocking(t);
    t_writes(t, s, D, MIB);
    t_idle(t, legacy);
    t_reads(t, u, D, MIB);
}

static void per_thread_blocks(struct trace *t)
{
    uint32_t p = t_stream_of(t, 1, SSAN_stream_flavour_PER_THREAD, 1), legacy = t_legacy(t);
    t_writes(t, p, D, MIB);
    t_reads(t, legacy, D, MIB);
}

static void non_blocking_exempt(struct trace *t)
{
    uint32_t legacy = t_legacy(t), n = t_non_blocking(t), s = t_blocking(t);
    t_writes(t, n, D, MIB);
    t_idle(t, legacy);
    t_reads(t, s, D, MIB);
}

static void two_contexts(struct trace *t)
{
    uint32_t a = t_legacy(t), b = t_stream_of(t, 2, SSAN_stream_flavour_LEGACY, 0);
    t_writes(t, a, D, MIB);
    t_reads(t, b, D, MIB);
}

/* D is memory of context 1 and D2 of context 2; the copy goes from one to the other. */
static void peer_copy(struct trace *t, uint32_t stream, enum ssan_form form)
{
    t_alloc(t, SSAN_memory_DEVICE, D, MIB);
    t_alloc(t, SSAN_memory_DEVICE, D2, MIB);
    t->events.items[t->events.count - 1].alloc.context = 2;
    t_copy(t, stream, form, D2, D, MIB);
}

static void copy_between_devices(struct trace *t)
{
    uint32_t legacy = t_legacy(t);
    uint32_t s = t_stream_of(t, 2, SSAN_stream_flavour_BLOCKING, 0);
    peer_copy(t, legacy, SYNC);
    t_reads(t, s, D2, MIB);
}

static void peer_copy_async(struct trace *t)
{
    uint32_t s = t_blocking(t), u = t_stream_of(t, 2, SSAN_stream_flavour_BLOCKING, 0);
    peer_copy(t, s, ASYNC);
    t_reads(t, u, D2, MIB);
}

static void legacy_record(struct trace *t)
{
    uint32_t legacy = t_legacy(t), s = t_blocking(t), u = t_blocking(t), e = t_event(t);
    t_writes(t, s, D, MIB);
    t_record(t, e, legacy);
    t_reads(t, u, D, MIB);
}

static void stream_created_later(struct trace *t)
{
    uint32_t legacy = t_legacy(t);
    t_writes(t, legacy, D, MIB);
    uint32_t s = t_blocking(t);
    t_reads(t, s, D, MIB);
}

static void per_thread_identity(struct trace *t)
{
    uint32_t a = t_stream_of(t, 1, SSAN_stream_flavour_PER_THREAD, 1);
    t_writes(t, a, D, MIB);
    t->thread = 2;
    uint32_t b = t_stream_of(t, 1, SSAN_stream_flavour_PER_THREAD, 2);
    t_reads(t, b, D, MIB);
}

static void destroyed_stays(struct trace *t)
{
    uint32_t legacy = t_legacy(t), s = t_blocking(t);
    t_writes(t, s, D, MIB);
    t_stream_destroy(t, s);
    t_reads(t, legacy, D, MIB);
}

static void stream_query(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_copy(t, s, ASYNC, PIN, D, MIB);
    t_sync(t, SSAN_sync_kind_STREAM_QUERY, s);
    t_host(t, READ, PIN, MIB);
}

static void record_snapshot(struct trace *t)
{
    uint32_t s = t_blocking(t), u = t_blocking(t), e = t_event(t);
    t_record(t, e, s);
    t_writes(t, s, D, MIB);
    t_wait(t, u, e);
    t_reads(t, u, D, MIB);
}

static void record_replaces(struct trace *t)
{
    uint32_t s = t_blocking(t), u = t_blocking(t), w = t_blocking(t), e = t_event(t);
    t_writes(t, s, D, MIB);
    t_record(t, e, s);
    t_record(t, e, u);
    t_wait(t, w, e);
    t_reads(t, w, D, MIB);
}

static void sync_binds_at_entry(struct trace *t)
{
    uint32_t s = t_blocking(t), e = t_event(t);
    t_record(t, e, s);
    uint64_t sync = t_sync_begin(t, SSAN_sync_kind_EVENT, e);
    t->thread = 2;
    t_writes(t, s, PIN, MIB);
    t_record(t, e, s);
    t->thread = 1;
    t_sync_end(t, sync, true);
    t_host(t, READ, PIN, MIB);
}

static void unrecorded_is_no_item(struct trace *t)
{
    uint32_t legacy = t_legacy(t), s = t_blocking(t), u = t_blocking(t), e = t_event(t);
    t_writes(t, s, D, MIB);
    t_wait(t, legacy, e);
    t_reads(t, u, D, MIB);
}

static void event_wait(struct trace *t)
{
    uint32_t s = t_blocking(t), u = t_blocking(t), n = t_non_blocking(t);
    uint32_t e = t_event(t), f = t_event(t);
    t_writes(t, s, D, MIB);
    t_record(t, e, s);
    t_wait(t, u, e);
    t_record(t, f, u);
    t_wait(t, n, f);
    t_reads(t, n, D, MIB);
}

static void event_sync(struct trace *t)
{
    uint32_t s = t_blocking(t), e = t_event(t);
    t_copy(t, s, ASYNC, PIN, D, MIB);
    t_record(t, e, s);
    t_copy(t, s, ASYNC, PIN2, D, MIB);
    t_sync(t, SSAN_sync_kind_EVENT, e);
    t_host(t, READ, PIN, MIB);
    t_host(t, READ, PIN2, MIB);
}

static void event_query(struct trace *t)
{
    uint32_t s = t_blocking(t), e = t_event(t);
    t_copy(t, s, ASYNC, PIN, D, MIB);
    t_record(t, e, s);
    t_sync(t, SSAN_sync_kind_EVENT_QUERY, e);
    t_host(t, READ, PIN, MIB);
}

static void elapsed(struct trace *t)
{
    uint32_t s = t_blocking(t), e = t_event(t);
    t_copy(t, s, ASYNC, PIN, D, MIB);
    t_record(t, e, s);
    t_sync(t, SSAN_sync_kind_ELAPSED, e);
    t_host(t, READ, PIN, MIB);
}

static void destroyed_event(struct trace *t)
{
    uint32_t s = t_blocking(t), u = t_blocking(t), e = t_event(t);
    t_writes(t, s, D, MIB);
    t_record(t, e, s);
    t_wait(t, u, e);
    t_event_destroy(t, e);
    t_reads(t, u, D, MIB);
}

static void event_race(struct trace *t)
{
    uint32_t s = t_blocking(t), u = t_blocking(t), e = t_event(t);
    t_release(t, 1);
    t_writes(t, s, D, MIB);
    t_record(t, e, s);
    t->thread = 2;
    t_acquire(t, 1);
    t_wait(t, u, e);
    t_reads(t, u, D, MIB);
}

static void device_sync(struct trace *t)
{
    uint32_t s = t_blocking(t), n = t_non_blocking(t);
    t_writes(t, s, PIN, MIB);
    t_writes(t, n, PIN2, MIB);
    t_sync(t, SSAN_sync_kind_DEVICE, 1);
    t_host(t, READ, PIN, MIB);
    t_host(t, READ, PIN2, MIB);
}

static void stream_sync(struct trace *t)
{
    uint32_t s = t_blocking(t), u = t_blocking(t);
    t_writes(t, s, PIN, MIB);
    t_writes(t, u, PIN2, MIB);
    t_sync(t, SSAN_sync_kind_STREAM, s);
    t_host(t, READ, PIN, MIB);
    t_host(t, READ, PIN2, MIB);
}

static void legacy_sync(struct trace *t)
{
    uint32_t legacy = t_legacy(t), s = t_blocking(t), n = t_non_blocking(t);
    t_writes(t, s, PIN, MIB);
    t_writes(t, n, PIN2, MIB);
    t_sync(t, SSAN_sync_kind_STREAM, legacy);
    t_host(t, READ, PIN, MIB);
    t_host(t, READ, PIN2, MIB);
}

static void join_is_per_thread(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_release(t, 1);
    t->thread = 2;
    t_acquire(t, 1);
    t->thread = 1;
    t_writes(t, s, PIN, MIB);
    t_sync(t, SSAN_sync_kind_STREAM, s);
    t->thread = 2;
    t_host(t, READ, PIN, MIB);
}

static void join_of_foreign_work(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_release(t, 1);
    t_idle(t, s);
    t->thread = 2;
    t_acquire(t, 1);
    t_sync(t, SSAN_sync_kind_STREAM, s);
}

static void failed_sync(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_writes(t, s, PIN, MIB);
    t_sync_end(t, t_sync_begin(t, SSAN_sync_kind_STREAM, s), false);
    t_host(t, READ, PIN, MIB);
}

static void host_before_submit(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_host(t, WRITE, PIN, MIB);
    t_reads(t, s, PIN, MIB);
}

static void two_submitters(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_release(t, 1);
    t_writes(t, s, D, MIB);
    t->thread = 2;
    t_acquire(t, 1);
    t_reads(t, s, D, MIB);
}

static void foreign_barrier(struct trace *t)
{
    uint32_t s = t_blocking(t), legacy = t_legacy(t);
    t_release(t, 1);
    t_writes(t, s, D, MIB);
    t->thread = 2;
    t_acquire(t, 1);
    t_reads(t, legacy, D, MIB);
}

static void one_host_timeline(struct trace *t)
{
    t_host(t, WRITE, PIN, MIB);
    t->thread = 2;
    t_host(t, READ, PIN, MIB);
}

/* R-COPY-6: half of the source is registered, so it is pageable: free at the return. */
static void half_registered(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_copy(t, s, ASYNC, D, REG, MIB);
    t_host(t, WRITE, REG, MIB / 2);
}

static void memset_sync(struct trace *t)
{
    uint32_t legacy = t_legacy(t), n = t_non_blocking(t);
    t_memset(t, legacy, SYNC, PIN, MIB);
    t_host(t, READ, PIN, MIB);
    t_memset(t, legacy, SYNC, MAN, MIB);
    t_host(t, READ, MAN, MIB);
    t_memset(t, legacy, SYNC, D, MIB);
    t_reads(t, n, D, MIB);
}

static void memset_async(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_memset(t, s, ASYNC, PIN, MIB);
    t_host(t, READ, PIN, MIB);
}

static void copy_pageable_in(struct trace *t)
{
    uint32_t legacy = t_legacy(t), n = t_non_blocking(t), s = t_blocking(t);
    t_writes(t, s, D2, 64);
    t_copy(t, legacy, SYNC, D, PAG, 64 * KIB);
    t_host(t, WRITE, PAG, MIB);
    t_reads(t, n, D, 64 * KIB); /* the tail may be in flight */
    t_reads(t, n, D2, 64);      /* joins prior: observed only for small copies */
    t_writes(t, s, D2 + 64, 64);
    t_copy(t, legacy, SYNC, D + 65536, PAG, 64 * KIB + 4);
    t_reads(t, n, D2 + 64, 64);
}

static void copy_pinned_in(struct trace *t)
{
    uint32_t legacy = t_legacy(t), n = t_non_blocking(t);
    t_copy(t, legacy, SYNC, D, PIN, 64 * KIB);
    t_reads(t, n, D, 64 * KIB);
    t_host(t, WRITE, PIN, 64 * KIB);
    t_copy(t, legacy, SYNC, D2, PIN, MIB);
    t_reads(t, n, D2, MIB);
}

static void copy_out(struct trace *t)
{
    uint32_t legacy = t_legacy(t);
    t_copy(t, legacy, SYNC, PAG, D, MIB);
    t_host(t, READ, PAG, MIB);
}

static void copy_on_device(struct trace *t)
{
    uint32_t legacy = t_legacy(t), n = t_non_blocking(t);
    t_copy(t, legacy, SYNC, D2, D, MIB);
    t_reads(t, n, D2, MIB);
}

static void copy_on_host(struct trace *t)
{
    uint32_t legacy = t_legacy(t);
    t_copy(t, legacy, SYNC, PIN2, PIN, MIB);
    t_host(t, READ, PIN2, MIB);
}

static void copy_managed(struct trace *t)
{
    uint32_t legacy = t_legacy(t), n = t_non_blocking(t);
    t_copy(t, legacy, SYNC, MAN, D, MIB);
    t_reads(t, n, MAN, MIB);
}

static void async_pageable_in(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_copy(t, s, ASYNC, D, PAG, MIB);
    t_host(t, WRITE, PAG, MIB);
}

static void async_pageable_out(struct trace *t)
{
    uint32_t n = t_non_blocking(t);
    t_copy(t, n, ASYNC, PAG, D, MIB);
    t_host(t, READ, PAG, MIB);
}

static void async_pinned(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_copy(t, s, ASYNC, D, PIN, MIB);
    t_host(t, WRITE, PIN, MIB);
}

static void async_on_device(struct trace *t)
{
    uint32_t s = t_blocking(t), u = t_blocking(t);
    t_copy(t, s, ASYNC, D2, D, MIB);
    t_reads(t, u, D2, MIB);
}

static void async_on_host(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_writes(t, s, PIN, MIB);
    t_copy(t, s, ASYNC, PIN2, PIN, MIB);
    t_host(t, READ, PIN2, MIB);
}

static void async_managed(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_copy(t, s, ASYNC, D, MAN, MIB);
    t_host(t, WRITE, MAN, MIB);
}

/* The free of one block makes the next read a portability question, not an error. */
static void free_joins(struct trace *t)
{
    uint32_t s = t_blocking(t), last = t_alloc(t, SSAN_memory_DEVICE, D + 0x10000000, 64);
    t_writes(t, s, PIN, MIB);
    t_free(t, last);
    t_host(t, READ, PIN, MIB);
}

static void free_in_flight(struct trace *t)
{
    uint32_t s = t_blocking(t), p = t_alloc(t, SSAN_memory_DEVICE, D + 0x10000000, 64);
    t_writes(t, s, D + 0x10000000, 64);
    t_free(t, p);
}

static uint64_t host_function(struct trace *t, uint32_t stream, uint32_t thread,
                              enum ssan_access access, uint64_t address)
{
    uint64_t op = t_op(t, stream, SSAN_op_kind_HOSTFUNC);
    uint32_t caller = t->thread;
    t_callback(t, thread, op, true);
    t->thread = thread;
    t_host(t, access, address, MIB);
    t_callback(t, thread, op, false);
    t->thread = caller;
    t_close(t, op);
    return op;
}

static void hostfunc_accesses(struct trace *t)
{
    uint32_t s = t_blocking(t);
    t_writes(t, s, PIN, MIB);
    host_function(t, s, 9, READ, PIN);
    host_function(t, s, 9, WRITE, PIN2);
    t_copy(t, s, ASYNC, D, PIN2, MIB);
}

static void hostfunc_and_main(struct trace *t)
{
    uint32_t s = t_blocking(t);
    host_function(t, s, 9, WRITE, PAG);
    t_host(t, READ, PAG, MIB);
}

static void hostfuncs_apart(struct trace *t)
{
    uint32_t s = t_blocking(t), u = t_blocking(t);
    host_function(t, s, 9, WRITE, PAG);
    host_function(t, u, 9, WRITE, PAG);
}

static const struct rule_case cases[] = {
    {"stream_order", false, "", stream_order},
    {"two_streams", false, "RAW!", two_streams},
    {"legacy_barrier", false, "", legacy_barrier},
    {"per_thread_blocks", false, "", per_thread_blocks},
    {"non_blocking_exempt", false, "RAW!", non_blocking_exempt},
    {"two_contexts", false, "RAW!", two_contexts},
    {"copy_between_devices", false, "", copy_between_devices},
    {"peer_copy_async", false, "RAW!", peer_copy_async},
    {"legacy_record", false, "", legacy_record},
    {"stream_created_later", false, "", stream_created_later},
    {"per_thread_identity", false, "RAW!", per_thread_identity},
    {"destroyed_stays", false, "", destroyed_stays},
    {"stream_query", false, "", stream_query},
    {"record_snapshot", false, "RAW!", record_snapshot},
    {"record_replaces", false, "RAW!", record_replaces},
    {"sync_binds_at_entry", false, "RAW!", sync_binds_at_entry},
    {"unrecorded_is_no_item", false, "EVENT-UNRECORDED. RAW!", unrecorded_is_no_item},
    {"event_wait", false, "", event_wait},
    {"event_sync", false, "RAW!", event_sync},
    {"event_query", false, "", event_query},
    {"elapsed", false, "RAW?R-EVENT-11", elapsed},
    {"destroyed_event", false, "", destroyed_event},
    {"event_race", true, "EVENT-RACE!", event_race},
    {"device_sync", false, "", device_sync},
    {"stream_sync", false, "RAW!", stream_sync},
    {"legacy_sync", false, "RAW!", legacy_sync},
    {"join_is_per_thread", true, "RAW!", join_is_per_thread},
    {"join_of_foreign_work", true, "SUBMIT-RACE!", join_of_foreign_work},
    {"failed_sync", false, "RAW!", failed_sync},
    {"host_before_submit", false, "", host_before_submit},
    {"two_submitters", true, "SUBMIT-RACE!", two_submitters},
    {"foreign_barrier", true, "SUBMIT-RACE!", foreign_barrier},
    {"one_host_timeline", false, "", one_host_timeline},
    {"half_registered", false, "WAR?A1", half_registered},
    {"memset_sync", false, "RAW?R-COPY-18 RAW!", memset_sync},
    {"memset_async", false, "RAW!", memset_async},
    {"copy_pageable_in", false, "RAW! RAW?C1", copy_pageable_in},
    {"copy_pinned_in", false, "RAW?C2", copy_pinned_in},
    {"copy_out", false, "", copy_out},
    {"copy_on_device", false, "RAW!", copy_on_device},
    {"copy_on_host", false, "", copy_on_host},
    {"copy_managed", false, "RAW?C6", copy_managed},
    {"async_pageable_in", false, "WAR?A1", async_pageable_in},
    {"async_pageable_out", false, "RAW?A2", async_pageable_out},
    {"async_pinned", false, "WAR!", async_pinned},
    {"async_on_device", false, "RAW!", async_on_device},
    {"async_on_host", false, "", async_on_host},
    {"async_managed", false, "WAR!", async_managed},
    {"free_joins", false, "RAW?R-IMPL-3", free_joins},
    {"free_in_flight", false, "FREE-IN-FLIGHT?R-IMPL-4", free_in_flight},
    {"hostfunc_accesses", false, "", hostfunc_accesses},
    {"hostfunc_and_main", false, "RAW!", hostfunc_and_main},
    {"hostfuncs_apart", false, "WAW!", hostfuncs_apart},
};
#define CASES (sizeof cases / sizeof cases[0])

static void outcome_of(const struct rule_case *rule_case, uint32_t mutant, struct strbuf *text)
{
    struct trace t;
    t_init(&t);
    memories(&t);
    rule_case->build(&t);
    struct engine_options options = {
        .threads = rule_case->strict ? THREADS_STRICT : THREADS_OBSERVED, .mutant = mutant};
    struct ssan_error err = {0};
    struct engine *engine = t_run(&t, &options, &err);
    if (!engine) {
        fail_msg("%s: %s", rule_case->name, err.text);
    }
    size_t count = 0;
    const struct hazard *hazards = engine_hazards(engine, &count);
    strbuf_clear(text);
    for (size_t i = 0; i < count; i++) {
        const struct hazard *hazard = &hazards[i];
        static const char marks[] = {'.', '?', '!'};
        strbuf_printf(text, "%s%s%c%s", i > 0 ? " " : "",
                      check_info(hazard->check)->id + strlen("SSAN-"), marks[hazard->severity],
                      hazard->ordered_by ? hazard->ordered_by : "");
    }
    engine_destroy(engine);
    t_finish(&t);
}

static void test_outcomes(void **state)
{
    (void)state;
    struct strbuf text = {0};
    for (size_t i = 0; i < CASES; i++) {
        outcome_of(&cases[i], 0, &text);
        if (strcmp(strbuf_text(&text), cases[i].outcome) != 0) {
            fail_msg("%s: expected [%s], got [%s]", cases[i].name, cases[i].outcome,
                     strbuf_text(&text));
        }
    }
    strbuf_finish(&text);
}

static const struct rule_case *find_case(const char *name)
{
    for (size_t i = 0; i < CASES; i++) {
        if (strcmp(cases[i].name, name) == 0) {
            return &cases[i];
        }
    }
    return NULL;
}

/* A rule without code says why; one with code names a case, and its mutant changes that case's
 * outcome. */
static void test_mutants(void **state)
{
    (void)state;
    struct strbuf text = {0};
    unsigned killed = 0;
    for (uint32_t rule = 1; rule < ORDER_COUNT; rule++) {
        const struct order_info *info = order_info(rule);
        assert_non_null(info);
        if (!info->has_code) {
            assert_string_equal(info->test, "");
            assert_true(strlen(info->why) > 0);
            continue;
        }
        const struct rule_case *rule_case = find_case(info->test);
        if (!rule_case) {
            fail_msg("%s names no case: %s", info->id, info->test);
        }
        outcome_of(rule_case, rule, &text);
        if (strcmp(strbuf_text(&text), rule_case->outcome) == 0) {
            fail_msg("mutant %u (%s) survives %s: [%s]", rule, info->id, info->test,
                     strbuf_text(&text));
        }
        killed++;
    }
    strbuf_finish(&text);
    print_message("%u mutants killed, %zu cases\n", killed, CASES);
}

/* The N-th allocation fails, for every N of every case: the status says so, and nothing leaks (the
 * asan preset looks). */
static void test_out_of_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        const struct engine_options options = {.threads = cases[i].strict ? THREADS_STRICT
                                                                          : THREADS_OBSERVED};
        struct trace t;
        t_init(&t);
        memories(&t);
        cases[i].build(&t);
        for (uint64_t nth = 1;; nth++) {
            struct ssan_error err = {0};
            mem_fail_at(nth);
            struct engine *survivor = t_run(&t, &options, &err);
            bool all = mem_count() < nth;
            mem_fail_at(0);
            engine_destroy(survivor);
            if (all) {
                assert_non_null(survivor);
                break;
            }
            if (err.status != SSAN_NO_MEMORY && err.status != SSAN_OK) {
                fail_msg("%s, allocation %d: %s", cases[i].name, (int)nth, err.text);
            }
        }
        t_finish(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_mutants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
