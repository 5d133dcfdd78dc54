/* What the entry points do, where it depends on the default stream of the calling translation unit.
 *
 * Entry points come twice (api_entry.c): with `per_thread` false, and as name_ptsz or name_ptds
 * with it true (R-STREAM-9). All of these run inside a call that has begun: device lock held. */
#ifndef SSAN_VCUDA_API_H
#define SSAN_VCUDA_API_H

#include "vcuda/device.h"

struct kernel;

cudaError_t api_stream_priority(struct call *call, cudaStream_t handle, bool per_thread,
                                int *priority);
cudaError_t api_stream_flags(struct call *call, cudaStream_t handle, bool per_thread,
                             unsigned *flags);
cudaError_t api_stream_id(struct call *call, cudaStream_t handle, bool per_thread,
                          unsigned long long *id);
cudaError_t api_stream_synchronize(struct call *call, cudaStream_t handle, bool per_thread);
cudaError_t api_stream_query(struct call *call, cudaStream_t handle, bool per_thread);
cudaError_t api_stream_wait(struct call *call, cudaStream_t handle, bool per_thread,
                            cudaEvent_t event, unsigned flags);
cudaError_t api_event_record(struct call *call, cudaEvent_t event, cudaStream_t handle,
                             bool per_thread, unsigned flags);
cudaError_t api_hostfunc(struct call *call, cudaStream_t handle, bool per_thread,
                         const struct hostfunc *hostfunc);

/* A launch as the program asks for it. `cooperative`: all blocks have to be there at once, or it is
 * refused. */
struct launch_request {
    const void *stub;
    dim3 grid, block;
    void **args;
    size_t shared_bytes;
    cudaStream_t stream;
    bool per_thread, cooperative;
};
cudaError_t api_launch(struct call *call, const struct launch_request *request);
/* As BEGIN for cudaLaunchKernel of `stub`: the call is made where the launch configuration was
 * pushed that was popped last, if one was popped since the last launch. */
bool api_launch_begin(struct call *call, const void *stub, const void *frame);
/* Blocks of a kernel that fit on a multiprocessor at once; 0: none. */
uint64_t api_active_blocks(const struct kernel *kernel, uint64_t threads, uint64_t shared_bytes);

cudaError_t api_copy(struct call *call, const struct transfer *copy, enum cudaMemcpyKind kind,
                     enum ssan_form form, cudaStream_t handle, bool per_thread);
cudaError_t api_memset(struct call *call, const struct transfer *set, enum ssan_form form,
                       cudaStream_t handle, bool per_thread);
/* Whether a device has that number. */
bool api_is_device(int number);
/* The symbol's side of a copy: address of `count` bytes at `offset`. */
cudaError_t api_symbol(struct call *call, const void *symbol, size_t offset, size_t count,
                       uint64_t *address);

/* Makes a created operation an item of its stream, tells it and lets the schedule run it. Takes the
 * caller's reference. `also` as in queue_link; `event` (may be NULL) gets it as its record; `name`
 * and `event_id` as in emit_op. */
cudaError_t api_submit(struct call *call, struct op *op, struct op *also, enum ssan_form form,
                       const char *name, struct event *event, uint32_t event_id);

static inline uint64_t api_address(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

/* `count` bytes as one row. */
static inline struct transfer api_row(void *dst, const void *src, size_t count)
{
    return (struct transfer){.dst = api_address(dst),
                             .src = api_address(src),
                             .width = count,
                             .height = 1,
                             .dst_pitch = count,
                             .src_pitch = src ? count : 0};
}

#endif
