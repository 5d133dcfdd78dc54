/* Speed and memory of the engine.
 *
 * The workload is a ring of stages: each stream updates its own buffer and reads its neighbour's,
 * with a record and a wait between them, and a host join now and then; two of three items are
 * kernels. Beside it stands the same order on dense arrays (a clock of 16 ticks a stream, a last
 * writer and the readers of each buffer), without sets, readings, reports or validation: the floor
 * for this kind of work. Each rate is the best of several runs; events are made once and changed
 * where calls differ, as reading a trace does. docs/model.md, "What an operation costs". */
#include "bench/bench.h"
#include "core/engine.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS      16u
#define BUFFER_BYTES 65536u
#define GIGABYTE     (UINT64_C(1) << 30)

/* What of the ring is done, to see what which part costs. */
enum parts { PART_EVENTS, PART_ITEMS, PART_ORDER, PART_ALL };

/* The events of the ring, made once. */
struct feeder {
    struct engine *engine;
    struct ssan_event op, set, close, sync, sync_return;
    struct ssan_run run;
    enum parts parts;
    uint64_t fed; /* keeps events alive that nobody takes */
};

struct ring {
    double rate, peak; /* operations/s, bytes */
    uint64_t operations;
};

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

static struct engine *create(uint32_t streams)
{
    struct engine_options options = {0};
    struct engine *engine = engine_create(&options);
    if (!engine) {
        exit(1);
    }
    begin(engine, streams);
    return engine;
}

static void feeder_init(struct feeder *feeder, struct engine *engine, enum parts parts)
{
    *feeder = (struct feeder){
        .engine = engine,
        .parts = parts,
        .op = {.kind = SSAN_EV_op, .op = {.name = {"stage", 5}, .thread = 1}},
        .set = {.kind = SSAN_EV_set, .set = {.width = 4, .runs = {.count = 1}}},
        .close = {.kind = SSAN_EV_op_closed},
        .sync = {.kind = SSAN_EV_sync, .sync = {.kind = SSAN_sync_kind_STREAM, .thread = 1}},
        .sync_return = {.kind = SSAN_EV_sync_return, .sync_return = {.ok = 1}},
        .run = {.length = BUFFER_BYTES, .count = 1},
    };
    feeder->set.set.runs.ptr = &feeder->run;
}

static void put(struct feeder *feeder, const struct ssan_event *event)
{
    if (feeder->parts == PART_EVENTS) {
        feeder->fed += (uint64_t)event->kind;
    } else {
        feed(feeder->engine, event);
    }
}

/* Each call of the source is one place: a round makes the same calls as the round before. */
static void put_op(struct feeder *feeder, uint64_t op, uint32_t stream, enum ssan_op_kind kind,
                   uint32_t event)
{
    struct ssan_ev_op *fields = &feeder->op.op;
    fields->op = op;
    fields->stream = stream;
    fields->kind = kind;
    fields->event = event;
    fields->site = 100 + (uint32_t)(op % 6);
    put(feeder, &feeder->op);
}

static void put_set(struct feeder *feeder, uint64_t op, enum ssan_access access, uint64_t address)
{
    struct ssan_ev_set *fields = &feeder->set.set;
    fields->op = op;
    fields->access = access;
    fields->site = 200 + (uint32_t)access;
    feeder->run.address = address;
    put(feeder, &feeder->set);
}

static void put_close(struct feeder *feeder, uint64_t op)
{
    feeder->close.op_closed.op = op;
    put(feeder, &feeder->close);
}

static void put_kernel(struct feeder *feeder, uint64_t op, uint32_t stream, uint32_t reads)
{
    put_op(feeder, op, stream, SSAN_op_kind_KERNEL, 0);
    if (feeder->parts == PART_ALL || feeder->parts == PART_EVENTS) {
        put_set(feeder, op, SSAN_access_READ, address_of(reads));
        put_set(feeder, op, SSAN_access_WRITE, address_of(stream));
    }
    put_close(feeder, op);
}

/* A record of event `event` on `from`, and the wait of `to` for it. */
static uint64_t put_edge(struct feeder *feeder, uint64_t op, uint32_t event, uint32_t from,
                         uint32_t to)
{
    if (feeder->parts == PART_ITEMS) {
        return op;
    }
    put_op(feeder, ++op, from, SSAN_op_kind_RECORD, event);
    put_close(feeder, op);
    put_op(feeder, ++op, to, SSAN_op_kind_WAIT, event);
    put_close(feeder, op);
    return op;
}

