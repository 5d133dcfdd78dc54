/* A device for tests of the executor: memory of the test itself, printf into a buffer. */
#ifndef SSAN_TESTS_UNIT_PTX_SUPPORT_H
#define SSAN_TESTS_UNIT_PTX_SUPPORT_H

#include "base/strbuf.h"
#include "ptx/exec.h"

#define DEVICE_REGIONS 4

struct device {
    struct ptx_region regions[DEVICE_REGIONS];
    size_t region_count;
    uint64_t epoch, clock;
    struct strbuf printed;
    char *globals; /* memory of the loaded module's variables */
    struct ptx_machine machine;
};

void device_init(struct device *device);
/* Makes host memory visible to kernels at its own address. */
void device_map(struct device *device, void *memory, size_t size_bytes, bool writable);
void device_finish(struct device *device);
/* Parses; a failure fails the test with its message. Globals get memory that the caller frees with
 * module_drop. */
struct ptx_module *module_load(struct device *device, const char *text);
void module_drop(struct ptx_module *module);
/* A launch of `name` in one grid and block dimension. */
struct ptx_launch launch_of(const struct ptx_module *module, const char *name, uint32_t grid,
                            uint32_t block, const void *params);
/* Runs to the end; the state must be `expected`. */
struct ptx_exec *run_launch(struct device *device, const struct ptx_launch *launch,
                            enum ptx_state expected);

/* One kernel "k" that has run, and the words that it could write. */
struct run {
    struct device device;
    struct ptx_module *module;
    struct ptx_exec *exec;
    uint32_t words[1024];
};

/* Runs the kernel `head` + `body` + "}". `params` may hold the address of the words. */
void run_kernel(struct run *run, const char *head, const char *body, uint32_t grid, uint32_t block,
                const void *params, enum ptx_state expected);
void run_end(struct run *run);

#endif
