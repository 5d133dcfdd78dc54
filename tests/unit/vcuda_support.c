/* A child process for each run: the device, its schedule and its trace belong to a process. */
#include "vcuda_support.h"
#include "support/temporary.h"

#include "base/vec.h"
#include "trace/control_abi.h"
#include "trace/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void check_in_child(bool ok, const char *what, const char *file, int line)
{
    if (!ok) {
        fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
        exit(99);
    }
}

void check_code(cudaError_t got, cudaError_t wanted, const char *what, const char *file, int line)
{
    if (got != wanted) {
        fprintf(stderr, "%s:%d: %s is %s, not %s\n", file, line, what, cudaGetErrorName(got),
                cudaGetErrorName(wanted));
        exit(99);
    }
}

bool str_is(struct ssan_str str, const char *text)
{
    return str.length == strlen(text) && memcmp(str.ptr, text, str.length) == 0;
}

static void make_session(const char *directory, const char *schedule)
{
    struct control_page page = {.magic = CONTROL_MAGIC, .version = CONTROL_VERSION};
    char path[TEMPORARY_ROOM + 300];
    int fd;
    snprintf(page.schedule, sizeof page.schedule, "%s", schedule);
    snprintf(path, sizeof path, "%s/%s", directory, CONTROL_FILE);
    fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, &page, sizeof page), sizeof page);
    close(fd);
}

static struct ssan_str keep_str(struct trace *trace, struct ssan_str str)
{
    struct ssan_str kept = {arena_strndup(&trace->arena, str.length ? str.ptr : "", str.length),
                            str.length};
    return kept;
}

/* Copies what the event borrows; the fields are found by the descriptors of event.h. */
static void keep(struct trace *trace, struct ssan_event *event)
{
    const struct ssan_event_info *info = ssan_event_info(event->kind);
    for (size_t i = 0; i < info->field_count; i++) {
        void *at = (char *)event + info->fields[i].offset;
        if (info->fields[i].type == SSAN_FIELD_STR) {
            *(struct ssan_str *)at = keep_str(trace, *(struct ssan_str *)at);
        } else if (info->fields[i].type == SSAN_FIELD_RUNS) {
            struct ssan_runs *runs = at;
            void *copy = arena_alloc(&trace->arena, (runs->count + 1) * sizeof *runs->ptr);
            memcpy(copy, runs->ptr, runs->count * sizeof *runs->ptr);
            runs->ptr = copy;
        } else if (info->fields[i].type == SSAN_FIELD_U64S) {
            struct ssan_u64s *words = at;
            void *copy = arena_alloc(&trace->arena, (words->count + 1) * sizeof *words->ptr);
            if (words->count) {
                memcpy(copy, words->ptr, words->count * sizeof *words->ptr);
            }
            words->ptr = copy;
        }
    }
    assert_true(VEC_PUSH(trace, *event));
}

static void read_trace(struct trace *trace, const char *path)
{
    struct ssan_error err = {0};
    struct reader *reader;
    struct ssan_event event;
    enum ssan_next next;
    if (reader_open(&reader, path, &err) != SSAN_OK) {
        fail_msg("%s: %s", path, err.text);
    }
    while ((next = ssan_next(reader_source(reader), &event, &err)) == SSAN_NEXT_EVENT) {
        keep(trace, &event);
    }
    if (next == SSAN_NEXT_ERROR) {
        fail_msg("%s: %s", path, err.text);
    }
    trace->whole = next == SSAN_NEXT_END;
    reader_close(reader);
}

static void remove_session(const char *directory)
{
    char path[TEMPORARY_ROOM + 300];
    struct dirent *entry;
    DIR *dir = opendir(directory);
    while (dir && (entry = readdir(dir)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        unlink(path);
    }
    closedir(dir);
    rmdir(directory);
}

int device_run(const char *schedule, int (*body)(void *data), void *data, struct trace *trace)
{
    char directory[TEMPORARY_ROOM], path[TEMPORARY_ROOM + 300];
    pid_t child;
    int status;
    if (trace) {
        memset(trace, 0, sizeof *trace);
        temporary_name(directory, "vcuda-test");
        assert_non_null(mkdtemp(directory));
        make_session(directory, schedule);
    }
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* cmocka's handler would come back into the test */
        setenv("STREAMSAN_SCHEDULE", schedule, 1);
        if (trace) {
            setenv(CONTROL_ENV, directory, 1);
        }
        exit(body(data));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (trace) {
        trace->status = status;
        snprintf(path, sizeof path, "%s/%d%s", directory, child, CONTROL_SUFFIX);
        read_trace(trace, path);
        remove_session(directory);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void trace_finish(struct trace *trace)
{
    VEC_FREE(trace);
    arena_finish(&trace->arena);
}

size_t trace_count(const struct trace *trace, enum ssan_event_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < trace->count; i++) {
        count += trace->items[i].kind == kind;
    }
    return count;
}

const struct ssan_event *trace_at(const struct trace *trace, enum ssan_event_kind kind, size_t nth)
{
    for (size_t i = 0; i < trace->count; i++) {
        if (trace->items[i].kind == kind && nth-- == 0) {
            return &trace->items[i];
        }
    }
    fail_msg("no such event: %s", ssan_event_info(kind)->name);
    return NULL;
}

size_t trace_closed_at(const struct trace *trace, uint64_t op)
{
    for (size_t i = 0; i < trace->count; i++) {
        if (trace->items[i].kind == SSAN_EV_op_closed && trace->items[i].op_closed.op == op) {
            return i;
        }
    }
    return SIZE_MAX;
}
