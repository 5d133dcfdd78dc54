/* trace: cut, damaged and foreign files. Never a crash, never the end of a whole trace where
 * something is missing. */
#include "unit/trace_files.h"
#include "unit/trace_random.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "trace/keeper.h"
#include "trace/format.h"
#include "trace/listing.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { EVENTS = 60, FLIPS = 4000 };

static struct ssan_event events[EVENTS];
static struct arena arena;

/* A live trace of the events by a process that has ended; finished or cut. */
static unsigned char *make_live(const struct files *files, bool finished, size_t *length)
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct writer *writer = writer_create(files->directory, 0, 0, NULL);
        for (size_t i = 0; writer && i < EVENTS; i++) {
            ssan_put(writer_sink(writer), &events[i]);
        }
        if (writer && finished) {
            writer_finish(writer);
        }
        _exit(writer ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    return files_read(files_live(files, pid), length);
}

static uint64_t live_total(const unsigned char *bytes)
{
    struct live_header header;
    memcpy(&header, bytes, sizeof header);
    return header.total;
}

/* Checks what reading a damaged file came to; how the reading ended goes into `ends`. */
static void expect_no_end(const struct outcome *outcome, uint64_t *ends)
{
    if (outcome->opened != SSAN_OK) {
        assert_true(outcome->opened == SSAN_FORMAT || outcome->opened == SSAN_VERSION ||
                    outcome->opened == SSAN_TRUNCATED);
        assert_true(outcome->error.text[0] != '\0');
        ends[0]++;
        return;
    }
    assert_true(outcome->end == SSAN_NEXT_CUT || outcome->end == SSAN_NEXT_ERROR);
    if (outcome->end == SSAN_NEXT_ERROR) {
        assert_true(outcome->error.status == SSAN_FORMAT);
        assert_true(outcome->error.text[0] != '\0');
    }
    ends[outcome->end == SSAN_NEXT_CUT ? 1 : 2]++;
}

static void print_ends(const char *what, const uint64_t *ends)
{
    printf("%s: %llu not opened, %llu cut, %llu errors\n", what, (unsigned long long)ends[0],
           (unsigned long long)ends[1], (unsigned long long)ends[2]);
}

static void a_kept_trace_cut_at_any_byte_is_cut(void **state)
{
    struct files files;
    size_t length;
    uint64_t ends[3] = {0};
    files_init(&files);
    const char *path = files_path(&files, "kept");
    files_keep(path, events, EVENTS, true);
    unsigned char *bytes = files_read(path, &length);
    for (size_t cut = 0; cut < length; cut++) {
        files_write(path, bytes, cut);
        struct outcome outcome = files_outcome(path, events, EVENTS);
        expect_no_end(&outcome, ends);
        assert_true(outcome.opened != SSAN_OK || outcome.end == SSAN_NEXT_CUT);
        assert_true(outcome.events == 0 || outcome.events == EVENTS);
    }
    print_ends("kept, cut", ends);
    free(bytes);
    files_finish(&files);
}

static void a_live_trace_cut_at_any_byte_is_cut(void **state)
{
    struct files files;
    size_t length;
    uint64_t ends[3] = {0};
    files_init(&files);
    unsigned char *bytes = make_live(&files, true, &length);
    uint64_t total = live_total(bytes);
    const char *path = files_path(&files, "cut");
    files_write(path, bytes, length);
    struct outcome outcome = files_outcome(path, events, EVENTS);
    assert_int_equal(outcome.end, SSAN_NEXT_END);
    assert_int_equal(outcome.events, EVENTS);
    uint64_t before = EVENTS;
    for (size_t cut = (size_t)total; cut-- > 0;) {
        assert_int_equal(truncate(path, (off_t)cut), 0);
        outcome = files_outcome(path, events, EVENTS);
        expect_no_end(&outcome, ends);
        assert_true(outcome.opened != SSAN_OK || outcome.end == SSAN_NEXT_CUT);
        assert_true(outcome.events <= before && before - outcome.events <= 1);
        before = outcome.opened == SSAN_OK ? outcome.events : 0;
    }
    print_ends("live, cut", ends);
    free(bytes);
    files_finish(&files);
}

