/* trace: several threads, forks, limits, full disks: the writer counts what it can't write and
 * harms nobody. */
#include "unit/trace_files.h"
#include "unit/trace_random.h"

#include "trace/keeper.h"
#include "trace/format.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 4, EACH = 4000, CHUNKS_ALLOWED = 2, MANY = 6000 };

struct job {
    struct writer *writer;
    uint32_t thread;
};

static void *write_all(void *argument)
{
    const struct job *job = argument;
    for (uint64_t number = 0; number < EACH; number++) {
        struct ssan_event event = numbered_event(job->thread, number);
        ssan_put(writer_sink(job->writer), &event);
    }
    return NULL;
}

static void threads_are_followed_to_the_end(void **state)
{
    struct files files;
    struct reader *reader;
    struct job jobs[THREADS];
    pthread_t ids[THREADS];
    uint64_t next[THREADS + 1] = {0}, events = 0;
    files_init(&files);
    struct writer *writer = writer_create(files.directory, 0, 0, NULL);
    assert_non_null(writer);
    assert_int_equal(reader_open(&reader, files_live(&files, getpid()), NULL), SSAN_OK);
    for (uint32_t i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){writer, i + 1};
        assert_int_equal(pthread_create(&ids[i], NULL, write_all, &jobs[i]), 0);
    }
    while (events < THREADS * EACH) {
        struct ssan_event event;
        struct ssan_error err;
        uint32_t thread;
        uint64_t number;
        enum ssan_next got = ssan_next(reader_source(reader), &event, &err);
        if (got == SSAN_NEXT_WAIT) {
            sched_yield();
            continue;
        }
        assert_int_equal(got, SSAN_NEXT_EVENT);
        assert_true(is_numbered(&event, &thread, &number));
        assert_int_equal(number, next[thread]);
        next[thread]++;
        if (++events % 1000 == 0) {
            reader_release(reader);
        }
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
    }
    struct ssan_event event;
    assert_int_equal(ssan_next(reader_source(reader), &event, NULL), SSAN_NEXT_WAIT);
    writer_finish(writer);
    assert_int_equal(ssan_next(reader_source(reader), &event, NULL), SSAN_NEXT_END);
    struct stat file;
    assert_int_equal(stat(files_live(&files, getpid()), &file), 0);
    printf("%llu events in %lld bytes, of which %lld are held\n", (unsigned long long)events,
           (long long)file.st_size, (long long)file.st_blocks * 512);
    assert_true((uint64_t)file.st_blocks * 512 <= 3 * LIVE_CHUNK);
    reader_close(reader);
    files_finish(&files);
}

static void put_numbers(struct writer *writer, uint64_t from, uint64_t to)
{
    for (uint64_t number = from; number < to; number++) {
        struct ssan_event event = numbered_event(1, number);
        ssan_put(writer_sink(writer), &event);
    }
}

/* Reads numbered events of thread 1 from 0 on; all that are missing must be counted. */
static void expect_numbers(const char *path, uint64_t count, uint64_t least)
{
    struct reader *reader;
    struct ssan_event event;
    struct ssan_error err;
    enum ssan_next got;
    uint64_t seen = 0, lost = 0;
    assert_int_equal(reader_open(&reader, path, NULL), SSAN_OK);
    while ((got = ssan_next(reader_source(reader), &event, &err)) == SSAN_NEXT_EVENT) {
        uint32_t thread;
        uint64_t number;
        if (event.kind == SSAN_EV_lost) {
            lost += event.lost.count;
            continue;
        }
        assert_true(is_numbered(&event, &thread, &number));
        assert_int_equal(number, seen);
        seen++;
    }
    assert_int_equal(got, SSAN_NEXT_END);
    assert_int_equal(seen + lost, count);
    assert_true(seen >= least);
    reader_close(reader);
}

