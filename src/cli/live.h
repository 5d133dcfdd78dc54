/* Error findings told while the program runs: a line each on stderr, as soon as the engine has
 * them.
 *
 * What is known then are the lines of the two calls; names, fixes and folding are the report's.
 * Cost: nothing while no finding comes. One thread. */
#ifndef SSAN_CLI_LIVE_H
#define SSAN_CLI_LIVE_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct feed;

/* Zeroed: nothing was told. */
struct live {
    struct map told; /* a number for each finding */
    uint64_t seen;   /* findings of all feeds at the last look */
    unsigned lines;  /* printed */
};

/* Prints what is new in `count` feeds. */
void live_tell(struct live *live, const struct feed *feeds, size_t count);

void live_finish(struct live *live);

#endif
