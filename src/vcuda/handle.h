/* Handles of streams and events: numbers that look like no address, so a wrong one is an error and
 * never a crash. */
#ifndef SSAN_VCUDA_HANDLE_H
#define SSAN_VCUDA_HANDLE_H

#include "vcuda/device.h"

cudaStream_t handle_of_stream(uint64_t number);
cudaEvent_t handle_of_event(uint64_t number);

/* Device lock held. cudaErrorInvalidResourceHandle for what is no live handle; default streams are
 * those of the current device, made at their first use (`per_thread`: what 0 means in the caller's
 * translation unit, R-STREAM-9), which can run out of memory. */
cudaError_t handle_find_stream(struct call *call, cudaStream_t handle, bool per_thread,
                               struct stream **stream);
cudaError_t handle_find_event(cudaEvent_t handle, struct event **event);
/* For annotations: an object that may be a handle. NULL when it is none. Device lock held. */
struct stream *handle_is_stream(const void *object);
struct event *handle_is_event(const void *object);
/* The number in a live handle. */
uint64_t handle_number(const void *handle);

#endif