static void a_changed_byte_of_a_kept_trace_is_noticed(void **state)
{
    struct files files;
    size_t length;
    struct rng rng = {30};
    uint64_t ends[3] = {0};
    printf("seed %llu\n", (unsigned long long)rng.state);
    files_init(&files);
    const char *path = files_path(&files, "kept");
    files_keep(path, events, EVENTS, true);
    unsigned char *bytes = files_read(path, &length);
    for (size_t flip = 0; flip < FLIPS; flip++) {
        size_t at = flip < length ? flip : rng_below(&rng, length);
        unsigned char change = (unsigned char)(1 + rng_below(&rng, 255));
        bytes[at] ^= change;
        files_write(path, bytes, length);
        bytes[at] ^= change;
        struct outcome outcome = files_outcome(path, events, EVENTS);
        expect_no_end(&outcome, ends);
    }
    print_ends("kept, changed", ends);
    free(bytes);
    files_finish(&files);
}

/* A record that doesn't fit its commit word is lost. In the header some bytes mean nothing to the
 * reader. */
static void a_changed_byte_of_a_live_trace_is_noticed(void **state)
{
    struct files files;
    size_t length;
    struct rng rng = {31};
    files_init(&files);
    for (int finished = 0; finished < 2; finished++) {
        unsigned char *bytes = make_live(&files, finished, &length);
        size_t used = finished ? (size_t)live_total(bytes) : sizeof(struct live_header) + 8192;
        const char *path = files_path(&files, "changed");
        uint64_t ends[SSAN_NEXT_ERROR + 1] = {0}, unopened = 0;
        for (int flip = 0; flip < FLIPS; flip++) {
            size_t at = flip < 100 ? (size_t)flip : rng_below(&rng, used);
            unsigned char change = (unsigned char)(1 + rng_below(&rng, 255));
            bytes[at] ^= change;
            files_write(path, bytes, used);
            bytes[at] ^= change;
            struct outcome outcome = files_outcome(path, NULL, 0);
            if (outcome.opened != SSAN_OK) {
                assert_true(outcome.error.text[0] != '\0');
                unopened++;
                continue;
            }
            assert_true(outcome.end != SSAN_NEXT_WAIT && outcome.end != SSAN_NEXT_EVENT);
            assert_true(finished || outcome.end != SSAN_NEXT_END);
            assert_true(at < sizeof(struct live_header) || outcome.end != SSAN_NEXT_END ||
                        outcome.lost > 0);
            ends[outcome.end]++;
        }
        printf("live, changed: %llu not opened, %llu ended, %llu cut, %llu errors\n",
               (unsigned long long)unopened, (unsigned long long)ends[SSAN_NEXT_END],
               (unsigned long long)ends[SSAN_NEXT_CUT], (unsigned long long)ends[SSAN_NEXT_ERROR]);
        free(bytes);
    }
    files_finish(&files);
}

/* A record overwritten with zeros is a hole: told as lost, and the rest is read. */
static void a_hole_is_counted_and_stepped_over(void **state)
{
    struct files files;
    size_t length;
    files_init(&files);
    unsigned char *bytes = make_live(&files, true, &length);
    struct record_head first;
    memcpy(&first, bytes + sizeof(struct live_header), sizeof first);
    const char *path = files_path(&files, "hole");
    memset(bytes + sizeof(struct live_header) + first.size - RECORD_COMMIT, 0, RECORD_COMMIT);
    files_write(path, bytes, length);
    struct outcome outcome = files_outcome(path, events + 1, EVENTS - 1);
    assert_int_equal(outcome.end, SSAN_NEXT_END);
    assert_int_equal(outcome.events, EVENTS - 1);
    assert_int_equal(outcome.lost, 1);
    free(bytes);
    files_finish(&files);
}

static void expect_not_opened(const char *path, enum ssan_status status, const char *text)
{
    struct outcome outcome = files_outcome(path, NULL, 0);
    if (outcome.opened != status || !strstr(outcome.error.text, text)) {
        fail_msg("%s, %s", ssan_status_name(outcome.opened), outcome.error.text);
    }
}

static void foreign_files_are_refused(void **state)
{
    struct files files;
    size_t length;
    files_init(&files);
    const char *path = files_path(&files, "file");
    static const unsigned char zeros[100000];
    files_write(path, zeros, 0);
    expect_not_opened(path, SSAN_FORMAT, "is empty");
    files_write(path, zeros, sizeof zeros);
    expect_not_opened(path, SSAN_FORMAT, "is not a trace");
    files_write(path, "int main(void) { return 0; }\n", 29);
    expect_not_opened(path, SSAN_FORMAT, LISTING_FIRST_LINE);
    expect_not_opened(files.directory, SSAN_IO, "directory");
    expect_not_opened("/no/such/trace", SSAN_IO, "/no/such/trace");

    files_keep(path, events, EVENTS, true);
    unsigned char *bytes = files_read(path, &length);
    bytes[offsetof(struct kept_header, version)] = 9;
    files_write(path, bytes, length);
    expect_not_opened(path, SSAN_VERSION, "record it again");
    free(bytes);
    bytes = make_live(&files, true, &length);
    bytes[offsetof(struct live_header, version)] = 0;
    files_write(path, bytes, length);
    expect_not_opened(path, SSAN_VERSION, "record it again");
    bytes[offsetof(struct live_header, version)] = SSAN_TRACE_VERSION;
    bytes[offsetof(struct live_header, vocabulary)] ^= 1;
    files_write(path, bytes, length);
    expect_not_opened(path, SSAN_VERSION, "another build");
    free(bytes);
    files_finish(&files);
}

