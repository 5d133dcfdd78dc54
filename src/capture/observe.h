/* Device accesses: what the device patches tell of the kernels that run.
 *
 * The callbacks of the other files call these, in callbacks of the sanitizer library, from any
 * thread; none waits without a limit. What was observed is written to the trace (`set`, `set_leaf`,
 * `op_closed`) by this part alone, at any time. */
#ifndef SSAN_CAPTURE_OBSERVE_H
#define SSAN_CAPTURE_OBSERVE_H

#include "capture/sanitizer_abi.h"
#include "trace/event.h"
#include "trace/observe_plan.h"

#include <stdbool.h>
#include <stdint.h>

/* What a process observes with, valid as long as it. */
struct observe_setup {
    const struct sanitizer_api *api;
    const struct observe_plan *plan;
    const char *patches; /* the file of the device patches; "" when there is none */
    const char *session; /* the folder */
};

/* After sanitizer_subscribe, before any callback is enabled and before the first event of the
 * trace: how accesses will be observed in this process. Outside of callbacks. */
enum ssan_accesses observe_start(const struct observe_setup *setup);
/* A window of the plan (plan->window is not OBSERVE_ALWAYS) opens, closes: launches outside of all
 * are not observed. Windows of all threads are counted together, also before observe_start. */
void observe_window_open(void);
void observe_window_close(void);
/* The same of a window that is opened and closed without being counted. */
void observe_window_set(bool is_open);
bool observe_is_inside(void);

/* A context begins, is about to end. */
void observe_context(CUcontext context);
void observe_context_end(CUcontext context);
void observe_module(const struct sanitizer_module_data *module);
void observe_module_end(const struct sanitizer_module_data *module);
void observe_functions_loaded(const struct sanitizer_functions_data *functions);

/* At the entry of a call that may launch, where the driver holds no lock yet: waits for a limited
 * time when launches in flight own nearly all that there is to record in. */
void observe_before_launch(CUcontext context);
/* At the entry of a call that takes so many bytes of device memory, or, UINT64_MAX, that asks how
 * much there is: gives back what records of accesses can do without. Waits for a limited time. */
void observe_before_alloc(CUcontext context, uint64_t bytes);
/* At the begin of a launch whose `op` event stands in the trace; `name` is the one of that event.
 * False: the launch is not observed, the caller ends the operation. */
bool observe_launch(uint64_t op, const char *name, const struct sanitizer_launch_data *launch);
void observe_launch_end(void);
/* Whether the kernel that the calling thread has launched last waits for those before it in its
 * stream before it accesses anything (observe_cubin.h); false: that is not known. */
bool observe_waits_first(void);
/* A kernel node of a graph launch, which has no operation of its own. */
void observe_graph_node(const struct sanitizer_graph_node_data *node);

/* At the exit of the outermost call of a thread: behind its launch. */
void observe_call_end(void);
/* A stream (the unique handle) is about to be destroyed. */
void observe_stream_end(CUcontext context, struct sanitizer_stream *stream);

/* The calling thread is about to wait for a stream or a context. */
void observe_joining(CUcontext context);
/* The host has waited for a stream (the unique handle) or, NULL, for the whole context. */
void observe_joined(CUcontext context, struct sanitizer_stream *stream);
/* Behind waits that left nothing running: until what was launched is in the trace, for a limited
 * time. In no callback. */
void observe_wait(void);
/* The process ends normally, the driver still answers: everything is drained, what is unfinished
 * becomes lost. */
void observe_exit(void);
/* The calling thread is ours: callbacks on it are no calls of the program. */
bool observe_is_own_thread(void);
/* In a forked child: nothing here is ours. */
void observe_detach(void);

#endif
