/* Lane instructions per second of the executor, with observation, beside the same loops from the C
 * compiler at -O3.
 *
 * The reference is what the C loop would reach if it executed the kernel's instructions:
 * instructions / its time; so the ratio is C time / executor time. Figures are the best of some
 * runs. The PTX was made from exec_kernels.cu by clang-14 -x cuda -nocudainc -nocudalib
 * --cuda-path=/nonexistent -Xclang -target-sdk-version=11.0
 *     --cuda-gpu-arch=sm_70 -O2 --cuda-device-only -Xclang -target-feature -Xclang +ptx70 -S
 * exec_kernels.cu */
#include "bench/bench.h"
#include "bench/exec_reference.h"
#include "ptx/exec.h"

#include <stdlib.h>
#include <string.h>

#define ELEMENTS (1 << 20)
#define SIDE     256
#define RUNS     7

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

/* Best times of both; false when the launch did not end well. */
static bool measure(struct bench *bench, const struct ptx_module *module, const struct work *work,
                    float *memory, bool observe)
{
    static uint64_t clock;
    const uint64_t begin = (uint64_t)(uintptr_t)memory, epoch = 1;
    struct ptx_region region = {begin, begin + ELEMENTS * sizeof *memory, 0, true};
    const struct ptx_machine machine = {
        .self = &region, .find_region = find_region, .region_epoch = &epoch, .clock = &clock};
    const struct ptx_launch launch = {.module = module,
                                      .kernel = ptx_kernel_find(module, work->name),
                                      .grid = {work->grid[0], work->grid[1], 1},
                                      .block = {work->block[0], work->block[1], 1},
                                      .params = &work->params,
                                      .observe = observe};
    double best = 1e9, best_c = 1e9;
    uint64_t instructions = 0;
    for (int i = 0; i < RUNS; i++) {
        const struct ptx_access *sets;
        size_t count;
        prepare(memory);
        const double start = bench_seconds();
        struct ptx_exec *exec = ptx_exec_create(&machine, &launch);
        const bool ok =
            exec && ptx_exec_run(exec, 0) == PTX_DONE && ptx_exec_observed(exec, &sets, &count);
        const double middle = bench_seconds();
        instructions = exec ? ptx_exec_instructions(exec) : 0;
        ptx_exec_destroy(exec);
        if (!ok) {
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
    snprintf(name, sizeof name, "executor %s%s", work->name, observe ? "" : ", not observed");
    bench_add(bench, name, (double)instructions / best * 1e-9, "G lane-inst/s",
              (double)instructions / best_c * 1e-9);
    return true;
}

int main(void)
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
    for (size_t i = 0; ok && i < sizeof works / sizeof *works; i++) {
        ok = measure(&bench, module, &works[i], memory, true) &&
             measure(&bench, module, &works[i], memory, false);
    }
    ptx_destroy(module);
    free(text);
    free(memory);
    return ok && bench_write(&bench, "exec") ? 0 : 1;
}
