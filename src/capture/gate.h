/* Gates: kernels that are held up on the GPU until another item is done, so that a missing order
 * shows (docs/gpu.md, trace/gate_words.h).
 *
 * The library patches a wait into the beginning of every block. A held launch gets the address of
 * its gate as user data, every other one none. Behind the item that is waited for a small copy is
 * put into its stream, which opens the gate; the gate opens by itself when its time is over. The
 * word `serialize` asks for the opposite instead: the host waits behind each item.
 *
 * Without gates in the plan all functions return at once. All but gate_start and gate_exit are
 * called in callbacks of the sanitizer library. Calls of gate_item come in the order of the `op`
 * events, one at a time, and call nobody; the others come from any thread. */
#ifndef SSAN_CAPTURE_GATE_H
#define SSAN_CAPTURE_GATE_H

#include "capture/sanitizer_abi.h"
#include "trace/observe_plan.h"
#include "trace/sink.h"

#include <stdbool.h>
#include <stdint.h>

#define GATE_PATCHES "gate.fatbin" /* beside the library */

/* Reads the gates of the plan, before any callback. `patches`: path of GATE_PATCHES, copied.
 * `alone`: accesses are not observed, so nobody else patches modules or sets user data. Returns
 * whether there are any. */
bool gate_start(const struct observe_plan *plan, const struct sanitizer_api *api,
                const char *patches, bool alone);

/* At SANITIZER_MODULE_LOADED; unless alone, whoever patches accesses does so behind this. */
void gate_module(const struct sanitizer_module_data *module);

/* A context is about to end, its memory with it: what became of its gates is kept. */
void gate_context_end(CUcontext context);

/* Once for each `op` event that is written: an item of the trace's stream `stream`, whose unique
 * handle is `handle`; NULL: not known, or nothing to wait for, so that nothing is held until it is
 * done. `launch`: of kernels, at SANITIZER_LAUNCH_BEGIN; NULL otherwise. */
void gate_item(uint32_t stream, uint64_t op, struct sanitizer_stream *handle,
               const struct sanitizer_launch_data *launch);

/* Behind gate_item of a launch, on the same thread, with no lock of ours: the launch gets its gate,
 * or none, as user data. Calls the driver. */
void gate_launch(const struct sanitizer_launch_data *launch);

/* Whoever gives the launch of the last gate_item of this thread other user data, at this device
 * address, tells it here: the gate, if the launch has one, is put there too (GATE_OFFSET). */
void gate_attach(uint64_t user, const struct sanitizer_launch_data *launch);

/* The host thread `thread` of the trace announces an access: the event has been written. */
void gate_host_access(uint32_t thread);

/* At the exit of the call that submitted the item, on the same thread; without one before, nothing
 * happens. Calls the driver. */
void gate_call_end(void);

/* What the call of a thread owes to the gates at its exit. */
struct gate_due {
    uint32_t opens; /* a bit for each gate whose `until` was submitted */
    bool waits;
    struct sanitizer_stream *handle;
};

/* An item was put by another thread than the one whose call submits it, as a host function that
 * runs before its call has returned: that thread takes what gate_item left to it, and the calling
 * one is given it before gate_call_end. */
struct gate_due gate_take(void);
void gate_give(const struct gate_due *due);

/* A kernel of a graph, which is never held. */
void gate_node(const struct sanitizer_launch_data *launch);

/* Tells what became of each gate: `gate` events, and `infeasible` where it did not hold to the end.
 * Once, while the process still lives; needs no context. */
void gate_exit(struct ssan_sink *sink);

/* In a forked child: nothing here is ours. */
void gate_detach(void);

#endif
