/* Lane instructions per second of the executor, with observation, beside the same loops from the C
 * compiler at -O3.
 *
 * The reference is what the C loop would reach if it executed the kernel's instructions:
 * instructions / its time; so the ratio is C time / executor time. Figures are the best of some
 * runs. The floor is the speed of the lane loops alone, called one after the other: registers that
 * are memory are read and written for each instruction (384 bytes of a warp). Then the shares of
 * time of the executor's parts, sampled. bench_exec [kernel [runs]] does one kernel only. The PTX
 * was made from exec_kernels.cu by clang-14 -x cuda -nocudainc -nocudalib
 * --cuda-path=/nonexistent -Xclang -target-sdk-version=11.0
 *     --cuda-gpu-arch=sm_70 -O2 --cuda-device-only -Xclang -target-feature -Xclang +ptx70 -S
 * exec_kernels.cu */
#include "bench/bench.h"
#include "bench/exec_profile.h"
#include "bench/exec_reference.h"
#include "ptx/exec.h"
#include "ptx/lane.h"

#include <stdlib.h>
#include <string.h>

#define ELEMENTS        (1 << 20)
#define SIDE            256
#define RUNS            7
#define FILE_SLOT       (4 * WARP_LANES) /* bytes of a register of 32 bits */
#define PROFILE_SECONDS 0.5

static int runs = RUNS;

static bool find_region(void *self, uint64_t address, struct ptx_region *region)
{
    const struct ptx_region *all = self;
    *region = *all;
    return address >= all->begin && address < all->end;
}

/* The text of a file; NULL when it can't be read. */
static char *read_text(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 20);
    *length = file && text ? fread(text, 1, 1 << 20, file) : 0;
    if (file) {
        fclose(file);
    }
    if (!*length) {
        free(text);
        return NULL;
    }
    return text;
}

/* What an executor with its registers in memory cannot beat: one loop over 32 lanes after the
 * other, nothing between them. The best of some runs, measured once. */
static double floor_speed(void)
{
    static double speed;
    static _Alignas(64) char file[4][FILE_SLOT];
    const uint32_t loops = 1u << 16;
    ptx_fn *const add = lane_isa_get()->table[LANE_add_32];
    const struct op ops[] = {{.dst = FILE_SLOT, .a = 2 * FILE_SLOT, .b = 3 * FILE_SLOT},
                             {.dst = 2 * FILE_SLOT, .a = 3 * FILE_SLOT, .b = FILE_SLOT}};
    double best = 1e9;
    for (int i = 0; i < RUNS; i++) {
        const double start = bench_seconds();
        for (uint32_t n = 0; n < loops; n++) {
            add(file[0], &ops[n % 2], FULL_MASK, NULL);
        }
        const double seconds = bench_seconds() - start;
        best = seconds < best ? seconds : best;
    }
    const double now = (double)loops * WARP_LANES / best * 1e-9;
    speed = now > speed ? now : speed;
    return speed;
}

struct work {
    const char *name;
    uint32_t grid[2], block[2];
    struct {
        float *a;
        union {
            int n;
            float *b;
        };
        float *c;
        int size;
    } params;
    void (*loop)(float *x, int n); /* NULL: the product */
};

static void run_c(const struct work *work, float *memory)
{
    if (work->loop) {
        work->loop(memory, ELEMENTS);
    } else if (strcmp(work->name, "collatz") == 0) {
        c_collatz((int *)memory, ELEMENTS);
    } else {
        c_matmul(memory, memory + SIDE * SIDE, memory + 2 * SIDE * SIDE, SIDE);
    }
}

static void prepare(float *memory)
{
    for (int i = 0; i < ELEMENTS; i++) {
        memory[i] = (float)(i % 1000) * 0.0009f;
    }
}

/* A launch of a kernel on `memory`. */
struct launching {
    struct ptx_region region;
    struct ptx_machine machine;
    struct ptx_launch launch;
    uint64_t clock, epoch;
};

static void launching_init(struct launching *l, const struct ptx_module *module,
                           const struct work *work, float *memory, bool observe)
{
    const uint64_t begin = (uint64_t)(uintptr_t)memory;
    *l = (struct launching){.region = {begin, begin + ELEMENTS * sizeof *memory, 0, true},
                            .machine = {.self = &l->region,
                                        .find_region = find_region,
                                        .region_epoch = &l->epoch,
                                        .clock = &l->clock},
                            .launch = {.module = module,
                                       .kernel = ptx_kernel_find(module, work->name),
                                       .grid = {work->grid[0], work->grid[1], 1},
                                       .block = {work->block[0], work->block[1], 1},
                                       .params = &work->params,
                                       .observe = observe}};
}

