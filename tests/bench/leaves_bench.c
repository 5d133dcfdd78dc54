/* What telling of the accesses of one launch costs: ms for 16 MiB of bits in each of some shapes,
 * into a sink that counts and into a live trace, and that trace read. Beside each stands the plain
 * copy of the same bits, out of and into memory that is there.
 *
 * Usage: PROGRAM; or PROGRAM TRACE LAUNCHES: writes that many launches of random words into a kept
 * trace, for `streamsan check`. */
#include "bench/bench.h"

#include "base/mem.h"
#include "base/rng.h"
#include "capture/memory.h"
#include "capture/observe_leaves.h"
#include "capture/patch_abi.h"
#include "trace/keeper.h"
#include "trace/reader.h"
#include "trace/record.h"
#include "trace/writer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGES = 2048, REPEATS = 3 };

#define BASE       UINT64_C(0x7f4200000000)
#define PAGE_WORDS ((size_t)PATCH_PAGE_WORDS / 2) /* of 64 bits */
#define BITS_BYTES ((size_t)PAGES * PATCH_PAGE_BYTES)

static uint64_t *bits;
static struct observe_leaf leaves[PAGES];

struct counter {
    struct ssan_sink sink;
    uint64_t events, bytes;
};

static void count_event(struct ssan_sink *sink, const struct ssan_event *event)
{
    struct counter *counter = (struct counter *)sink;
    counter->events++;
    counter->bytes += record_bytes(event) + RECORD_COMMIT;
}

static uint32_t no_site(void *self, uint32_t kind, uint64_t begin, uint64_t end,
                        const struct observe_parts *parts)
{
    (void)self, (void)kind, (void)begin, (void)end, (void)parts;
    return 0;
}

static uint64_t all_bits(struct rng *rng)
{
    (void)rng;
    return UINT64_MAX;
}

/* Five of eight: near to what as many accesses as there are elements leave, 1 - 1/e. */
static uint64_t random_bits(struct rng *rng)
{
    uint64_t a = rng_next(rng), b = rng_next(rng), c = rng_next(rng);
    return a | (b & c);
}

static uint64_t second_bits(struct rng *rng)
{
    (void)rng;
    return UINT64_C(0x5555555555555555);
}

static uint64_t sparse_bits(struct rng *rng)
{
    (void)rng;
    return UINT64_C(1) << 17;
}

static uint64_t scattered_bits(struct rng *rng)
{
    return UINT64_C(1) << rng_below(rng, 64);
}

