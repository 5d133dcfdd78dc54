/* Names of kernels and host functions as people wrote them, also where the program had no demangler
 * of its own: then its trace holds mangled ones. */
#ifndef SSAN_SYMBOL_NAMES_H
#define SSAN_SYMBOL_NAMES_H

#include "trace/event.h"

#include "base/arena.h"
#include "base/map.h"

/* Zeroed is empty. */
struct names {
    struct arena arena;
    struct map known; /* hash of a mangled name -> the first of its entries */
};

/* Puts the demangled name into an event that holds a mangled one; others are left as they are. The
 * name holds until names_finish. Without memory the mangled one stays. */
void names_tidy(struct names *names, struct ssan_event *event);

void names_finish(struct names *names);

#endif