static void put_sync(struct feeder *feeder, uint64_t sync, uint32_t stream)
{
    feeder->sync.sync.sync = sync;
    feeder->sync.sync.object = stream;
    put(feeder, &feeder->sync);
    feeder->sync_return.sync_return.sync = sync;
    put(feeder, &feeder->sync_return);
}

/* `operations` / 6 steps around the ring: 4 kernels and an edge each. */
static struct ring run_ring(uint32_t streams, uint64_t operations, enum parts parts)
{
    struct engine *engine = create(streams);
    struct feeder feeder;
    feeder_init(&feeder, engine, parts);
    struct ring ring = {0};
    uint64_t op = 0, syncs = 0, steps = operations / 6;
    double start = bench_seconds();
    for (uint64_t step = 0; step < steps; step++) {
        uint32_t s = (uint32_t)(step % streams) + 1, next = s % streams + 1;
        for (int k = 0; k < 3; k++) {
            put_kernel(&feeder, ++op, s, s);
        }
        op = put_edge(&feeder, op, s, s, next);
        put_kernel(&feeder, ++op, next, s);
        if (step % (4 * streams) == 4 * streams - 1) {
            if (parts != PART_ITEMS) {
                syncs++;
                put_sync(&feeder, syncs, (uint32_t)(syncs % streams) + 1);
            }
            double held = (double)engine_bytes(engine);
            ring.peak = held > ring.peak ? held : ring.peak;
        }
    }
    ring.operations = steps * 6; /* also where some are left out: times of one step compare */
    ring.rate = (double)ring.operations / (bench_seconds() - start);
    if (parts != PART_EVENTS) {
        engine_finish(engine, NULL);
    }
    double held = (double)engine_bytes(engine) + (feeder.fed == UINT64_MAX ? 1 : 0);
    ring.peak = held > ring.peak ? held : ring.peak;
    engine_destroy(engine);
    return ring;
}

static struct ring best_ring(uint32_t streams, uint64_t operations, enum parts parts, int runs)
{
    struct ring best = run_ring(streams, operations, parts);
    for (int i = 1; i < runs; i++) {
        struct ring ring = run_ring(streams, operations, parts);
        best = ring.rate > best.rate ? ring : best;
    }
    return best;
}

/* Waits for streams drawn at random: no two streams know the same of the others. */
static struct ring run_tangle(uint32_t streams, uint64_t operations)
{
    struct engine *engine = create(streams);
    struct feeder feeder;
    feeder_init(&feeder, engine, PART_ORDER);
    struct ring ring = {.operations = operations / 3 * 3};
    uint64_t drawn = 20261130;
    double start = bench_seconds();
    for (uint64_t op = 0; op < ring.operations;) {
        drawn = drawn * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint32_t from = (uint32_t)(drawn >> 33) % streams + 1;
        uint32_t to = (uint32_t)(op / 3 % streams) + 1;
        put_kernel(&feeder, ++op, from, from);
        op = put_edge(&feeder, op, from, from, to);
    }
    ring.rate = (double)ring.operations / (bench_seconds() - start);
    ring.peak = (double)engine_bytes(engine);
    engine_destroy(engine);
    return ring;
}

/* One allocation cut into blocks, as caching allocators do: each kernel updates one of its stream's
 * blocks. */
