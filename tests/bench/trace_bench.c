/* What the trace costs: ns and bytes per event of a typical run (an operation is op,
 * two sets, op_closed), written live by one thread and by two, read, kept, and read from the kept
 * file.
 *
 * Usage: PROGRAM [OPERATIONS]. Beside the writer stands the plain copy of the same bytes into
 * memory, so that a number says something on any machine. */
#include "bench/bench.h"
#include "trace/keeper.h"
#include "trace/reader.h"
#include "trace/record.h"
#include "trace/writer.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVENTS_PER_OP = 4, DEFAULT_OPS = 500000, ROOM = 1 << 20 };

struct job {
    struct ssan_sink *sink;
    uint64_t ops;
};

static void put_op(struct ssan_sink *sink, uint64_t id)
{
    static const struct ssan_run read = {0x10000, 4096, 0, 1}, written = {0x20000, 4096, 0, 1};
    const struct ssan_event op = {.kind = SSAN_EV_op,
                                  .op = {.op = id,
                                         .stream = 1 + (uint32_t)(id % 16),
                                         .call = {"cudaLaunchKernel", 16},
                                         .name = {"scale", 5},
                                         .grid_x = 4,
                                         .grid_y = 1,
                                         .grid_z = 1,
                                         .block_x = 256,
                                         .block_y = 1,
                                         .block_z = 1,
                                         .thread = 1,
                                         .site = 3}};
    struct ssan_event set = {.kind = SSAN_EV_set,
                             .set = {.op = id, .width = 4, .site = 4, .runs = {&read, 1}}};
    const struct ssan_event closed = {.kind = SSAN_EV_op_closed, .op_closed = {.op = id}};
    ssan_put(sink, &op);
    ssan_put(sink, &set);
    set.set.access = SSAN_access_WRITE;
    set.set.runs.ptr = &written;
    ssan_put(sink, &set);
    ssan_put(sink, &closed);
}

static void *put_ops(void *argument)
{
    const struct job *job = argument;
    for (uint64_t id = 1; id <= job->ops; id++) {
        put_op(job->sink, id);
    }
    return NULL;
}

/* The reference: encodes into one buffer, over and over. */
struct copier {
    struct ssan_sink sink;
    unsigned char *to;
    size_t at;
    uint64_t bytes;
};

static void copy(struct ssan_sink *sink, const struct ssan_event *event)
{
    struct copier *copier = (struct copier *)sink;
    size_t bytes = record_bytes(event);
    if (copier->at + bytes > ROOM) {
        copier->at = 0;
    }
    record_write(copier->to + copier->at, (uint32_t)bytes, event);
    copier->at += bytes;
    copier->bytes += bytes;
}

static void print(const char *what, double seconds, uint64_t events, uint64_t bytes)
{
    printf("trace %-28s %7.1f ns/event %7.1f bytes/event\n", what, seconds * 1e9 / (double)events,
           (double)bytes / (double)events);
}

static uint64_t file_bytes(const char *path)
{
    struct stat at;
    return stat(path, &at) == 0 ? (uint64_t)at.st_size : 0;
}

static bool write_live(const char *what, const char *directory, const char *path, uint64_t ops,
                       int threads)
{
    struct writer *writer = writer_create(directory, 0, 0, NULL);
    struct job job = {writer ? writer_sink(writer) : NULL, ops / (uint64_t)threads};
    pthread_t other;
    if (!writer) {
        return false;
    }
    double begin = bench_seconds();
    if (threads == 2 && pthread_create(&other, NULL, put_ops, &job) != 0) {
        return false;
    }
    put_ops(&job);
    if (threads == 2) {
        pthread_join(other, NULL);
    }
    writer_finish(writer);
    print(what, bench_seconds() - begin, job.ops * (uint64_t)threads * EVENTS_PER_OP,
          file_bytes(path));
    return true;
}

/* Reads a trace to its end, into a keeper when one is given. */
static bool read_all(const char *what, const char *path, struct keeper *keeper)
{
    struct reader *reader;
    struct ssan_event event;
    struct ssan_error err;
    enum ssan_next got;
    uint64_t events = 0;
    if (reader_open(&reader, path, &err) != SSAN_OK) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    double begin = bench_seconds();
    while ((got = ssan_next(reader_source(reader), &event, &err)) == SSAN_NEXT_EVENT) {
        if (keeper) {
            keeper_put(keeper, &event);
        }
        events++;
    }
    print(what, bench_seconds() - begin, events, reader_bytes(reader));
    reader_close(reader);
    return got == SSAN_NEXT_END;
}

static bool measure(const char *directory, uint64_t ops)
{
    char live[300], second[300], kept[300];
    struct keeper *keeper;
    struct copier copier = {.sink = {copy}, .to = malloc(ROOM)};
    struct job job = {&copier.sink, ops};
    snprintf(live, sizeof live, "%s/%ld.live", directory, (long)getpid());
    snprintf(second, sizeof second, "%s/%ld.1.live", directory, (long)getpid());
    snprintf(kept, sizeof kept, "%s/kept", directory);
    if (!copier.to) {
        return false;
    }
    double begin = bench_seconds();
    put_ops(&job);
    print("reference: encode to memory", bench_seconds() - begin, ops * EVENTS_PER_OP,
          copier.bytes);
    free(copier.to);
    bool ok = write_live("write, 1 thread", directory, live, ops, 1) &&
              write_live("write, 2 threads", directory, second, ops, 2) &&
              read_all("read", live, NULL) && keeper_open(&keeper, kept, NULL) == SSAN_OK;
    if (ok) {
        ok = read_all("read and keep", live, keeper);
        ok = keeper_close(keeper, true, NULL) == SSAN_OK && ok;
        ok = ok && read_all("read kept", kept, NULL);
    }
    unlink(live);
    unlink(second);
    unlink(kept);
    return ok;
}

int main(int argc, char **argv)
{
    char directory[] = P_tmpdir "/ssan-bench-XXXXXX";
    uint64_t ops = argc > 1 ? strtoull(argv[1], NULL, 10) : DEFAULT_OPS;
    if (ops < 2 || !mkdtemp(directory)) {
        fprintf(stderr, "usage: %s [OPERATIONS]\n", argv[0]);
        return 2;
    }
    bool ok = measure(directory, ops);
    rmdir(directory);
    return ok ? 0 : 1;
}
