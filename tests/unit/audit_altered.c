/* Traces that are changed on the way stay traces: ids dense, positions kept where they must be. */
#include "audit_listing.h"

#include "audit/altered.h"
#include "trace/listing.h"

/* The altered listing of a listing, without its first lines up to the process. */
static char *altered_text(struct listing *l, unsigned what, const struct map *blocking)
{
    struct reader *reader = NULL;
    struct altered altered;
    struct strbuf out = {0};
    struct ssan_event event;
    struct ssan_error err = {0};
    assert_int_equal(
        reader_open_listing(&reader, "listing", strbuf_text(&l->text), l->text.length, &err),
        SSAN_OK);
    altered_init(&altered, reader_source(reader), what, blocking);
    for (int pass = 0; pass < 2; pass++) { /* a second reading gives the same */
        char *first = strbuf_take(&out);
        assert_true(altered.source.rewind(&altered.source));
        while (ssan_next(&altered.source, &event, &err) == SSAN_NEXT_EVENT) {
            if (event.kind != SSAN_EV_site && event.kind != SSAN_EV_line &&
                event.kind != SSAN_EV_process) {
                listing_print(&out, &event);
            }
        }
        assert_int_equal(err.status, SSAN_OK);
        if (pass == 1) {
            assert_string_equal(first, strbuf_text(&out));
        }
        mem_free(first);
    }
    assert_true(altered.source.rewind(&altered.source));
    engine_destroy(judged(&altered.source)); /* and an engine takes it */
    altered_finish(&altered);
    reader_close(reader);
    strbuf_finish(&l->text);
    return strbuf_take(&out);
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part)) {
        fail_msg("no '%s' in\n%s", part, text);
    }
}

static void streams_lose_the_barrier(void **state)
{
    struct listing l;
    char *text;
    (void)state;
    l_begin(&l);
    l_line(&l, "stream_create stream=1 context=1 flavour=blocking thread=1");
    l_line(&l, "stream_create stream=2 context=1 flavour=legacy thread=1");
    text = altered_text(&l, ALTER_NON_BLOCKING, NULL);
    has(text, "stream=1 context=1 flavour=non-blocking");
    has(text, "stream=2 context=1 flavour=legacy");
    mem_free(text);
    l_begin(&l);
    l_line(&l, "stream_create stream=1 context=1 flavour=legacy thread=1");
    text = altered_text(&l, ALTER_NO_LEGACY, NULL);
    has(text, "stream=1 context=1 flavour=non-blocking");
    mem_free(text);
    l_begin(&l);
    l_line(&l, "stream_create stream=1 context=1 flavour=legacy thread=1");
    text = altered_text(&l, ALTER_LEGACY_APART, NULL);
    has(text, "stream=1 context=1025 flavour=legacy");
    mem_free(text);
}

/* Two threads on the legacy stream get two streams, made where they are first used; one that the
 * trace makes itself later is the same, and streams behind move up. */
static void calls_go_to_their_threads(void **state)
{
    struct listing l;
    char *text;
    (void)state;
    l_begin(&l);
    l_line(&l, "stream_create stream=1 context=1 flavour=legacy thread=1");
    l_line(&l, "op op=1 stream=1 kind=kernel name=\"k\" thread=1");
    l_line(&l, "op_closed op=1");
    l_line(&l, "op op=2 stream=1 kind=kernel name=\"k\" thread=2");
    l_line(&l, "op_closed op=2");
    l_line(&l, "stream_create stream=2 context=1 flavour=non-blocking thread=1");
    l_line(&l, "stream_create stream=3 context=1 flavour=per-thread owner=2 thread=2");
    l_line(&l, "name object=stream id=2 text=\"mine\"");
    l_line(&l, "op op=3 stream=2 kind=kernel name=\"k\" thread=1");
    l_line(&l, "op_closed op=3");
    l_line(&l, "op op=4 stream=3 kind=kernel name=\"k\" thread=2");
    l_line(&l, "op_closed op=4");
    l_line(&l, "sync sync=1 kind=stream object=1 thread=3");
    l_line(&l, "sync_return sync=1 ok=1");
    l_line(&l, "stream_destroy stream=2 thread=1");
    text = altered_text(&l, ALTER_PER_THREAD, NULL);
    has(text, "stream_create stream=2 context=1 flavour=per-thread owner=1");
    has(text, "op op=1 stream=2 ");
    has(text, "stream_create stream=3 context=1 flavour=per-thread owner=2");
    has(text, "op op=2 stream=3 ");
    has(text, "stream_create stream=4 context=1 flavour=non-blocking");
    has(text, "name object=stream id=4 text=\"mine\"");
    has(text, "op op=3 stream=4 ");
    has(text, "op op=4 stream=3 ");
    has(text, "stream_create stream=5 context=1 flavour=per-thread owner=3");
    has(text, "sync sync=1 kind=stream object=5");
    has(text, "stream_destroy stream=4");
    mem_free(text);
}

static void device_joins_go(void **state)
{
    struct listing l;
    char *text;
    (void)state;
    l_begin(&l);
    l_world(&l, 1, 0);
    l_kernel(&l, 1, "write", 0x10000, 10);
    l_sync(&l, "device", 1, "cudaDeviceSynchronize", 11);
    l_sync(&l, "stream", 1, "cudaStreamSynchronize", 12);
    text = altered_text(&l, ALTER_NO_DEVICE, NULL);
    assert_null(strstr(text, "kind=device"));
    has(text, "sync sync=1 kind=stream");
    has(text, "sync_return sync=1 ");
    mem_free(text);
}

static void returns_go(void **state)
{
    struct listing l;
    struct map blocking = {0};
    char *text;
    (void)state;
    l_begin(&l);
    l_world(&l, 1, 0);
    for (unsigned op = 1; op <= 2; op++) {
        l_line(&l,
               "op op=%u stream=1 kind=memset call=\"cudaMemset\" dst=0x10000 width=64 height=1 "
               "dst_pitch=64 thread=1",
               op);
        l_line(&l, "op_closed op=%u", op);
        l_line(&l, "op_return op=%u", op);
    }
    assert_true(map_set(&blocking, 1, 1));
    text = altered_text(&l, ALTER_NO_BLOCKING, &blocking);
    assert_null(strstr(text, "op_return op=1"));
    has(text, "op_return op=2");
    mem_free(text);
    map_finish(&blocking);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_lose_the_barrier),
        cmocka_unit_test(calls_go_to_their_threads),
        cmocka_unit_test(device_joins_go),
        cmocka_unit_test(returns_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
