/* The trace of a feed once more, as its engine took it, for reports: findings are explained in
 * passes of their own.
 *
 * It is read from the feed's copy where that is good. Where it is not (a full disk), the trace
 * itself is read, and gets the names and lines on the way that the copy would have. One thread. */
#ifndef SSAN_CLI_AGAIN_H
#define SSAN_CLI_AGAIN_H

#include "cli/feed.h"

#include "base/arena.h"
#include "base/vec.h"
#include "trace/sink.h"

struct again {
    struct ssan_source source; /* of the trace itself */
    struct feed *feed;
    struct reader *copy;          /* NULL: the trace itself is read */
    VEC(struct ssan_event) lines; /* that come behind the trace itself */
    size_t told;                  /* of them */
    struct arena arena;           /* of what they borrow */
    bool failed;                  /* out of memory */
};

/* A source for the whole trace; rewind it first. The feed is finished, and borrowed until
 * again_close, as is the source. Where there is no memory for lines the source ends with that error
 * in their place. */
struct ssan_source *again_open(struct again *again, struct feed *feed);
void again_close(struct again *again);

#endif
