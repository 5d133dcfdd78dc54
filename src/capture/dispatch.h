/* What each domain of callbacks does. All of these run in callbacks of the sanitizer library, on
 * any thread of the program or of the driver, while there is a trace. */
#ifndef SSAN_CAPTURE_DISPATCH_H
#define SSAN_CAPTURE_DISPATCH_H

#include "capture/calls.h"
#include "capture/handles.h"
#include "capture/sanitizer_abi.h"

#include "trace/observe_plan.h"

/* The library that called; valid once callbacks come. */
extern struct sanitizer_api capture_api;

void on_api(uint32_t domain, uint32_t id, const struct sanitizer_api_data *data);
void on_resource(uint32_t id, const void *data);
void on_synchronize(uint32_t id, const struct sanitizer_synchronize_data *data);
void on_launch(uint32_t id, const struct sanitizer_launch_data *data);
void on_memcpy(const struct sanitizer_memcpy_data *data);
void on_memset(const struct sanitizer_memset_data *data);
void on_event(uint32_t id, const struct sanitizer_event_data *data);
void on_graph(uint32_t id, const void *data);

/* Puts an item of a stream and tells the gates, in one order. `handle` NULL: it is found. `launch`:
 * of a kernel. Lock of emit.h held. 0: not put, the op names no stream. */
uint64_t item_put(struct thread *thread, struct ssan_ev_op *op, struct sanitizer_stream *handle,
                  const struct sanitizer_launch_data *launch);
/* Ends the copy or memset that the thread's call has in progress. */
void transfer_return(struct thread *thread);
/* A wait for an event that was never recorded: the driver tells nothing of it. */
void unrecorded_wait(struct thread *thread, CUstream stream, CUevent event, bool per_thread);

/* The thread enters the driver's call that submits a host function, leaves it. */
void hostfunc_enter(struct thread *thread, const struct call_frame *frame);
void hostfunc_leave(struct thread *thread, const struct call_frame *frame, bool ok);

/* The function whose code holds a return address, demangled, without arguments; "" when its object
 * has no symbol for it. Not under the lock of emit.h: the loader is asked. */
const char *hostfunc_holding(uint64_t address);

/* The thread's outermost call has returned an error, which is not NotReady; `data` of its exit. */
void error_returned(struct thread *thread, const struct api_call *call,
                    const struct sanitizer_api_data *data);
/* It was a question for the last error, and there was one. */
void error_asked(struct thread *thread, const struct api_call *call, int result);

/* The context is current at the entry of a call: what could not be asked when it began is asked
 * now.
 */
void resource_context(CUcontext context);
/* A variable lies at `address`; `space` as it is declared, "__device__" or the like. `module` may
 * be NULL: not known. */
void resource_variable(CUmodule module, uint64_t address, uint64_t size, const char *name,
                       const char *space);

/* What of the run is observed: read from the session at the first call. Any thread. */
const struct observe_plan *capture_plan(void);
/* The program's name for a stream, an event or a block. */
void annotate_name(const void *object, const char *text);

/* The number of error findings so far; waits until all that is in the trace is judged. */
uint64_t capture_ask_findings(uint32_t thread);

static inline struct caller calls_caller(struct thread *thread)
{
    struct caller caller = {thread->id, calls_site(thread)};
    return caller;
}

#endif
