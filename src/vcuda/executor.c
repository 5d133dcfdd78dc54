/* Runs the job that a schedule chose, tells its accesses, and when nobody asks for anything keeps
 * the device going.
 *
 * Invariant: while `device.job` is an operation, only the thread that runs it touches its
 * contents and the clock, and it does so without the device lock. */
#include "vcuda/executor.h"

#include "vcuda/emit.h"
#include "vcuda/memory.h"
#include "vcuda/output.h"
#include "vcuda/plan_fails.h"
#include "vcuda/plan_order.h"
#include "vcuda/queue.h"
#include "vcuda/sched.h"
#include "vcuda/site.h"
#include "vcuda/threads.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Virtual time of a copy or memset: a start, and 16 bytes a tick. */
#define TRANSFER_TICKS UINT64_C(2000)
#define LAUNCH_TICKS   UINT64_C(3000)

enum outcome { DONE, PARKED, YIELDED, FAULTED, PLANNED };

/* As of the start of the current run; this thread's, so that nobody else's step changes them under
 * a kernel. */
static uint64_t machine_epoch, machine_clock;
static uint32_t machine_ordinal, machine_reach; /* the device, and all whose memory it may access */
static bool is_dry;

/* It is memory of a device to which the running one has no peer access. */
static bool is_out_of_reach(const struct memory_block *block)
{
    return block->kind == SSAN_memory_DEVICE && !(machine_reach >> block->ordinal & 1);
}

static bool find_region(void *self, uint64_t address, struct ptx_region *region)
{
    struct memory_block block;
    if (!memory_find(address, &block) || is_out_of_reach(&block)) {
        return false;
    }
    *region = (struct ptx_region){
        .begin = block.address,
        .end = block.address + block.size,
        .delta = block.kind == SSAN_memory_DEVICE ? memory_delta() : 0,
        .writable = !block.is_constant && !(block.kind == SSAN_memory_REGISTERED &&
                                            (block.flags & cudaHostRegisterReadOnly)),
    };
    return true;
}

static void print(void *self, const char *bytes, size_t length)
{
    if (!device.job->printed) {
        device.job->printed = true;
        emit_printed(device.job->id);
    }
    output_keep(bytes, length);
}

static uint64_t heap_alloc(void *self, uint64_t size_bytes)
{
    struct memory_block block;
    return memory_alloc_device(size_bytes, 16, machine_ordinal, 0, &block) == cudaSuccess
               ? block.address
               : 0;
}

static void heap_free(void *self, uint64_t address)
{
    struct memory_block block;
    if (memory_find(address, &block) && block.address == address && block.id == 0) {
        memory_release(address);
    }
}

static const struct ptx_machine machine = {
    .find_region = find_region,
    .region_epoch = &machine_epoch,
    .print = print,
    .heap_alloc = heap_alloc,
    .heap_free = heap_free,
    .clock = &machine_clock,
};

static cudaError_t error_of(enum ptx_fault fault)
{
    switch (fault) {
    case PTX_FAULT_MISALIGNED:
        return cudaErrorMisalignedAddress;
    case PTX_FAULT_ASSERT:
        return cudaErrorAssert;
    case PTX_FAULT_ILLEGAL_INSTRUCTION:
        return cudaErrorIllegalInstruction;
    case PTX_FAULT_NO_MEMORY:
        return cudaErrorMemoryAllocation;
    case PTX_FAULT_TRAP:
        return cudaErrorLaunchFailure;
    default:
        return cudaErrorIllegalAddress;
    }
}

/* Where the address lies, in words; empty when nothing is near. */
static void describe_place(uint64_t address, char *text, size_t room)
{
    struct memory_block block;
    text[0] = '\0';
    const bool found = memory_find(address, &block);
    if (found && is_out_of_reach(&block)) {
        snprintf(text, room, "; it is memory of device %u, to which device %u has no peer access",
                 block.ordinal, machine_ordinal);
    } else if (found) {
        snprintf(text, room,
                 "; it is in a block of %llu bytes that may only be read, or ends in it",
                 (unsigned long long)block.size);
    } else if (memory_find_dead(address, &block)) {
        snprintf(text, room, "; it is %llu bytes into a block of %llu bytes that has been freed",
                 (unsigned long long)(address - block.address), (unsigned long long)block.size);
    } else if (memory_find_before(address, &block) &&
               address - block.address < 4 * block.size + 65536) {
        uint64_t end = block.address + block.size;
        snprintf(text, room, "; it is byte %llu behind the end of a block of %llu bytes",
                 (unsigned long long)(address - end + 1), (unsigned long long)block.size);
    } else if (address >= 4096 && !memory_is_device_address(address)) {
        snprintf(text, room, "; it is no memory of the device");
    }
}