static struct ring run_slab(uint64_t operations, uint64_t blocks)
{
    struct engine *engine = create(STREAMS);
    const uint64_t slab = UINT64_C(0x600000000000), block_bytes = 4096;
    feed(engine, &(struct ssan_event){.kind = SSAN_EV_alloc,
                                      .alloc = {.alloc = STREAMS + 1,
                                                .context = 1,
                                                .address = slab,
                                                .size = blocks * block_bytes,
                                                .thread = 1,
                                                .site = 99}});
    struct feeder feeder;
    feeder_init(&feeder, engine, PART_ALL);
    feeder.run.length = block_bytes;
    struct ring ring = {.operations = operations};
    double start = bench_seconds();
    for (uint64_t op = 1; op <= operations; op++) {
        uint64_t block = op / STREAMS * 7919 % (blocks / STREAMS) * STREAMS + op % STREAMS;
        put_op(&feeder, op, (uint32_t)(op % STREAMS) + 1, SSAN_op_kind_KERNEL, 0);
        put_set(&feeder, op, SSAN_access_WRITE, slab + block * block_bytes);
        put_close(&feeder, op);
    }
    ring.rate = (double)operations / (bench_seconds() - start);
    ring.peak = (double)engine_bytes(engine);
    engine_destroy(engine);
    return ring;
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

/* Rates and bytes by the length of the trace: the longest against the shortest shows whether they
 * grow with it. */
static double tell_lengths(struct bench *bench)
{
    static const struct {
        uint64_t operations;
        int runs;
        const char *rate, *bytes;
    } sizes[] = {
        {10000, 60, "engine operations/s at 1e4", "engine bytes/operation at 1e4"},
        {100000, 12, "engine operations/s at 1e5", "engine bytes/operation at 1e5"},
        {1000000, 4, "engine operations/s at 1e6", "engine bytes/operation at 1e6"},
        {10000000, 2, "engine operations/s at 1e7", "engine bytes/operation at 1e7"},
    };
    double shortest = 0, longest = 0;
    printf("16 timelines; reference: the same order on dense arrays, without sets or reports\n");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct ring ring = best_ring(STREAMS, sizes[i].operations, PART_ALL, sizes[i].runs);
        bench_add(bench, sizes[i].rate, ring.rate, "op/s", run_dense(sizes[i].operations));
        bench_add(bench, sizes[i].bytes, ring.peak / (double)ring.operations, "byte", 0);
        shortest = i == 0 ? ring.rate : shortest;
        longest = ring.rate;
    }
    bench_add(bench, "engine operations/s, 1e7 to 1e4", longest, "op/s", shortest);
    bench_add(bench, "engine operations/s, to meet", longest, "op/s", 5e6);
    return longest;
}

/* Where the time of an operation goes. */
static void tell_parts(struct bench *bench)
{
    static const char *const names[] = {
        [PART_EVENTS] = "making the events (the bench itself)",
        [PART_ITEMS] = "kernels: submission, window, queue",
        [PART_ORDER] = "records, waits, joins",
        [PART_ALL] = "sets and shadow",
    };
    double ns[PART_ALL + 1];
    for (int i = 0; i <= PART_ALL; i++) {
        ns[i] = 1e9 / best_ring(STREAMS, 200000, (enum parts)i, 10).rate;
    }
    printf("time of one operation of the ring; reference: the whole\n");
    for (int i = 0; i <= PART_ALL; i++) {
        bench_add(bench, names[i], i <= PART_ITEMS ? ns[i] : ns[i] - ns[i - 1], "ns", ns[PART_ALL]);
    }
}

static void tell_widths(struct bench *bench, double narrow)
{
    struct ring ring = best_ring(256, 300000, PART_ALL, 3);
    bench_add(bench, "engine operations/s at 256 timelines", ring.rate, "op/s", narrow);
    ring = best_ring(10000, 600000, PART_ALL, 2);
    bench_add(bench, "engine operations/s at 10000 timelines", ring.rate, "op/s", narrow);
    bench_add(bench, "engine bytes/timeline at 10000 timelines", ring.peak / 10000, "byte", 0);
    bench_add(bench, "engine bytes at 10000 timelines, of 2 GB", ring.peak, "byte", 2.0 * GIGABYTE);
    ring = run_tangle(10000, 120000);
    bench_add(bench, "engine operations/s at 10000, random waits", ring.rate, "op/s", narrow);
    bench_add(bench, "engine bytes at 10000, random waits", ring.peak, "byte", 2.0 * GIGABYTE);
}

int main(void)
{
    struct bench bench = {.count = 0};
    double narrow = tell_lengths(&bench);
    tell_parts(&bench);
    tell_widths(&bench, narrow);
    struct ring few = run_slab(400000, 64), many = run_slab(400000, 16384);
    bench_add(&bench, "engine operations/s, 16384 blocks of a slab", many.rate, "op/s", few.rate);
    struct ring live = run_slab(160000, 160000); /* each block once: nothing retires */
    bench_add(&bench, "engine bytes/operation, all in shadow", live.peak / 160000, "byte", 200);
    return bench_write(&bench, "engine") ? 0 : 1;
}
