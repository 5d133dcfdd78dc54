/* What a program says through NVTX: names of streams and events, and the range that is the window
 * of what is observed. */
#ifndef SSAN_CAPTURE_NVTX_H
#define SSAN_CAPTURE_NVTX_H

#include <stdbool.h>

/* Whether a range with the name of the plan's window is open on any thread. */
bool nvtx_is_inside(void);

#endif