/* A header and nothing, a terabyte of it: cut, at once. */
static void a_sparse_file_is_cut_at_once(void **state)
{
    struct files files;
    size_t length;
    files_init(&files);
    unsigned char *bytes = make_live(&files, false, &length);
    const char *path = files_path(&files, "sparse");
    files_write(path, bytes, sizeof(struct live_header));
    assert_int_equal(truncate(path, INT64_C(1) << 40), 0);
    struct outcome outcome = files_outcome(path, NULL, 0);
    assert_int_equal(outcome.opened, SSAN_OK);
    assert_int_equal(outcome.end, SSAN_NEXT_CUT);
    assert_int_equal(outcome.events, 0);
    free(bytes);
    files_finish(&files);
}

/* Keeps and reads every form with the N-th allocation failing, for each N until none fails any
 * more. */
static void every_allocation_may_fail(void **state)
{
    struct files files;
    struct strbuf text = {0};
    size_t length;
    files_init(&files);
    const char *kept = files_path(&files, "kept"), *live = files_path(&files, "live");
    const char *listing = files_path(&files, "listing");
    unsigned char *bytes = make_live(&files, true, &length);
    files_write(live, bytes, length);
    strbuf_puts(&text,
                LISTING_FIRST_LINE "\nalloc alloc=1 at=\"a.cu:1\"\nfree alloc=1 at=\"a.cu:2 f\"\n");
    for (size_t i = 0; i < EVENTS; i++) {
        listing_print(&text, &events[i]);
    }
    files_write(listing, text.text, text.length);
    const char *paths[] = {kept, live, listing};
    bool done = false;
    for (uint64_t nth = 1; !done; nth++) {
        struct keeper *keeper;
        mem_fail_at(nth);
        enum ssan_status status = keeper_open(&keeper, kept, NULL);
        if (status == SSAN_OK) {
            for (size_t i = 0; i < EVENTS; i++) {
                keeper_put(keeper, &events[i]);
            }
            status = keeper_close(keeper, true, NULL);
        }
        done = mem_count() < nth;
        mem_fail_at(0);
        assert_int_equal(status, done ? SSAN_OK : SSAN_NO_MEMORY);
    }
    for (size_t form = 0; form < sizeof paths / sizeof *paths; form++) {
        uint64_t nth = 1;
        for (done = false; !done; nth++) {
            mem_fail_at(nth);
            struct outcome outcome = files_outcome(paths[form], NULL, 0);
            done = mem_count() < nth;
            mem_fail_at(0);
            bool failed = outcome.opened != SSAN_OK || outcome.end == SSAN_NEXT_ERROR;
            assert_int_equal(failed, !done);
            assert_true(!failed || outcome.error.status == SSAN_NO_MEMORY);
            assert_true(failed || outcome.end == SSAN_NEXT_END);
        }
        printf("%s: %llu allocations\n", paths[form] + strlen(files.directory) + 1,
               (unsigned long long)nth - 2);
    }
    strbuf_finish(&text);
    free(bytes);
    files_finish(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kept_trace_cut_at_any_byte_is_cut),
        cmocka_unit_test(a_live_trace_cut_at_any_byte_is_cut),
        cmocka_unit_test(a_changed_byte_of_a_kept_trace_is_noticed),
        cmocka_unit_test(a_changed_byte_of_a_live_trace_is_noticed),
        cmocka_unit_test(a_hole_is_counted_and_stepped_over),
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(a_sparse_file_is_cut_at_once),
        cmocka_unit_test(every_allocation_may_fail),
    };
    struct rng rng = {32};
    for (size_t i = 0; i < EVENTS; i++) {
        do {
            events[i] = random_event(&rng, &arena, 0);
        } while (events[i].kind == SSAN_EV_lost); /* those that are seen are the reader's */
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_finish(&arena);
    return failed;
}
