/* How much device memory a pool has for windows: it grows while launches ask for more, as far as
 * the program leaves memory, and shrinks before the program takes or counts what is left. */
#ifndef SSAN_CAPTURE_OBSERVE_GROWTH_H
#define SSAN_CAPTURE_OBSERVE_GROWTH_H

#include "capture/observe_pool.h"

/* cuMemGetInfo: bytes of the current context's device. */
typedef int growth_memory_info(size_t *free_bytes, size_t *total_bytes);

/* On the thread that drains, with the context current and the pool's stream there: does what was
 * asked for. `info` NULL: the pool stays as it is, or shrinks. */
void growth_run(struct pool *pool, growth_memory_info *info);

/* Whether launches have asked for memory, which growth_run has not refused lately. Any thread. */
bool growth_is_wanted(struct pool *pool);
/* The same, and the next launch may have to do without. Any thread. */
bool growth_is_urgent(struct pool *pool);
/* The program is about to take so many bytes of the device's memory (UINT64_MAX: unknown, or it
 * counts what is free). True: growth_run is to give memory back first. Any thread. */
bool growth_before_alloc(struct pool *pool, uint64_t bytes);
/* Whether it has not yet. Any thread. */
bool growth_has_to_shrink(struct pool *pool);
/* Nobody waits any longer for what was asked, and nothing is asked for a while. */
void growth_give_up(struct pool *pool);

#endif
