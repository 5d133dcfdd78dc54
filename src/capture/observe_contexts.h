/* The contexts of the process, each with its pool, and the thread that drains them. */
#ifndef SSAN_CAPTURE_OBSERVE_CONTEXTS_H
#define SSAN_CAPTURE_OBSERVE_CONTEXTS_H

#include "capture/observe_pool.h"

/* Once, before any context. `bytes`: of device memory for each; 0: by what there is. `has_gates`:
 * records of launches are written to from elsewhere (gate.h). */
void contexts_start(const struct sanitizer_api *api, struct ssan_sink *sink, const char *patches,
                    uint64_t bytes, bool has_gates);
/* Loads the patches into a context and makes its pool, if that was not done. False: nothing can be
 * observed there, so far. */
bool contexts_add(CUcontext context);
/* Whether nothing can be drained in this process, which was told; contexts_add answers false then.
 */
bool contexts_have_failed(void);
/* Drains what can be had in limited time; the rest is lost. */
void contexts_remove(CUcontext context);
/* Whether launches of this context are observed. */
bool contexts_has(CUcontext context);
/* Its pool, NULL where there is none. It stays, whoever ends the context meanwhile, until
 * contexts_release; a thread that holds one ends no context. Any thread, no lock. */
struct pool *contexts_acquire(CUcontext context);
/* NULL is fine. */
void contexts_release(struct pool *pool);

/* Asks the thread to drain soon. */
void contexts_hurry(void);
/* Waits until all that was launched before is drained, or for so long. */
void contexts_wait(unsigned milliseconds);
/* The same as contexts_remove, for all within one limit, at the end of the process; the thread
 * ends.
 */
void contexts_finish(void);
/* True on the thread that drains. */
bool contexts_is_own_thread(void);
/* In a forked child: the thread is not there, nothing is ours. */
void contexts_forget(void);

#endif
