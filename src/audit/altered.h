/* A trace as if the program had been built or written a little differently: a source that reads
 * another one and changes events on the way.
 *
 * It gives a consistent trace of its own, so engine and explain take it like any other. Changes
 * that leave out calls keep the positions of all events; those that move calls to other streams
 * don't. */
#ifndef SSAN_AUDIT_ALTERED_H
#define SSAN_AUDIT_ALTERED_H

#include "base/map.h"
#include "base/vec.h"
#include "trace/sink.h"

enum alteration {
    ALTER_NON_BLOCKING = 1,  /* streams are created with cudaStreamNonBlocking */
    ALTER_PER_THREAD = 2,    /* calls on the legacy stream go to the caller's per-thread one */
    ALTER_NO_LEGACY = 4,     /* the legacy stream and the blocking ones order nothing */
    ALTER_NO_DEVICE = 8,     /* device-wide synchronisation joins nothing */
    ALTER_NO_BLOCKING = 16,  /* returns of `blocking` operations join nothing */
    ALTER_LEGACY_APART = 32, /* as ALTER_NO_LEGACY, for reports: the legacy stream keeps its name,
                                in a context of its own, which device-wide calls don\'t cover */
};

/* A stream of the trace that is read. */
struct altered_stream {
    uint32_t id; /* in the trace that is given */
    uint32_t context;
    bool legacy;
};

struct altered {
    struct ssan_source source; /* what to read */
    struct ssan_source *inner;
    unsigned what;                      /* of enum alteration */
    const struct map *blocking;         /* op -> 1; borrowed */
    VEC(struct altered_stream) streams; /* by id of the inner trace; [0] unused */
    struct map devices;                 /* by context, where the trace names it */
    struct map per_thread;              /* context << 32 | thread -> stream of the given trace */
    struct map dropped;                 /* syncs of the inner trace that are left out */
    VEC(uint64_t) syncs;                /* by inner id: id given */
    uint32_t last_stream;
    uint64_t last_sync;
    struct ssan_event held; /* an event that waits behind one that was put in front of it */
    bool has_held, failed;
};

/* `inner` and `blocking` (may be NULL) are borrowed until altered_finish; the source stands at the
 * first event after its rewind. */
void altered_init(struct altered *altered, struct ssan_source *inner, unsigned what,
                  const struct map *blocking);
void altered_finish(struct altered *altered);

#endif
