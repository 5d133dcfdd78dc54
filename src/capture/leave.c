/* The short ways out of a process, in place of the C library's where this library was preloaded, so
 * that a normal end is told from a cut one. */
#include "trace/leaving.h"

LEAVING_BY(_exit)
LEAVING_BY(_Exit)
LEAVING_BY(quick_exit)
