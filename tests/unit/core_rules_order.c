/* Traces of the rules that order streams, events, joins, host threads and host functions. */
#include "core_rules.h"

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
    {"hostfunc_accesses", false, "", hostfunc_accesses},
    {"hostfunc_and_main", false, "RAW!", hostfunc_and_main},
    {"hostfuncs_apart", false, "WAW!", hostfuncs_apart},
};
const struct rule_cases rule_cases_order = {cases, sizeof cases / sizeof *cases};