static const char *name_of(const struct op *op, const struct ptx_fault_info *info)
{
    return info->at.function ? info->at.function : op->launch.kernel->name;
}

static void describe_fault(const struct op *op, const struct ptx_fault_info *info, char *text,
                           size_t room)
{
    char place[160], what[320];
    switch (info->fault) {
    case PTX_FAULT_ILLEGAL_ADDRESS:
    case PTX_FAULT_MISALIGNED:
        describe_place(info->address, place, sizeof place);
        snprintf(what, sizeof what, "%s of %u bytes at the %s address 0x%llx%s",
                 info->is_write ? "write" : "read", info->size_bytes,
                 info->fault == PTX_FAULT_MISALIGNED ? "misaligned" : "illegal",
                 (unsigned long long)info->address,
                 info->fault == PTX_FAULT_MISALIGNED ? "" : place);
        break;
    case PTX_FAULT_ASSERT:
        snprintf(what, sizeof what, "assertion failed: %s", info->text);
        break;
    case PTX_FAULT_TRAP:
        snprintf(what, sizeof what, "trap%s%s", info->text[0] ? ": " : "", info->text);
        break;
    case PTX_FAULT_NO_MEMORY:
        snprintf(what, sizeof what, "the executor ran out of memory");
        break;
    default:
        snprintf(what, sizeof what, "illegal instruction%s%s", info->text[0] ? ": " : "",
                 info->text);
        break;
    }
    snprintf(text, room, "kernel '%s', block (%u,%u,%u), thread (%u,%u,%u): %s", name_of(op, info),
             info->block[0], info->block[1], info->block[2], info->thread[0], info->thread[1],
             info->thread[2], what);
}

static void tell_accesses(const struct op *op)
{
    const struct ptx_access *sets;
    size_t count;
    if (!emit_is_on()) {
        return;
    }
    if (!ptx_exec_observed(op->launch.exec, &sets, &count)) {
        emit_lost(SSAN_loss_ACCESSES, op->id);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct ptx_access *set = &sets[i];
        uint32_t site = site_line(&set->at);
        if (set->runs.count > 0) {
            emit_set(op->id, set->access, site, set->width, set->runs);
        }
        for (size_t leaf = 0; leaf < set->leaf_count; leaf++) {
            emit_leaf(op->id, set->access, site, set->width, set->leaves[leaf].address,
                      set->leaves[leaf].bits);
        }
    }
}

/* A device waits for lanes that an operation of a warp names: it hangs, or gets other results. */
static void tell_lacking(const struct op *op)
{
    const struct ptx_line *at = ptx_exec_lacking(op->launch.exec);
    char text[512];
    if (at && emit_is_on()) {
        const char *name = at->file ? strrchr(at->file, '/') : NULL;
        snprintf(
            text, sizeof text,
            "%s:%u: a shuffle, vote, match or __syncwarp of %s went on without threads that it "
            "names, which were elsewhere: its result may not be a GPU's",
            name       ? name + 1
            : at->file ? at->file
                       : "?",
            at->line, at->function ? at->function : "a kernel");
        emit_unsupported(text, 0, 0);
    }
}

