/* Names as people wrote them. */
#ifndef SSAN_BASE_DEMANGLE_H
#define SSAN_BASE_DEMANGLE_H

#include "base/arena.h"

/* Looks for a demangler among the libraries that are loaded, for programs whose C++ library came
 * later than we did. Any thread that may wait for the loader; not from its callbacks. */
void demangle_open(void);
/* Demangled without the argument list ("ns::kern<int>"); the name itself where it is no C++ name or
 * the program has no demangler. NULL when out of memory. */
const char *demangle_name(struct arena *arena, const char *name);

#endif