static void a_forked_child_writes_nothing(void **state)
{
    struct files files;
    files_init(&files);
    struct writer *writer = writer_create(files.directory, 0, 0, NULL);
    assert_non_null(writer);
    put_numbers(writer, 0, 100);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        put_numbers(writer, 500, 600);
        writer_finish(writer);
        struct writer *own = writer_create(files.directory, 0, 0, NULL);
        if (own) {
            put_numbers(own, 0, 50);
            writer_finish(own);
        }
        _exit(own ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    put_numbers(writer, 100, 200);
    writer_finish(writer);
    expect_numbers(files_live(&files, getpid()), 200, 200);
    expect_numbers(files_live(&files, pid), 50, 50);
    files_finish(&files);
}

static void a_second_trace_of_a_pid_gets_its_own_name(void **state)
{
    struct files files;
    char name[40];
    files_init(&files);
    struct writer *first = writer_create(files.directory, 0, 0, NULL);
    struct writer *second = writer_create(files.directory, 0, 0, NULL);
    assert_true(first && second);
    put_numbers(first, 0, 3);
    put_numbers(second, 0, 5);
    writer_finish(first);
    writer_finish(second);
    expect_numbers(files_live(&files, getpid()), 3, 3);
    snprintf(name, sizeof name, "%ld.1.live", (long)getpid());
    expect_numbers(files_path(&files, name), 5, 5);
    files_finish(&files);
}

static void a_limit_is_kept_and_losses_are_counted(void **state)
{
    const uint64_t limits[] = {1, 65536, sizeof(struct live_header) + CHUNKS_ALLOWED * LIVE_CHUNK};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct files files;
        struct stat file;
        files_init(&files);
        struct writer *writer = writer_create(files.directory, limits[i], 0, NULL);
        assert_non_null(writer);
        put_numbers(writer, 0, MANY);
        writer_finish(writer);
        const char *path = files_live(&files, getpid());
        assert_int_equal(stat(path, &file), 0);
        assert_true((uint64_t)file.st_size <= limits[i] || file.st_size == 4096);
        expect_numbers(path, MANY, limits[i] > LIVE_CHUNK ? 100 : 0);
        files_finish(&files);
    }
}

/* What is behind the chunk that was open when the tool ended is counted, not written. */
static void nothing_is_written_for_a_tool_that_has_gone(void **state)
{
    struct files files;
    struct stat file;
    files_init(&files);
    pid_t tool = fork();
    assert_true(tool >= 0);
    if (tool == 0) {
        _exit(0);
    }
    assert_int_equal(waitpid(tool, NULL, 0), tool);
    struct writer *writer = writer_create(files.directory, 0, 0, NULL);
    assert_non_null(writer);
    put_numbers(writer, 0, 100);
    writer_watch(writer, tool);
    put_numbers(writer, 100, MANY);
    writer_finish(writer);
    const char *path = files_live(&files, getpid());
    assert_int_equal(stat(path, &file), 0);
    assert_true((uint64_t)file.st_size <= sizeof(struct live_header) + LIVE_CHUNK);
    expect_numbers(path, MANY, 100);
    files_finish(&files);
}

static void a_closed_descriptor_is_found_again(void **state)
{
    struct files files;
    files_init(&files);
    const char *other = files_path(&files, "other");
    files_write(other, "x", 1);
    struct writer *writer = writer_create(files.directory, 0, 0, NULL);
    assert_non_null(writer);
    put_numbers(writer, 0, 100);
    /* As a daemon does it; then a file of the program's own takes the number. */
    for (int fd = 300; fd < 600; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) {
            close(fd);
            assert_int_equal(dup2(open(other, O_RDWR | O_CLOEXEC), fd), fd);
        }
    }
    put_numbers(writer, 100, MANY);
    writer_finish(writer);
    expect_numbers(files_live(&files, getpid()), MANY, MANY);
    struct stat file;
    assert_int_equal(stat(other, &file), 0);
    assert_int_equal(file.st_size, 1);
    files_finish(&files);
}

static void a_file_size_limit_of_the_target_raises_no_signal(void **state)
{
    struct files files;
    files_init(&files);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct rlimit limit = {3 << 20, 3 << 20};
        struct writer *writer = writer_create(files.directory, 0, 0, NULL);
        if (!writer || setrlimit(RLIMIT_FSIZE, &limit) != 0) {
            _exit(1);
        }
        put_numbers(writer, 0, MANY);
        writer_finish(writer);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    expect_numbers(files_live(&files, pid), MANY, 100);
    files_finish(&files);
}