static enum outcome run_kernel(struct op *op, uint64_t blocks)
{
    struct launch *launch = &op->launch;
    enum ptx_state state;
    machine_epoch = memory_epoch();
    if (!launch->exec) {
        const struct ptx_launch start = {
            .module = launch->module,
            .kernel = launch->kernel,
            .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
            .block = {launch->block[0], launch->block[1], launch->block[2]},
            .dynamic_shared_bytes = launch->shared_bytes,
            .params = launch->params,
            .observe = emit_is_on(),
            .cooperative = launch->cooperative,
            .dry = is_dry,
        };
        machine_clock += LAUNCH_TICKS;
        launch->exec = ptx_exec_create(&machine, &start);
        if (!launch->exec) {
            return FAULTED;
        }
    }
    state = ptx_exec_run(launch->exec, blocks);
    if (state == PTX_RUNNING) {
        return YIELDED;
    }
    if (state == PTX_STUCK) {
        return PARKED;
    }
    tell_accesses(op);
    tell_lacking(op);
    return state == PTX_DONE ? DONE : FAULTED;
}

/* One row, or all of them when they touch; otherwise pieces at the pitch. */
static struct ssan_run rows(uint64_t address, const struct transfer *transfer, uint64_t pitch)
{
    if (transfer->height <= 1 || pitch == transfer->width) {
        return (struct ssan_run){address,
                                 transfer->width * (transfer->height ? transfer->height : 1), 0, 1};
    }
    return (struct ssan_run){address, transfer->width, pitch, transfer->height};
}

static void tell_rows(uint64_t op, enum ssan_access access, struct ssan_run run)
{
    if (run.length > 0) {
        emit_set(op, access, 0, 0, (struct ssan_runs){&run, 1});
    }
}

bool executor_stage(struct transfer *copy)
{
    const unsigned char *from = memory_at(copy->src);
    unsigned char *to = mem_alloc(copy->width * copy->height);
    if (!to) {
        return false;
    }
    for (uint64_t row = 0; row < copy->height; row++) {
        memcpy(to + row * copy->width, from + row * copy->src_pitch, copy->width);
    }
    copy->staged = to;
    return true;
}

/* At the end of the process host memory may be gone; blocks of CUDA are still there. */
static bool may_touch(uint64_t address)
{
    struct memory_block block;
    return !is_dry || (memory_find(address, &block) && block.kind != SSAN_memory_REGISTERED);
}

void executor_tell_transfer(const struct op *op)
{
    const struct transfer *transfer = &op->transfer;
    if (op->kind == SSAN_op_kind_COPY) {
        tell_rows(op->id, SSAN_access_READ, rows(transfer->src, transfer, transfer->src_pitch));
    }
    tell_rows(op->id, SSAN_access_WRITE, rows(transfer->dst, transfer, transfer->dst_pitch));
}

static enum outcome run_copy(struct op *op)
{
    const struct transfer *copy = &op->transfer;
    const unsigned char *from = copy->staged ? copy->staged : memory_at(copy->src);
    uint64_t from_pitch = copy->staged ? copy->width : copy->src_pitch;
    unsigned char *to = memory_at(copy->dst);
    executor_tell_transfer(op);
    if (may_touch(copy->dst) && (copy->staged || may_touch(copy->src))) {
        for (uint64_t row = 0; row < copy->height; row++) {
            memmove(to + row * copy->dst_pitch, from + row * from_pitch, copy->width);
        }
    }
    machine_clock += TRANSFER_TICKS + copy->width * copy->height / 16;
    return DONE;
}

static enum outcome run_memset(struct op *op)
{
    const struct transfer *set = &op->transfer;
    unsigned char *to = memory_at(set->dst);
    executor_tell_transfer(op);
    if (may_touch(set->dst)) {
        for (uint64_t row = 0; row < set->height; row++) {
            memset(to + row * set->dst_pitch, set->value, set->width);
        }
    }
    machine_clock += TRANSFER_TICKS + set->width * set->height / 16;
    return DONE;
}

static enum outcome run(struct op *op, uint64_t blocks)
{
    switch (op->kind) {
    case SSAN_op_kind_KERNEL:
        return run_kernel(op, blocks);
    case SSAN_op_kind_COPY:
        return run_copy(op);
    default:
        return run_memset(op);
    }
}

/* The access that faulted, where it meets memory that is no more: a use after free is for the
 * analysis to say. Other illegal addresses are a device fault and nothing else. */
