/* Which launches of a pool have ended, by the streams that they are in. */
#ifndef SSAN_CAPTURE_OBSERVE_STREAMS_H
#define SSAN_CAPTURE_OBSERVE_STREAMS_H

#include "capture/observe_pool.h"

/* All with the lock of the pool. Index of a stream; `make`: of a new one where it is not known.
 * POOL_STREAMS: there is none. */
uint32_t streams_find(struct pool *pool, struct sanitizer_stream *handle, bool make);
/* Takes over what the marks on the device say (pool->marks_copy), and asks for marks where launches
 * are in flight that none is behind. */
void streams_look(struct pool *pool);
bool streams_have_ended(const struct pool *pool, const struct pool_launch *launch);

#endif
