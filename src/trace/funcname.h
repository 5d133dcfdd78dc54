/* Names of host functions. */
#ifndef SSAN_TRACE_FUNCNAME_H
#define SSAN_TRACE_FUNCNAME_H

#include <stdint.h>

/* The demangled name, without arguments, of the function that begins at `function`; "" when its
 * object has no symbol for it. Valid as long as the process. One thread at a time. */
const char *funcname_find(const void *function);
/* The same of the function whose code holds the return address; looked up anew each time. */
const char *funcname_holding(uint64_t address);

#endif
