/* How much shadow memory a buffer of 1 GB takes once a kernel has touched it, and what gathering
 * the accesses takes meanwhile.
 *
 * A kernel's accesses come as sets of one warp: 32 elements of 4 bytes, as one strided run or as 32
 * runs. The floor is counted apart, on a bit for each element of the buffer: for each leaf the
 * smaller of a list of its runs (16 bytes each: where, how long) and its bitmap (512 bytes). So a
 * stride that stays a stride is far below it. */
#include "bench/bench.h"
#include "core/engine.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES  (UINT64_C(1) << 30)
#define BUFFER_BASE   UINT64_C(0x7f0000000000)
#define ELEMENT_BYTES 4u
#define ELEMENTS      (BUFFER_BYTES / ELEMENT_BYTES)
#define LEAF_ELEMENTS (SSAN_LEAF_BYTES / ELEMENT_BYTES)
#define WARP          32u
#define RUN_BYTES     16u /* of a plain list: address and length */

struct kernel {
    const char *name;
    uint64_t elements;
    uint64_t stride; /* between elements in bytes, 0: at random */
};

struct measured {
    double shadow, peak, floor;
};

static void feed(struct engine *engine, const struct ssan_event *event)
{
    struct ssan_error err;
    if (engine_feed(engine, event, &err) != SSAN_OK) {
        fprintf(stderr, "bench: %s\n", err.text);
        exit(1);
    }
}

static struct engine *create(void)
{
    struct engine_options options = {.shadow_limit_bytes = UINT64_MAX};
    struct engine *engine = engine_create(&options);
    if (!engine) {
        exit(1);
    }
    feed(engine, &(struct ssan_event){.kind = SSAN_EV_stream_create,
                                      .stream_create = {.stream = 1, .context = 1, .thread = 1}});
    feed(engine, &(struct ssan_event){.kind = SSAN_EV_alloc,
                                      .alloc = {.alloc = 1,
                                                .context = 1,
                                                .address = BUFFER_BASE,
                                                .size = BUFFER_BYTES,
                                                .thread = 1}});
    return engine;
}

/* The elements of warp `warp`, as runs; returns how many runs. */
static uint32_t runs_of(const struct kernel *kernel, uint64_t warp, uint64_t *drawn,
                        struct ssan_run *runs)
{
    if (kernel->stride != 0) {
        runs[0] = (struct ssan_run){.address = BUFFER_BASE + warp * WARP * kernel->stride,
                                    .length = ELEMENT_BYTES,
                                    .stride = kernel->stride,
                                    .count = WARP};
        return 1;
    }
    for (uint32_t lane = 0; lane < WARP; lane++) {
        *drawn = *drawn * UINT64_C(6364136223846793005) + 1442695040888963407u;
        runs[lane] = (struct ssan_run){.address = BUFFER_BASE + (*drawn >> 36) * ELEMENT_BYTES,
                                       .length = ELEMENT_BYTES,
                                       .count = 1};
    }
    return WARP;
}

static void mark(uint64_t *touched, const struct ssan_run *run)
{
    for (uint64_t i = 0; i < run->count; i++) {
        uint64_t element = (run->address + i * run->stride - BUFFER_BASE) / ELEMENT_BYTES;
        touched[element / 64] |= UINT64_C(1) << (element % 64);
    }
}

static double floor_of(const uint64_t *touched)
{
    uint64_t floor = 0;
    for (uint64_t leaf = 0; leaf < ELEMENTS / LEAF_ELEMENTS; leaf++) {
        const uint64_t *words = &touched[leaf * LEAF_ELEMENTS / 64];
        uint64_t runs = 0, before = 0;
        for (uint32_t w = 0; w < LEAF_ELEMENTS / 64; w++) {
            uint64_t begins = words[w] & ~(words[w] << 1 | before);
            runs += (uint64_t)__builtin_popcountll(begins);
            before = words[w] >> 63;
        }
        uint64_t bytes = runs * RUN_BYTES;
        floor += bytes < SSAN_LEAF_BYTES / 8 ? bytes : SSAN_LEAF_BYTES / 8;
    }
    return (double)floor;
}

static struct measured run(const struct kernel *kernel, uint64_t *touched)
{
    struct engine *engine = create();
    struct measured measured = {0};
    double before = (double)engine_bytes(engine);
    memset(touched, 0, ELEMENTS / 8);
    feed(engine, &(struct ssan_event){
                     .kind = SSAN_EV_op,
                     .op = {.op = 1, .stream = 1, .kind = SSAN_op_kind_KERNEL, .thread = 1}});
    uint64_t drawn = 20261130;
    struct ssan_run runs[WARP];
    struct ssan_event set = {.kind = SSAN_EV_set,
                             .set = {.op = 1,
                                     .access = SSAN_access_WRITE,
                                     .site = 7,
                                     .width = ELEMENT_BYTES,
                                     .runs = {runs, 0}}};
    for (uint64_t warp = 0; warp < kernel->elements / WARP; warp++) {
        set.set.runs.count = runs_of(kernel, warp, &drawn, runs);
        for (uint32_t i = 0; i < set.set.runs.count; i++) {
            mark(touched, &runs[i]);
        }
        feed(engine, &set);
        if (warp % 4096 == 0) {
            double held = (double)engine_bytes(engine) - before;
            measured.peak = held > measured.peak ? held : measured.peak;
        }
    }
    double held = (double)engine_bytes(engine) - before;
    measured.peak = held > measured.peak ? held : measured.peak;
    feed(engine, &(struct ssan_event){.kind = SSAN_EV_op_closed, .op_closed = {.op = 1}});
    measured.shadow = (double)engine_bytes(engine) - before;
    measured.floor = floor_of(touched);
    engine_destroy(engine);
    return measured;
}

int main(void)
{
    static const struct kernel kernels[] = {
        {"4 bytes of every 64", BUFFER_BYTES / 64, 64},
        {"4 bytes of every 4100", BUFFER_BYTES / 4100 / WARP * WARP, 4100},
        {"random, 1 element a leaf", ELEMENTS / LEAF_ELEMENTS, 0},
        {"random, 4 elements a leaf", ELEMENTS / LEAF_ELEMENTS * 4, 0},
        {"random, 24 elements a leaf", ELEMENTS / LEAF_ELEMENTS * 24, 0},
        {"random, 64 elements a leaf", ELEMENTS / LEAF_ELEMENTS * 64, 0},
    };
    struct bench bench = {.count = 0};
    uint64_t *touched = calloc(ELEMENTS / 64, sizeof *touched);
    bool small = true;
    if (!touched) {
        return 1;
    }
    printf("a buffer of 1 GB; reference: the smaller of run list and bitmap, leaf by leaf\n");
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        struct measured measured = run(&kernels[i], touched);
        char name[96];
        snprintf(name, sizeof name, "shadow, %s", kernels[i].name);
        bench_add(&bench, name, measured.shadow, "byte", measured.floor);
        snprintf(name, sizeof name, "in flight, %s", kernels[i].name);
        bench_add(&bench, name, measured.peak, "byte", measured.floor);
        small = small && measured.shadow <= 2 * measured.floor;
    }
    free(touched);
    if (!small) {
        fprintf(stderr, "bench: shadow is above twice its floor\n");
    }
    return bench_write(&bench, "shadow") && small ? 0 : 1;
}