static const struct shape {
    const char *name;
    uint64_t (*word)(struct rng *);
} shapes[] = {
    {"all", all_bits},        {"5 of 8, random", random_bits},     {"every second", second_bits},
    {"1 of 64", sparse_bits}, {"1 of 64, random", scattered_bits},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void fill(const struct shape *shape, uint32_t is_small, uint64_t seed)
{
    struct rng rng = {seed};
    unsigned shift = PATCH_LEAF_BYTES(is_small);
    for (size_t i = 0; i < PAGES; i++) {
        for (size_t k = 0; k < PAGE_WORDS; k++) {
            bits[i * PAGE_WORDS + k] = shape->word(&rng);
        }
        leaves[i].what = ((BASE >> shift) + i) << 3 | PATCH_KIND(0u, is_small);
        leaves[i].bits = (const uint32_t *)(bits + i * PAGE_WORDS);
    }
}

static void tell(struct ssan_sink *sink, uint64_t op)
{
    struct observe_leaves out = {sink, op, no_site, NULL};
    observe_leaves_tell(&out, leaves, PAGES);
}

static double copy_seconds(void)
{
    static unsigned char *to;
    double best = 1e9;
    to = to ? to : mem_alloc(BITS_BYTES);
    for (int i = 0; to && i <= REPEATS; i++) {
        double begin = bench_seconds();
        memcpy(to, bits, BITS_BYTES);
        double took = bench_seconds() - begin;
        best = i > 0 && took < best ? took : best; /* the first makes the memory be there */
    }
    return best;
}

static double tell_seconds(struct ssan_sink *sink)
{
    double best = 1e9;
    for (int i = 0; i < REPEATS; i++) {
        double begin = bench_seconds();
        tell(sink, 1);
        double took = bench_seconds() - begin;
        best = took < best ? took : best;
    }
    return best;
}

/* Reads a live trace to its end; how long, -1 when it can't be read. */
static double read_seconds(const char *path)
{
    struct reader *reader;
    struct ssan_event event;
    struct ssan_error err;
    enum ssan_next got;
    if (reader_open(&reader, path, &err) != SSAN_OK) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    double begin = bench_seconds();
    while ((got = ssan_next(reader_source(reader), &event, &err)) == SSAN_NEXT_EVENT) {
    }
    double took = bench_seconds() - begin;
    reader_close(reader);
    return got == SSAN_NEXT_END ? took : -1;
}

/* Once: a trace holds no launch twice. */
static bool measure_live(struct bench *bench, const char *name, const char *directory,
                         double copied)
{
    char text[80], path[200];
    struct writer *writer = writer_create(directory, 0, 0, NULL);
    if (!writer) {
        return false;
    }
    double begin = bench_seconds();
    tell(writer_sink(writer), 1);
    double took = bench_seconds() - begin;
    writer_finish(writer);
    snprintf(path, sizeof path, "%s", writer_path(writer));
    snprintf(text, sizeof text, "leaves into a trace, %s", name);
    bench_add(bench, text, took * 1e3, "ms", copied * 1e3);
    took = read_seconds(path);
    snprintf(text, sizeof text, "leaves read from it, %s", name);
    bench_add(bench, text, took * 1e3, "ms", copied * 1e3);
    unlink(path);
    return took >= 0;
}

static bool measure(struct bench *bench, const struct shape *shape, uint32_t is_small,
                    const char *directory)
{
    char name[40], text[80];
    struct counter counter = {{count_event}, 0, 0};
    fill(shape, is_small, 1);
    double copied = copy_seconds();
    snprintf(name, sizeof name, "%s %s", is_small ? "bytes" : "words", shape->name);
    double told = tell_seconds(&counter.sink);
    snprintf(text, sizeof text, "leaves told, %s", name);
    bench_add(bench, text, told * 1e3, "ms", copied * 1e3);
    snprintf(text, sizeof text, "leaves in the trace, %s", name);
    bench_add(bench, text, (double)counter.bytes / REPEATS / 1048576.0, "MiB",
              BITS_BYTES / 1048576.0);
    return measure_live(bench, name, directory, copied);
}

struct keeping {
    struct ssan_sink sink;
    struct keeper *keeper;
};

static void keep(struct ssan_sink *sink, const struct ssan_event *event)
{
    keeper_put(((struct keeping *)sink)->keeper, event);
}

/* `launches` of random words behind one another on a stream. */
static bool write_launches(const char *path, uint64_t launches)
{
    struct keeping keeping = {{keep}, NULL};
    if (keeper_open(&keeping.keeper, path, NULL) != SSAN_OK) {
        return false;
    }
    const struct ssan_event begin[] = {
        {.kind = SSAN_EV_process, .process = {.pid = 1, .accesses = SSAN_accesses_EXACT}},
        {.kind = SSAN_EV_stream_create, .stream_create = {.stream = 1, .context = 1, .thread = 1}},
        {.kind = SSAN_EV_alloc,
         .alloc = {.alloc = 1,
                   .context = 1,
                   .address = BASE,
                   .size = (uint64_t)PAGES << PATCH_LEAF_BYTES(0),
                   .call = ssan_str("cudaMalloc"),
                   .thread = 1}}};
    for (size_t i = 0; i < sizeof begin / sizeof begin[0]; i++) {
        ssan_put(&keeping.sink, &begin[i]);
    }
    for (uint64_t id = 1; id <= launches; id++) {
        const struct ssan_event op = {.kind = SSAN_EV_op,
                                      .op = {.op = id,
                                             .stream = 1,
                                             .kind = SSAN_op_kind_KERNEL,
                                             .call = ssan_str("cudaLaunchKernel"),
                                             .name = ssan_str("gather"),
                                             .grid_x = 1,
                                             .grid_y = 1,
                                             .grid_z = 1,
                                             .block_x = 256,
                                             .block_y = 1,
                                             .block_z = 1,
                                             .thread = 1}};
        const struct ssan_event closed = {.kind = SSAN_EV_op_closed, .op_closed = {.op = id}};
        ssan_put(&keeping.sink, &op);
        fill(&shapes[1], 0, id);
        tell(&keeping.sink, id);
        ssan_put(&keeping.sink, &closed);
    }
    ssan_put(&keeping.sink, &(struct ssan_event){.kind = SSAN_EV_exit});
    return keeper_close(keeping.keeper, true, NULL) == SSAN_OK;
}

int main(int argc, char **argv)
{
    static struct bench bench;
    char directory[] = P_tmpdir "/ssan-bench-XXXXXX";
    bits = mem_alloc(BITS_BYTES);
    if (!bits || (argc != 1 && argc != 3)) {
        fprintf(stderr, "usage: %s [TRACE LAUNCHES]\n", argv[0]);
        return 2;
    }
    if (argc == 3) {
        return write_launches(argv[1], strtoull(argv[2], NULL, 10)) ? 0 : 1;
    }
    bool ok = mkdtemp(directory) != NULL;
    for (uint32_t is_small = 0; is_small < 2; is_small++) {
        for (size_t i = 0; ok && i < SHAPES; i++) {
            ok = measure(&bench, &shapes[i], is_small, directory);
        }
    }
    rmdir(directory);
    mem_free(bits);
    return ok && bench_write(&bench, "leaves") ? 0 : 1;
}
