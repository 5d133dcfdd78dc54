/* Keeps what is in CUDA's memory at the end of each block's life (trace/snapshot_abi.h).
 *
 * Only where the session asks for it. Under the device lock. What can't be written ends the file
 * without its last block; the program never notices. */
#ifndef SSAN_VCUDA_SNAPSHOT_H
#define SSAN_VCUDA_SNAPSHOT_H

#include "vcuda/memory.h"

/* Begins the file beside the live trace. `limit_bytes`: contents in all. */
void snapshot_open(const char *live_trace, uint64_t limit_bytes);
/* `block` is about to end; nothing uses it any more. */
void snapshot_free(const struct memory_block *block);
/* The program ends: what lives, and the last block. */
void snapshot_finish(void);
/* In a forked child: the file is the parent's. */
void snapshot_detach(void);

#endif