/* Runs it to its end; lane instructions, 0 when it did not end well. */
static uint64_t launch_once(const struct launching *l)
{
    const struct ptx_access *sets;
    size_t count;
    struct ptx_exec *exec = ptx_exec_create(&l->machine, &l->launch);
    const bool ok =
        exec && ptx_exec_run(exec, 0) == PTX_DONE && ptx_exec_observed(exec, &sets, &count);
    const uint64_t instructions = ok ? ptx_exec_instructions(exec) : 0;
    ptx_exec_destroy(exec);
    return instructions;
}

/* Best times of the launch and of the same loop from the C compiler; false when the launch did not
 * end well. */
static bool measure(struct bench *bench, const struct ptx_module *module, const struct work *work,
                    float *memory, bool observe)
{
    struct launching l;
    double best = 1e9, best_c = 1e9;
    uint64_t instructions = 0;
    launching_init(&l, module, work, memory, observe);
    for (int i = 0; i < runs; i++) {
        prepare(memory);
        const double start = bench_seconds();
        instructions = launch_once(&l);
        const double middle = bench_seconds();
        if (!instructions) {
            fprintf(stderr, "%s did not end\n", work->name);
            return false;
        }
        prepare(memory);
        const double start_c = bench_seconds();
        run_c(work, memory);
        const double end_c = bench_seconds();
        best = middle - start < best ? middle - start : best;
        best_c = end_c - start_c < best_c ? end_c - start_c : best_c;
    }
    char name[96];
    const double speed = (double)instructions / best * 1e-9;
    snprintf(name, sizeof name, "executor %s%s", work->name, observe ? "" : ", not observed");
    bench_add(bench, name, speed, "G lane-inst/s", (double)instructions / best_c * 1e-9);
    if (observe) {
        snprintf(name, sizeof name, "executor %s, against its floor", work->name);
        bench_add(bench, name, speed, "G lane-inst/s", floor_speed());
    }
    return true;
}

/* Shares of the executor's parts in the time of an observed launch. */
static bool profile(struct bench *bench, const struct ptx_module *module, const struct work *work,
                    float *memory)
{
    struct launching l;
    unsigned samples[PROFILE_parts], all = 0;
    bool ok = true;
    launching_init(&l, module, work, memory, true);
    prepare(memory);
    const double start = bench_seconds();
    profile_start();
    while (ok && bench_seconds() - start < PROFILE_SECONDS) {
        ok = launch_once(&l) != 0;
    }
    profile_stop(samples);
    for (int part = 0; part < PROFILE_other; part++) {
        all += samples[part];
    }
    for (int part = 0; all && part < PROFILE_other; part++) {
        char name[96];
        snprintf(name, sizeof name, "executor %s, share of %s", work->name, profile_names[part]);
        bench_add(bench, name, 100.0 * samples[part] / all, "%", 0);
    }
    return ok;
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    size_t length;
    float *memory = aligned_alloc(4096, ELEMENTS * sizeof *memory);
    char *text = read_text(SSAN_SOURCE_DIR "/tests/bench/exec_kernels.ptx", &length);
    struct ptx_module *module = NULL;
    struct ssan_error err = {0};
    if (!memory || !text || ptx_parse(&module, text, length, &err) != SSAN_OK) {
        fprintf(stderr, "exec_kernels.ptx: %s\n", err.text);
        free(memory);
        free(text);
        return 1;
    }
    const uint32_t blocks = ELEMENTS / 256;
    const struct work works[] = {
        {"scale", {blocks, 1}, {256, 1}, {.a = memory, .n = ELEMENTS}, c_scale},
        {"add", {blocks, 1}, {256, 1}, {.a = memory, .n = ELEMENTS}, c_add},
        {"poly", {blocks, 1}, {256, 1}, {.a = memory, .n = ELEMENTS}, c_poly},
        {"collatz", {blocks, 1}, {256, 1}, {.a = memory, .n = ELEMENTS}, NULL},
        {"matmul",
         {SIDE / 16, SIDE / 16},
         {16, 16},
         {.a = memory, .b = memory + SIDE * SIDE, .c = memory + 2 * SIDE * SIDE, .size = SIDE},
         NULL},
    };
    bool ok = true;
    const bool has_symbols = profile_init();
    runs = argc > 2 ? atoi(argv[2]) : RUNS;
    for (size_t i = 0; ok && i < sizeof works / sizeof *works; i++) {
        if (argc > 1 && strcmp(argv[1], works[i].name) != 0) {
            continue;
        }
        ok = measure(&bench, module, &works[i], memory, true) &&
             measure(&bench, module, &works[i], memory, false) &&
             (!has_symbols || profile(&bench, module, &works[i], memory));
    }
    profile_finish();
    ptx_destroy(module);
    free(text);
    free(memory);
    return ok && bench_write(&bench, "exec") ? 0 : 1;
}
