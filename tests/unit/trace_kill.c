/* trace: a writer that is killed loses nothing that was committed, and its trace ends as cut.
 *
 * Each point forks a writer that kills itself as its k-th record is committed; with one thread
 * exactly k records must be there, with several at least k and of each thread an unbroken
 * beginning. */
#include "unit/trace_files.h"
#include "unit/trace_random.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { POINTS = 200, MOST_RECORDS = 3000, MAX_THREADS = 3, FOLLOWED = 10 };

struct job {
    struct writer *writer;
    uint32_t thread;
};

static void *write_until_killed(void *argument)
{
    const struct job *job = argument;
    for (uint64_t number = 0;; number++) {
        struct ssan_event event = numbered_event(job->thread, number);
        ssan_put(writer_sink(job->writer), &event);
    }
    return NULL;
}

/* The child's whole life. */
static void be_writer(const struct files *files, uint64_t kill_after, int threads)
{
    struct writer *writer = writer_create(files->directory, 0, kill_after, NULL);
    struct job jobs[MAX_THREADS];
    pthread_t ids[MAX_THREADS];
    if (!writer) {
        _exit(1);
    }
    for (int i = 0; i < threads; i++) {
        jobs[i] = (struct job){writer, (uint32_t)i + 1};
        if (i > 0 && pthread_create(&ids[i], NULL, write_until_killed, &jobs[i]) != 0) {
            _exit(2);
        }
    }
    write_until_killed(&jobs[0]);
}

static pid_t start_writer(const struct files *files, uint64_t kill_after, int threads)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        be_writer(files, kill_after, threads);
        _exit(3);
    }
    return pid;
}

static void expect_killed(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Reads to a cut; how many events there were. Holes are allowed where several threads wrote. */
static uint64_t expect_unbroken(struct reader *reader, int threads)
{
    uint64_t next[MAX_THREADS + 1] = {0}, events = 0, holes = 0;
    struct ssan_event event;
    struct ssan_error err;
    enum ssan_next got;
    while ((got = ssan_next(reader_source(reader), &event, &err)) == SSAN_NEXT_EVENT) {
        uint32_t thread;
        uint64_t number;
        if (event.kind == SSAN_EV_lost) {
            holes += event.lost.count;
            continue;
        }
        assert_true(is_numbered(&event, &thread, &number));
        assert_true(thread >= 1 && thread <= (uint32_t)threads);
        assert_int_equal(number, next[thread]);
        next[thread]++;
        events++;
    }
    assert_int_equal(got, SSAN_NEXT_CUT);
    assert_true(holes < (uint64_t)threads);
    return events;
}

static void every_committed_record_is_read(void **state)
{
    struct rng rng = {20};
    printf("seed %llu, %d points\n", (unsigned long long)rng.state, POINTS);
    for (int point = 0; point < POINTS; point++) {
        struct files files;
        struct reader *reader;
        uint64_t kill_after = 1 + rng_below(&rng, MOST_RECORDS);
        int threads = 1 + (point % 2 ? (int)rng_below(&rng, MAX_THREADS) : 0);
        files_init(&files);
        pid_t pid = start_writer(&files, kill_after, threads);
        expect_killed(pid);
        assert_int_equal(reader_open(&reader, files_live(&files, pid), NULL), SSAN_OK);
        uint64_t events = expect_unbroken(reader, threads);
        assert_true(threads == 1 ? events == kill_after : events >= kill_after);
        assert_true(reader_source(reader)->rewind(reader_source(reader)));
        assert_int_equal(expect_unbroken(reader, threads), events);
        reader_close(reader);
        files_finish(&files);
    }
}

/* Follows a live writer, giving back what was read, and kills it from outside in the middle. */
static void a_followed_writer_that_is_killed_ends_as_cut(void **state)
{
    for (int round = 0; round < FOLLOWED; round++) {
        struct files files;
        struct reader *reader = NULL;
        struct ssan_event event;
        struct ssan_error err;
        files_init(&files);
        pid_t pid = start_writer(&files, 0, 1 + round % MAX_THREADS);
        while (reader_open(&reader, files_live(&files, pid), &err) != SSAN_OK) {
            sched_yield();
        }
        uint64_t seen = 0, waits = 0;
        bool killed = false;
        enum ssan_next got;
        while ((got = ssan_next(reader_source(reader), &event, &err)) == SSAN_NEXT_EVENT ||
               got == SSAN_NEXT_WAIT) {
            seen += got == SSAN_NEXT_EVENT && event.kind != SSAN_EV_lost;
            waits += got == SSAN_NEXT_WAIT;
            if (seen % 500 == 499) {
                reader_release(reader);
            }
            if (!killed && seen >= 3000 + (uint64_t)round * 100) {
                kill(pid, SIGKILL);
                killed = true;
            }
        }
        assert_int_equal(got, SSAN_NEXT_CUT);
        assert_true(killed);
        expect_killed(pid);
        assert_false(reader_source(reader)->rewind(reader_source(reader)));
        reader_close(reader);
        files_finish(&files);
        printf("round %d: %llu events followed, waited %llu times\n", round,
               (unsigned long long)seen, (unsigned long long)waits);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_committed_record_is_read),
        cmocka_unit_test(a_followed_writer_that_is_killed_ends_as_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
