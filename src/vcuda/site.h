/* Host stacks and device lines as small ids; each is told to the trace when it is new. */
#ifndef SSAN_VCUDA_SITE_H
#define SSAN_VCUDA_SITE_H

#include "ptx/ptx.h"

#include <stdbool.h>
#include <stdint.h>

/* The stack above a function of ours, given its frame (__builtin_frame_address(0)): the first frame
 * is its caller. 0 without a trace, or when memory ran out (told as lost stacks). Any thread. */
uint32_t site_capture(const void *frame);
/* A stack that begins at a program counter: for signal handlers, which know registers. */
uint32_t site_capture_at(uint64_t counter, uint64_t frame_pointer);
/* Whether a frame of the stack `site` returns to [begin, end) of the object with this file name,
 * offsets from its base. */
bool site_passes(uint32_t site, const char *module, uint64_t begin, uint64_t end);
/* A device line; 0 when it has none. */
uint32_t site_line(const struct ptx_line *line);
/* In a forked child: what the trace knows begins anew. */
void site_forget(void);

#endif
