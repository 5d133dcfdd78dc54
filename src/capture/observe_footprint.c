/* Scans parameters for addresses of live blocks.
 *
 * A word that looks like an address by accident makes a `may` access too much, never one too few;
 * an operand that a kernel reaches through other memory is not found. Cost: a look-up for each
 * aligned word of the parameters. */
#include "capture/observe_footprint.h"

#include "capture/calls.h"
#include "capture/driver.h"
#include "capture/memory.h"

#include "base/mem.h"

#include <stdatomic.h>
#include <string.h>

#define PARAMETERS 512u
#define OPERANDS   512u

typedef int parameter_info(CUfunction function, size_t index, size_t *offset, size_t *size);

/* cuFuncGetParamInfo of the driver that is loaded (CUDA 12.4), or NULL. */
static parameter_info *find_parameter_info(void)
{
    static _Atomic(parameter_info *) known;
    static atomic_bool was_asked;
    if (!atomic_load(&was_asked)) {
        atomic_store(&known, (parameter_info *)driver_find("cuFuncGetParamInfo"));
        atomic_store(&was_asked, true);
    }
    return atomic_load(&known);
}

void observe_footprint_prepare(struct observed_kernel *kernel, CUfunction function)
{
    struct observe_parameter found[PARAMETERS];
    uint32_t count = 0;
    int result = CUDA_OK;
    parameter_info *info = find_parameter_info();
    if (__atomic_load_n(&kernel->parameters, __ATOMIC_ACQUIRE) || !info) {
        return;
    }
    while (count < PARAMETERS &&
           (result = info(function, count, &found[count].offset, &found[count].size)) == CUDA_OK) {
        count++;
    }
    if (result != CUDA_INVALID_VALUE) {
        return; /* that says that there are no more; else some are not known */
    }
    struct observe_parameter *copy = mem_alloc((count + 1) * sizeof *copy);
    if (copy) {
        memcpy(copy, found, count * sizeof *copy);
        kernel->parameter_count = count; /* the same from every thread; then the list */
        __atomic_store_n(&kernel->parameters, copy, __ATOMIC_RELEASE);
    }
}

/* The byte buffer that `extra` names, if any. */
static void read_extra(struct observe_arguments *found, void *const *extra)
{
    const size_t *size = NULL;
    for (size_t i = 0; extra && extra[i] != CUDA_LAUNCH_END && i < 16; i += 2) {
        if (extra[i] == CUDA_LAUNCH_BUFFER_POINTER) {
            found->bytes = extra[i + 1];
        } else if (extra[i] == CUDA_LAUNCH_BUFFER_SIZE) {
            size = extra[i + 1];
        }
    }
    found->byte_count = found->bytes && size ? *size : 0;
}

struct observe_arguments observe_arguments_find(void)
{
    struct observe_arguments found = {NULL, NULL, 0};
    const struct call_frame *frame = calls_inside(calls_thread(), API_LAUNCH);
    if (!frame || !frame->params) {
        return found;
    }
    const char *name = frame->call->name;
    if (strcmp(name, "cuLaunchKernel") == 0) {
        const struct cuda_driver_launch_params *params = frame->params;
        found.arguments = params->arguments;
        read_extra(&found, params->extra);
    } else if (strcmp(name, "cuLaunchCooperativeKernel") == 0) {
        const struct cuda_driver_launch_params *params = frame->params;
        found.arguments = params->arguments;
    } else if (strcmp(name, "cuLaunchKernelEx") == 0) {
        const struct cuda_launch_ex_params *params = frame->params;
        found.arguments = params->arguments;
        read_extra(&found, params->extra);
    } else if (strcmp(name, "cudaLaunchKernel") == 0 ||
               strcmp(name, "cudaLaunchCooperativeKernel") == 0) {
        const struct cuda_launch_params *params = frame->params;
        found.arguments = params->arguments;
    } else if (strcmp(name, "cudaLaunchKernelExC") == 0) {
        const struct cuda_runtime_launch_ex_params *params = frame->params;
        found.arguments = params->arguments;
    }
    return found;
}

/* Most words are numbers that lie far from all blocks: those cost no look-up. */
struct scan {
    uint64_t begin, end; /* of all blocks */
    observe_take_operand *take;
    void *self;
};

/* Calls take(self, operand) for each aligned word that is an address in a live block. The words
 * begin at `offset` of all parameters. */
static void scan_words(const struct scan *scan, size_t offset, const unsigned char *bytes,
                       size_t size)
{
    for (size_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint32_t)) {
        uint64_t word;
        struct memory_block block;
        memcpy(&word, bytes + at, sizeof word);
        if (word >= scan->begin && word < scan->end && memory_find(word, &block)) {
            struct observe_operand operand = {offset + at, word, block.address + block.size};
            scan->take(scan->self, &operand);
        }
    }
}

bool observe_operands_each(const struct observed_kernel *kernel,
                           const struct observe_arguments *arguments, observe_take_operand *take,
                           void *self)
{
    const struct observe_parameter *parameters =
        __atomic_load_n(&kernel->parameters, __ATOMIC_ACQUIRE);
    struct scan scan = {.take = take, .self = self};
    memory_span(&scan.begin, &scan.end);
    if (arguments->bytes) {
        scan_words(&scan, 0, arguments->bytes, arguments->byte_count);
        return true;
    }
    if (!parameters || (kernel->parameter_count > 0 && !arguments->arguments)) {
        return false;
    }
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        if (arguments->arguments[i]) {
            scan_words(&scan, parameters[i].offset, arguments->arguments[i], parameters[i].size);
        }
    }
    return true;
}

struct operands {
    struct ssan_run runs[OPERANDS];
    uint32_t count;
    bool is_full; /* some are missing */
};

/* Adds the rest of the block behind `address`; of one block the longest rest counts. */
static void add_operand(void *self, const struct observe_operand *operand)
{
    struct operands *operands = self;
    const uint64_t address = operand->address, end = operand->block_end;
    for (uint32_t i = 0; i < operands->count; i++) {
        struct ssan_run *run = &operands->runs[i];
        if (run->address + run->length == end) {
            if (address < run->address) {
                *run = (struct ssan_run){address, end - address, 0, 1};
            }
            return;
        }
    }
    if (operands->count < OPERANDS) {
        operands->runs[operands->count++] = (struct ssan_run){address, end - address, 0, 1};
    } else {
        operands->is_full = true;
    }
}

static void tell(struct ssan_sink *sink, uint64_t op, enum ssan_access access,
                 const struct operands *operands)
{
    struct ssan_event event = {.kind = SSAN_EV_set};
    event.set = (struct ssan_ev_set){op, access, SSAN_set_sureness_MAY,
                                     0,  0,      {operands->runs, operands->count}};
    ssan_put(sink, &event);
}

bool observe_footprint_tell(struct ssan_sink *sink, uint64_t op,
                            const struct observed_kernel *kernel,
                            const struct observe_arguments *arguments, bool may_write)
{
    struct operands operands = {.count = 0, .is_full = false};
    if (!observe_operands_each(kernel, arguments, add_operand, &operands)) {
        return false;
    }
    if (operands.count) {
        tell(sink, op, SSAN_access_READ, &operands);
        if (may_write) {
            tell(sink, op, SSAN_access_WRITE, &operands);
        }
    }
    return !operands.is_full;
}
