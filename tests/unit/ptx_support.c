#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/ptx_support.h"

#include "base/mem.h"

#include <string.h>

static bool find_region(void *self, uint64_t address, struct ptx_region *region)
{
    const struct device *device = self;
    for (size_t i = 0; i < device->region_count; i++) {
        if (address >= device->regions[i].begin && address < device->regions[i].end) {
            *region = device->regions[i];
            return true;
        }
    }
    return false;
}

static void print(void *self, const char *bytes, size_t length)
{
    strbuf_add(&((struct device *)self)->printed, bytes, length);
}

static uint64_t heap_alloc(void *self, uint64_t size_bytes)
{
    return (uint64_t)(uintptr_t)mem_zalloc(1, size_bytes);
}

static void heap_free(void *self, uint64_t address)
{
    mem_free((void *)(uintptr_t)address);
}

void device_init(struct device *device)
{
    *device = (struct device){.epoch = 1};
    device->machine = (struct ptx_machine){.self = device,
                                           .find_region = find_region,
                                           .region_epoch = &device->epoch,
                                           .print = print,
                                           .heap_alloc = heap_alloc,
                                           .heap_free = heap_free,
                                           .clock = &device->clock};
}

void device_map(struct device *device, void *memory, size_t size_bytes, bool writable)
{
    assert_true(device->region_count < DEVICE_REGIONS);
    const uint64_t begin = (uint64_t)(uintptr_t)memory;
    device->regions[device->region_count++] =
        (struct ptx_region){begin, begin + size_bytes, 0, writable};
    device->epoch++;
}

void device_finish(struct device *device)
{
    strbuf_finish(&device->printed);
    mem_free(device->globals);
}

struct ptx_module *module_load(struct device *device, const char *text)
{
    struct ptx_module *module = NULL;
    struct ssan_error err = {0};
    if (ptx_parse(&module, text, strlen(text), &err) != SSAN_OK) {
        fail_msg("%s\n%s", err.text, text);
    }
    uint64_t total = 64;
    for (size_t i = 0; i < ptx_global_count(module); i++) {
        total += ptx_global_at(module, i)->size_bytes + 64;
    }
    if (ptx_global_count(module)) {
        char *memory = mem_zalloc(1, total), *at = memory;
        assert_non_null(memory);
        for (size_t i = 0; i < ptx_global_count(module); i++) {
            at += (64 - (uintptr_t)at % 64) % 64;
            ptx_bind_global(module, i, (uint64_t)(uintptr_t)at);
            at += ptx_global_at(module, i)->size_bytes;
        }
        for (size_t i = 0; i < ptx_global_count(module); i++) {
            ptx_global_init(module, i, (void *)(uintptr_t)ptx_global_at(module, i)->address);
        }
        device_map(device, memory, total, true);
        device->globals = memory;
    }
    return module;
}

void module_drop(struct ptx_module *module)
{
    ptx_destroy(module);
}

struct ptx_launch launch_of(const struct ptx_module *module, const char *name, uint32_t grid,
                            uint32_t block, const void *params)
{
    const struct ptx_kernel *kernel = ptx_kernel_find(module, name);
    assert_non_null(kernel);
    return (struct ptx_launch){.module = module,
                               .kernel = kernel,
                               .grid = {grid, 1, 1},
                               .block = {block, 1, 1},
                               .params = params,
                               .observe = true};
}

struct ptx_exec *run_launch(struct device *device, const struct ptx_launch *launch,
                            enum ptx_state expected)
{
    struct ptx_exec *exec = ptx_exec_create(&device->machine, launch);
    assert_non_null(exec);
    const enum ptx_state state = ptx_exec_run(exec, 0);
    if (state != expected) {
        const struct ptx_fault_info *fault = ptx_exec_fault(exec);
        fail_msg("%s: state %d, not %d; fault %d at address %llx, line %u, thread %u, block %u: %s",
                 launch->kernel->name, (int)state, (int)expected, (int)fault->fault,
                 (unsigned long long)fault->address, fault->at.line, fault->thread[0],
                 fault->block[0], fault->text);
    }
    return exec;
}

void run_kernel(struct run *run, const char *head, const char *body, uint32_t grid, uint32_t block,
                const void *params, enum ptx_state expected)
{
    struct strbuf text = {0};
    memset(run, 0, sizeof *run);
    device_init(&run->device);
    device_map(&run->device, run->words, sizeof run->words, true);
    strbuf_printf(&text, "%s%s\n}\n", head, body);
    run->module = module_load(&run->device, strbuf_text(&text));
    const struct ptx_launch launch = launch_of(run->module, "k", grid, block, params);
    run->exec = run_launch(&run->device, &launch, expected);
    strbuf_finish(&text);
}

void run_end(struct run *run)
{
    ptx_exec_destroy(run->exec);
    module_drop(run->module);
    device_finish(&run->device);
}
