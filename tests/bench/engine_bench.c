/* Speed and memory of the engine: operations/s and bytes per operation at 1e4, 1e5 and 1e6
 * operations on 16 timelines.
 *
 * The workload is a ring of stages: each stream updates its own buffer and reads its neighbour's,
 * with a record and a wait between them, and a host join now and then; two of three items are
 * kernels. Beside it stands the same order on dense arrays (a clock of 16 ticks a stream, a last
 * writer and the readers of each buffer), without sets, readings, reports or validation: the floor
 * for this kind of work. */
#include "bench/bench.h"
#include "core/engine.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS      16u
#define BUFFER_BYTES 65536u

static uint64_t address_of(uint32_t stream)
{
    return UINT64_C(0x7f0000000000) + (uint64_t)stream * 2 * BUFFER_BYTES;
}

static void feed(struct engine *engine, const struct ssan_event *event)
{
    struct ssan_error err;
    if (engine_feed(engine, event, &err) != SSAN_OK) {
        fprintf(stderr, "bench: %s\n", err.text);
        exit(1);
    }
}

static void begin(struct engine *engine, uint32_t streams)
{
    for (uint32_t i = 1; i <= streams; i++) {
        feed(engine,
             &(struct ssan_event){.kind = SSAN_EV_stream_create,
                                  .stream_create = {.stream = i,
                                                    .context = 1,
                                                    .flavour = SSAN_stream_flavour_NON_BLOCKING,
                                                    .thread = 1}});
        feed(engine, &(struct ssan_event){.kind = SSAN_EV_event_create,
                                          .event_create = {.event = i, .thread = 1}});
        feed(engine, &(struct ssan_event){.kind = SSAN_EV_alloc,
                                          .alloc = {.alloc = i,
                                                    .context = 1,
                                                    .memory = SSAN_memory_DEVICE,
                                                    .address = address_of(i),
                                                    .size = BUFFER_BYTES,
                                                    .thread = 1,
                                                    .site = i}});
    }
}

/* Each call of the source is one place: a round makes the same calls as the round before. */
static void feed_op(struct engine *engine, uint64_t op, uint32_t stream, enum ssan_op_kind kind,
                    uint32_t event)
{
    feed(engine, &(struct ssan_event){.kind = SSAN_EV_op,
                                      .op = {.op = op,
                                             .stream = stream,
                                             .kind = kind,
                                             .event = event,
                                             .name = {"stage", 5},
                                             .thread = 1,
                                             .site = 100 + (uint32_t)(op % 6)}});
}

static void feed_set(struct engine *engine, uint64_t op, enum ssan_access access, uint32_t stream)
{
    struct ssan_run run = {.address = address_of(stream), .length = BUFFER_BYTES, .count = 1};
    feed(engine, &(struct ssan_event){.kind = SSAN_EV_set,
                                      .set = {.op = op,
                                              .access = access,
                                              .site = 200 + (uint32_t)access,
                                              .width = 4,
                                              .runs = {&run, 1}}});
}

static void feed_close(struct engine *engine, uint64_t op)
{
    feed(engine, &(struct ssan_event){.kind = SSAN_EV_op_closed, .op_closed = {.op = op}});
}

static void feed_sync(struct engine *engine, uint64_t sync, uint32_t stream)
{
    feed(engine,
         &(struct ssan_event){
             .kind = SSAN_EV_sync,
             .sync = {.sync = sync, .kind = SSAN_sync_kind_STREAM, .object = stream, .thread = 1}});
    feed(engine,
         &(struct ssan_event){.kind = SSAN_EV_sync_return, .sync_return = {.sync = sync, .ok = 1}});
}

/* One round of the ring is 6 items on each stream. Returns operations/s. */
static double run_engine(uint32_t streams, uint64_t operations, double *bytes)
{
    struct engine_options options = {0};
    struct engine *engine = engine_create(&options);
    if (!engine) {
        exit(1);
    }
    begin(engine, streams);
    uint64_t op = 0, syncs = 0, peak = 0;
    double start = bench_seconds();
    for (uint64_t round = 0; op < operations; round++) {
        for (uint32_t s = 1; s <= streams; s++) {
            uint32_t next = s % streams + 1;
            for (int k = 0; k < 3; k++) {
                feed_op(engine, ++op, s, SSAN_op_kind_KERNEL, 0);
                feed_set(engine, op, SSAN_access_READ, s);
                feed_set(engine, op, SSAN_access_WRITE, s);
                feed_close(engine, op);
            }
            feed_op(engine, ++op, s, SSAN_op_kind_RECORD, s);
            feed_close(engine, op);
            feed_op(engine, ++op, next, SSAN_op_kind_WAIT, s);
            feed_close(engine, op);
            feed_op(engine, ++op, next, SSAN_op_kind_KERNEL, 0);
            feed_set(engine, op, SSAN_access_READ, s);
            feed_set(engine, op, SSAN_access_WRITE, next);
            feed_close(engine, op);
        }
        if (round % 4 == 0) {
            feed_sync(engine, ++syncs, (uint32_t)(round / 4 % streams) + 1);
            uint64_t held = engine_bytes(engine);
            peak = held > peak ? held : peak;
        }
    }
    double seconds = bench_seconds() - start;
    engine_finish(engine, NULL);
    uint64_t held = engine_bytes(engine);
    peak = held > peak ? held : peak;
    *bytes = (double)peak / (double)op;
    engine_destroy(engine);
    return (double)op / seconds;
}