/* Too large events are counted, too large sets are written in parts. */
static void large_events_are_counted_or_divided(void **state)
{
    enum { RUNS = 100000 };
    struct files files;
    struct reader *reader;
    struct ssan_error err;
    struct ssan_run *runs = calloc(RUNS, sizeof *runs);
    char *text = calloc(2, LIVE_CHUNK);
    assert_true(runs && text);
    for (uint64_t i = 0; i < RUNS; i++) {
        runs[i] = (struct ssan_run){i * 16, 8, 0, 1};
    }
    files_init(&files);
    struct writer *writer = writer_create(files.directory, 0, 0, NULL);
    struct ssan_event set = {.kind = SSAN_EV_set, .set = {.op = 1, .runs = {runs, RUNS}}};
    struct ssan_event name = {.kind = SSAN_EV_name, .name = {.text = {text, 2 * LIVE_CHUNK}}};
    struct ssan_event none = {.kind = SSAN_EV_none};
    ssan_put(writer_sink(writer), &set);
    ssan_put(writer_sink(writer), &name);
    ssan_put(writer_sink(writer), &none);
    writer_finish(writer);
    assert_int_equal(reader_open(&reader, files_live(&files, getpid()), NULL), SSAN_OK);
    uint64_t seen = 0, lost = 0;
    struct ssan_event event;
    enum ssan_next got;
    while ((got = ssan_next(reader_source(reader), &event, &err)) == SSAN_NEXT_EVENT) {
        if (event.kind == SSAN_EV_lost) {
            assert_int_equal(event.lost.what, SSAN_loss_OPERATIONS);
            lost += event.lost.count;
            continue;
        }
        assert_int_equal(event.kind, SSAN_EV_set);
        for (uint32_t i = 0; i < event.set.runs.count; i++) {
            assert_int_equal(event.set.runs.ptr[i].address, seen * 16);
            seen++;
        }
    }
    assert_int_equal(got, SSAN_NEXT_END);
    assert_int_equal(seen, RUNS);
    assert_int_equal(lost, 2);
    reader_close(reader);
    files_finish(&files);
    free(text);
    free(runs);
}

/* In a child with mounts of its own: a trace on a disk of `size`. The exit code: 77 when it can't
 * be had. */
static int be_writer_on(const char *directory, const char *size, uint64_t least)
{
    char options[40], file[PATH_MAX];
    struct ssan_error err = {0};
    int flags = geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
    snprintf(options, sizeof options, "size=%s", size);
    if (unshare(flags) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", directory, "tmpfs", 0, options) != 0) {
        return 77;
    }
    struct writer *writer = writer_create(directory, 0, 0, &err);
    if (!writer) {
        return 2;
    }
    put_numbers(writer, 0, MANY);
    writer_finish(writer);
    snprintf(file, sizeof file, "%s/%ld.live", directory, (long)getpid());
    expect_numbers(file, MANY, least);
    struct keeper *keeper;
    struct arena arena = {0};
    struct rng rng = {3};
    snprintf(file, sizeof file, "%s/kept", directory);
    if (keeper_open(&keeper, file, &err) != SSAN_OK) {
        return 3;
    }
    for (int i = 0; i < 4 * MANY; i++) {
        struct ssan_event event = random_event(&rng, &arena, 0);
        keeper_put(keeper, &event);
    }
    arena_finish(&arena);
    if (keeper_close(keeper, true, &err) != SSAN_FULL ||
        files_outcome(file, NULL, 0).end != SSAN_NEXT_CUT) {
        return 4;
    }
    struct writer *none = writer_create(directory, 0, 0, &err);
    return none || err.status != SSAN_FULL ? 5 : 0;
}

static void a_full_disk_is_told(void **state)
{
    static const struct {
        const char *size;
        uint64_t least;
    } disks[] = {{"64k", 0}, {"2500k", 100}};
    for (size_t i = 0; i < sizeof disks / sizeof *disks; i++) {
        struct files files;
        int status;
        files_init(&files);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            _exit(be_writer_on(files.directory, disks[i].size, disks[i].least));
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
            printf("skipped: a disk of %s (no right to mount one)\n", disks[i].size);
        } else {
            assert_int_equal(status, 0);
        }
        files_finish(&files);
    }
}

static void a_keeper_without_space_says_so(void **state)
{
    struct keeper *keeper;
    struct ssan_error err = {0};
    struct ssan_event event = numbered_event(1, 63);
    if (access("/dev/full", W_OK) != 0) {
        printf("skipped: no /dev/full\n");
        return;
    }
    assert_int_equal(keeper_open(&keeper, "/dev/full", &err), SSAN_OK);
    for (int i = 0; i < 100; i++) {
        keeper_put(keeper, &event);
    }
    assert_int_equal(keeper_close(keeper, true, &err), SSAN_FULL);
    assert_non_null(strstr(err.text, "/dev/full"));
    assert_int_equal(keeper_open(&keeper, "/no/such/place", &err), SSAN_IO);
    assert_null(writer_create("/no/such/place", 0, 0, &err));
    assert_int_equal(err.status, SSAN_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_followed_to_the_end),
        cmocka_unit_test(a_forked_child_writes_nothing),
        cmocka_unit_test(a_second_trace_of_a_pid_gets_its_own_name),
        cmocka_unit_test(a_limit_is_kept_and_losses_are_counted),
        cmocka_unit_test(nothing_is_written_for_a_tool_that_has_gone),
        cmocka_unit_test(a_closed_descriptor_is_found_again),
        cmocka_unit_test(a_file_size_limit_of_the_target_raises_no_signal),
        cmocka_unit_test(large_events_are_counted_or_divided),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(a_keeper_without_space_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
