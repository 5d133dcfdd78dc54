/* Any bytes as PTX: refused with a message, or a module whose kernels can be run a little without
 * harm. The input may not reach memory of the process: the machine has one small region. */
#include "ptx/exec.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned char memory[4096] __attribute__((aligned(64)));

static bool find_region(void *self, uint64_t address, struct ptx_region *region)
{
    const uint64_t begin = UINT64_C(0x10000);
    *region = (struct ptx_region){begin, begin + sizeof memory,
                                  (int64_t)((uintptr_t)memory - begin), true};
    return address >= begin && address < region->end;
}

static void run_kernel(const struct ptx_module *module, const struct ptx_kernel *kernel)
{
    static uint64_t params[8192];
    uint64_t clock = 0;
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        params[i] = 0x10000;
    }
    const struct ptx_machine machine = {.find_region = find_region, .clock = &clock};
    const struct ptx_launch launch = {.module = module,
                                      .kernel = kernel,
                                      .grid = {1, 1, 1},
                                      .block = {40, 1, 1},
                                      .params = params,
                                      .observe = true};
    if (kernel->param_bytes > sizeof params) {
        return;
    }
    struct ptx_exec *exec = ptx_exec_create(&machine, &launch);
    if (exec) {
        const struct ptx_access *sets;
        size_t count;
        ptx_exec_run(exec, 0);
        ptx_exec_observed(exec, &sets, &count);
    }
    ptx_exec_destroy(exec);
}

/* A backward branch may never end; only straight programs are run. */
static bool has_branch(const uint8_t *data, size_t size)
{
    return memmem(data, size, "bra", 3) || memmem(data, size, "brx", 3) ||
           memmem(data, size, "call", 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ptx_module *module = NULL;
    struct ssan_error err = {0};
    if (ptx_parse(&module, (const char *)data, size, &err) != SSAN_OK) {
        if (module || err.status == SSAN_OK || !err.text[0]) {
            abort();
        }
        return 0;
    }
    for (size_t i = 0; i < ptx_global_count(module); i++) {
        ptx_bind_global(module, i, 0x10000);
    }
    for (size_t i = 0; i < ptx_kernel_count(module) && !has_branch(data, size); i++) {
        if (ptx_kernel_at(module, i)->shared_bytes <= 1 << 20) {
            run_kernel(module, ptx_kernel_at(module, i));
        }
    }
    ptx_destroy(module);
    return 0;
}