/* One allocation cut into blocks, as caching allocators do: each kernel updates one of its stream's
 * blocks. */
static double run_slab(uint64_t operations, uint64_t blocks)
{
    struct engine_options options = {0};
    struct engine *engine = engine_create(&options);
    if (!engine) {
        exit(1);
    }
    begin(engine, STREAMS);
    const uint64_t slab = UINT64_C(0x600000000000), block_bytes = 4096;
    feed(engine, &(struct ssan_event){.kind = SSAN_EV_alloc,
                                      .alloc = {.alloc = STREAMS + 1,
                                                .context = 1,
                                                .address = slab,
                                                .size = blocks * block_bytes,
                                                .thread = 1,
                                                .site = 99}});
    double start = bench_seconds();
    for (uint64_t op = 1; op <= operations; op++) {
        uint64_t block = op * 7919 % (blocks / STREAMS) * STREAMS + op % STREAMS;
        struct ssan_run run = {
            .address = slab + block * block_bytes, .length = block_bytes, .count = 1};
        feed_op(engine, op, (uint32_t)(op % STREAMS) + 1, SSAN_op_kind_KERNEL, 0);
        feed(engine, &(struct ssan_event){.kind = SSAN_EV_set,
                                          .set = {.op = op,
                                                  .access = SSAN_access_WRITE,
                                                  .site = 200,
                                                  .width = 4,
                                                  .runs = {&run, 1}}});
        feed_close(engine, op);
    }
    double seconds = bench_seconds() - start;
    engine_destroy(engine);
    return (double)operations / seconds;
}

/* The floor: the same items on dense arrays. */
struct dense {
    uint32_t stream[STREAMS][STREAMS], event[STREAMS][STREAMS], host[STREAMS];
    uint32_t tick[STREAMS], reader[STREAMS][STREAMS], writer_stream[STREAMS], writer[STREAMS];
    uint64_t races;
};

static void dense_join(uint32_t *a, const uint32_t *b)
{
    for (uint32_t i = 0; i < STREAMS; i++) {
        a[i] = b[i] > a[i] ? b[i] : a[i];
    }
}

static void dense_item(struct dense *d, uint32_t s)
{
    dense_join(d->stream[s], d->host);
    d->stream[s][s] = ++d->tick[s];
}

static void dense_kernel(struct dense *d, uint32_t s, uint32_t reads, uint32_t writes)
{
    dense_item(d, s);
    d->races += d->writer[reads] > d->stream[s][d->writer_stream[reads]];
    d->reader[reads][s] = d->tick[s];
    for (uint32_t i = 0; i < STREAMS; i++) {
        d->races += d->reader[writes][i] > d->stream[s][i];
        d->reader[writes][i] = 0;
    }
    d->races += d->writer[writes] > d->stream[s][d->writer_stream[writes]];
    d->writer[writes] = d->tick[s];
    d->writer_stream[writes] = s;
}

static double run_dense(uint64_t operations)
{
    static struct dense d;
    memset(&d, 0, sizeof d);
    uint64_t op = 0;
    double start = bench_seconds();
    for (uint64_t round = 0; op < operations; round++) {
        for (uint32_t s = 0; s < STREAMS; s++) {
            uint32_t next = (s + 1) % STREAMS;
            for (int k = 0; k < 3; k++) {
                dense_kernel(&d, s, s, s);
            }
            dense_item(&d, s);
            memcpy(d.event[s], d.stream[s], sizeof d.event[s]);
            dense_join(d.stream[next], d.event[s]);
            dense_item(&d, next);
            dense_kernel(&d, next, s, next);
            op += 6;
        }
        if (round % 4 == 0) {
            dense_join(d.host, d.stream[round / 4 % STREAMS]);
        }
    }
    double seconds = bench_seconds() - start;
    if (d.races == UINT64_MAX) { /* keeps the work alive */
        printf("%" PRIu64 "\n", d.races);
    }
    return (double)op / (seconds > 0 ? seconds : 1e-9);
}

int main(void)
{
    struct bench bench = {.count = 0};
    static const struct {
        uint64_t operations;
        const char *rate, *bytes;
    } sizes[] = {
        {10000, "engine operations/s at 1e4", "engine bytes/operation at 1e4"},
        {100000, "engine operations/s at 1e5", "engine bytes/operation at 1e5"},
        {1000000, "engine operations/s at 1e6", "engine bytes/operation at 1e6"},
    };
    printf("16 timelines; reference: the same order on dense arrays, without sets or reports\n");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        double bytes = 0, rate = run_engine(STREAMS, sizes[i].operations, &bytes);
        bench_add(&bench, sizes[i].rate, rate, "op/s", run_dense(sizes[i].operations));
        bench_add(&bench, sizes[i].bytes, bytes, "byte", 0);
    }
    double bytes = 0, narrow = run_engine(STREAMS, 100000, &bytes);
    bench_add(&bench, "engine operations/s at 256 timelines", run_engine(256, 100000, &bytes),
              "op/s", narrow);
    bench_add(&bench, "engine operations/s at 10000 timelines", run_engine(10000, 120000, &bytes),
              "op/s", narrow);
    bench_add(&bench, "engine bytes/timeline at 10000 timelines", bytes * 120000 / 10000, "byte",
              0);
    double few = run_slab(200000, 64);
    bench_add(&bench, "engine operations/s, 16384 blocks of a slab", run_slab(200000, 16384),
              "op/s", few);
    return bench_write(&bench, "engine") ? 0 : 1;
}
