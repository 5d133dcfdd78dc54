/* Handles of the driver as ids of the trace, and names of kernels.
 *
 * A stream is known by its unique handle while it lives; the same pointer may come back for a new
 * one after its end. Everything here is under the lock of emit.h; events that are due (a
 * stream at its first use) are put by it. */
#ifndef SSAN_CAPTURE_HANDLES_H
#define SSAN_CAPTURE_HANDLES_H

#include "capture/sanitizer_abi.h"
#include "trace/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who asks, for the events. */
struct caller {
    uint32_t thread, site;
};

/* What the trace knows of an event. */
struct event_facts {
    uint32_t id;
    bool recorded; /* by a record that was no part of a capture */
};

/* A context begins; `legacy` is its legacy default stream, NULL: not known yet. */
void handles_add_context(CUcontext context, struct sanitizer_stream *legacy);
/* The device of a context that begins, where it is not the one that its id says. */
void handles_tell_device(CUcontext context, CUdevice device);
bool handles_lacks_legacy(CUcontext context);
void handles_remove_context(CUcontext context);
/* The id of a context, made when it is new. NULL: the first one. */
uint32_t handles_context(CUcontext context);
/* 0: not known, or destroyed. */
uint32_t handles_find_context(CUcontext context);

/* A stream was made: by a call of the program with these flags, or (public NULL) by the driver, as
 * a default stream or, `is_internal`, for itself. */
void handles_add_stream(const struct sanitizer_stream_data *data, unsigned flags, bool is_internal,
                        struct caller caller);
void handles_remove_stream(const struct sanitizer_stream_data *data, struct caller caller);
/* The id of a stream that an item goes to, with its stream_create when this is its first use. */
uint32_t handles_stream(CUcontext context, CUstream stream, struct sanitizer_stream *handle,
                        struct caller caller);
/* What the argument of a call means: 0 when nothing can have been submitted to it. */
uint32_t handles_stream_argument(CUcontext context, CUstream stream, bool per_thread,
                                 struct caller caller);
/* An item of this kind goes to the stream: whether the one before it, records left out, is a
 * kernel, or a memset, which may be one (R-PDL-11). */
bool handles_behind_kernel(struct sanitizer_stream *handle, enum ssan_op_kind kind);
/* Whether it is a default stream, legacy or per-thread. */
bool handles_is_default(struct sanitizer_stream *handle);
/* The unique handle of a stream of the trace; NULL once it is destroyed. */
struct sanitizer_stream *handles_of_stream(uint32_t id);
/* The next stream of the trace that lives, from *cursor (0) on; false behind the last. */
bool handles_next_stream(size_t *cursor, CUcontext *context, struct sanitizer_stream **handle);
/* A capture into a graph begins, ends: meanwhile calls may add nodes and submit nothing. */
void handles_capture(bool begins);
bool handles_is_capturing(void);

/* `context`: of the event; NULL: not known. */
void handles_add_event(CUevent event, CUcontext context, unsigned flags, struct caller caller);
void handles_remove_event(CUevent event, struct caller caller);
/* Made when it is new (it came from another process). Valid while the lock is held; NULL without
 * memory. */
struct event_facts *handles_event(CUevent event, struct caller caller);
/* NULL: never seen. */
struct event_facts *handles_find_event(CUevent event);

/* The public handle as an object of the trace; false when it is neither stream nor event. */
bool handles_find_object(const void *handle, CUcontext context, struct caller caller,
                         enum ssan_object *kind, uint64_t *id);

/* The name of a kernel for people; lives as long as the process. */
const char *handles_kernel_name(CUfunction function, const char *mangled);
/* A mangled name for people; lives as long as the process. */
const char *handles_name(const char *mangled);
/* Functions of a module may have gone: their handles may come back with other names. */
void handles_forget_kernels(void);

void handles_detach(void);

#endif
