/* What the thread that drains calls of the CUDA driver itself, and what it can't have from the
 * sanitizer library: a stream to drain over, free memory. */
#ifndef SSAN_CAPTURE_OBSERVE_DRIVER_H
#define SSAN_CAPTURE_OBSERVE_DRIVER_H

#include "capture/observe_growth.h"

/* CUDA driver API: Context, Stream, Memory Management. */
struct observe_driver {
    int (*push)(CUcontext context);
    int (*pop)(CUcontext *context);
    int (*create)(CUstream *stream, unsigned flags, int priority);
    int (*priorities)(int *least, int *greatest);
    int (*exchange)(int *mode);
    growth_memory_info *memory; /* or NULL */
};

/* False: the program's driver lacks one of them. */
bool observe_driver_find(struct observe_driver *driver);
/* What the calling thread calls does not end a capture of the program. */
void observe_driver_relax(const struct observe_driver *driver);
/* Sets pool->stream, a stream of the pool's context, which is current. On failure the pool can't be
 * drained by the thread. */
void observe_driver_open_stream(const struct observe_driver *driver, struct pool *pool);
/* Tells the user that the driver did not answer a drain. Where it does not answer anything else
 * either, because of an error of the program or because the process ends, that is heard
 * elsewhere. */
void observe_driver_tell_failure(const struct observe_driver *driver, const struct pool *pool);

#endif
