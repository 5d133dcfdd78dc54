/* trace: events of every kind come back the same from a live trace, a kept one and a listing. */
#include "unit/trace_files.h"
#include "unit/trace_random.h"

#include "base/strbuf.h"
#include "trace/listing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { EACH = 60, EVENTS = EACH * (SSAN_EV_count - 1) };

static struct ssan_event events[EVENTS];
static struct arena arena;

static void make_events(uint64_t seed)
{
    struct rng rng = {seed};
    printf("seed %llu, %d events of each of %d kinds\n", (unsigned long long)seed, EACH,
           SSAN_EV_count - 1);
    for (size_t i = 0; i < EVENTS; i++) {
        events[i] = random_event(&rng, &arena, 1 + (uint32_t)(i % (SSAN_EV_count - 1)));
    }
}

/* Reads all events twice, the second time after a rewind. */
static void expect_events(struct reader *reader)
{
    struct ssan_source *source = reader_source(reader);
    struct ssan_error err = {0};
    struct ssan_event event;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < EVENTS; i++) {
            enum ssan_next got = ssan_next(source, &event, &err);
            if (got != SSAN_NEXT_EVENT) {
                fail_msg("event %zu: answer %d, %s", i, (int)got, err.text);
            }
            assert_true(event_equal(&event, &events[i]));
        }
        assert_int_equal(ssan_next(source, &event, &err), SSAN_NEXT_END);
        assert_int_equal(ssan_next(source, &event, &err), SSAN_NEXT_END);
        assert_true(source->rewind(source));
    }
}

static void live_traces_give_what_was_put(void **state)
{
    struct files files;
    struct reader *reader;
    files_init(&files);
    struct writer *writer = writer_create(files.directory, 0, 0, NULL);
    assert_non_null(writer);
    for (size_t i = 0; i < EVENTS; i++) {
        ssan_put(writer_sink(writer), &events[i]);
    }
    assert_int_equal(reader_open(&reader, files_live(&files, getpid()), NULL), SSAN_OK);
    struct ssan_event event;
    struct ssan_error err;
    for (size_t i = 0; i < EVENTS; i++) {
        assert_int_equal(ssan_next(reader_source(reader), &event, &err), SSAN_NEXT_EVENT);
    }
    assert_int_equal(ssan_next(reader_source(reader), &event, &err), SSAN_NEXT_WAIT);
    assert_true(reader_source(reader)->rewind(reader_source(reader)));
    writer_finish(writer);
    ssan_put(writer_sink(writer), &events[0]);
    expect_events(reader);
    reader_close(reader);
    files_finish(&files);
}

static void kept_traces_give_what_was_put(void **state)
{
    struct files files;
    struct reader *reader;
    files_init(&files);
    const char *path = files_path(&files, "kept");
    files_keep(path, events, EVENTS, true);
    assert_int_equal(reader_open(&reader, path, NULL), SSAN_OK);
    expect_events(reader);
    reader_close(reader);
    files_keep(path, events, EVENTS, false);
    struct outcome outcome = files_outcome(path, events, EVENTS);
    assert_int_equal(outcome.end, SSAN_NEXT_CUT);
    assert_int_equal(outcome.events, EVENTS);
    files_finish(&files);
}

static void listings_give_what_was_printed(void **state)
{
    struct files files;
    struct reader *reader;
    struct strbuf text = {0};
    struct ssan_error err = {0};
    files_init(&files);
    strbuf_puts(&text, LISTING_FIRST_LINE "\n");
    for (size_t i = 0; i < EVENTS; i++) {
        listing_print(&text, &events[i]);
    }
    assert_false(text.failed);
    if (reader_open_listing(&reader, "memory", text.text, text.length, &err) != SSAN_OK) {
        fail_msg("%s", err.text);
    }
    expect_events(reader);
    assert_int_equal(reader_position(reader), 0);
    assert_int_equal(reader_bytes(reader), text.length);
    reader_close(reader);
    const char *path = files_path(&files, "listing");
    files_write(path, text.text, text.length);
    assert_int_equal(reader_open(&reader, path, NULL), SSAN_OK);
    expect_events(reader);
    reader_close(reader);
    strbuf_finish(&text);
    files_finish(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(live_traces_give_what_was_put),
        cmocka_unit_test(kept_traces_give_what_was_put),
        cmocka_unit_test(listings_give_what_was_printed),
    };
    make_events(1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_finish(&arena);
    return failed;
}