static void tell_fault_access(const struct op *op, const struct ptx_fault_info *info)
{
    const struct ssan_run run = {info->address, info->size_bytes, 0, 1};
    if (emit_is_on() && info->fault == PTX_FAULT_ILLEGAL_ADDRESS &&
        memory_is_freed(info->address, info->size_bytes)) {
        emit_set(op->id, info->is_write ? SSAN_access_WRITE : SSAN_access_READ,
                 site_line(&info->at), info->size_bytes, (struct ssan_runs){&run, 1});
    }
}

static void fail(struct op *op)
{
    char text[768];
    if (!op->launch.exec) {
        device_fault(op, cudaErrorMemoryAllocation, NULL, "the executor ran out of memory");
        return;
    }
    const struct ptx_fault_info *info = ptx_exec_fault(op->launch.exec);
    describe_fault(op, info, text, sizeof text);
    tell_fault_access(op, info);
    device_fault(op, error_of(info->fault), &info->at, text);
}

/* Device lock held; given up while the operation runs. */
static void run_job(void)
{
    struct op *op = device.job;
    uint64_t blocks = device.exiting ? 0 : plan_order_budget(op);
    char text[256];
    cudaError_t planned = plan_fails_begin(op, text, sizeof text);
    enum outcome outcome = PLANNED;
    if (blocks == 0 && device.policy->budget && !device.exiting) {
        blocks = device.policy->budget();
    }
    machine_clock = device.clock;
    machine_ordinal = op->stream->ordinal;
    machine_reach = op->kind == SSAN_op_kind_KERNEL ? op->launch.reach : 1u << machine_ordinal;
    is_dry = device.exiting;
    if (planned == cudaSuccess) {
        device_unlock();
        outcome = run(op, blocks);
        device_lock();
    }
    device.clock = machine_clock;
    op->parked = outcome == PARKED;
    if (outcome == PLANNED) {
        device_fault(op, planned, NULL, text);
    } else if (outcome == FAULTED) {
        fail(op);
    } else if (outcome == DONE) {
        emit_closed(op->id);
        queue_complete(op);
    } else {
        op->parked_at = device.progress;
        queue_put_back(op);
    }
    device.job = NULL;
    device.job_is_elsewhere = false;
    device.active_ns = device_now_ns();
    device_cancel(); /* what this one held up, where the context has died meanwhile */
    pthread_cond_broadcast(&device.changed);
}

void executor_run_here(struct op *op)
{
    queue_take(op);
    op->state = OP_RUNNING;
    device.active_ns = device_now_ns();
    device.job = op;
    device.job_is_elsewhere = true;
    run_job();
}

void executor_fail_stuck(struct op *op)
{
    const struct ptx_fault_info *info = ptx_exec_fault(op->launch.exec);
    char text[512], what[64] = "threads wait at a barrier";
    if (info->address) {
        snprintf(what, sizeof what, "it reads the word at 0x%llx",
                 (unsigned long long)info->address);
    }
    snprintf(text, sizeof text,
             "kernel '%s' makes no progress, nothing else can run and every host thread waits: "
             "launch timed out while %s",
             name_of(op, info), what);
    queue_take(op);
    op->state = OP_RUNNING;
    tell_accesses(op);
    device_fault(op, cudaErrorLaunchTimeout, &info->at, text);
}

static void wait_for_work(int64_t until_ns)
{
    struct timespec until = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
    if (until_ns == INT64_MAX) {
        device.asleep = true;
        pthread_cond_wait(&device.work, &device.lock);
        device.asleep = false;
    } else {
        pthread_cond_timedwait(&device.work, &device.lock, &until);
    }
}

static void *executor_main(void *unused)
{
    device_lock();
    for (;;) {
        int64_t until_ns;
        struct op *op;
        if (device.job && !device.job_is_elsewhere) {
            run_job();
        } else if ((op = sched_idle(&until_ns)) != NULL) {
            sched_begin(op);
        } else {
            wait_for_work(until_ns);
        }
    }
    return NULL;
}

bool executor_start(void)
{
    pthread_t thread;
    if (threads_create_own(&thread, executor_main, NULL) != 0) {
        return false;
    }
    pthread_detach(thread);
    return true;
}
