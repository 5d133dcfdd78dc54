/* What launches that have ended own: the pages that they claimed, and those of their windows. */
#ifndef SSAN_CAPTURE_OBSERVE_OWNED_H
#define SSAN_CAPTURE_OBSERVE_OWNED_H

#include "capture/observe_pool.h"

/* A page of a launch that is being drained, of the pool or of a window. */
struct owned {
    uint64_t address;
    uint64_t what;   /* its leaf << 3 | kind */
    uint32_t launch; /* position in the list of those */
    uint32_t copy;   /* position in pages_copy */
};

/* One drain of a pool, by one thread. */
struct drain {
    struct pool *pool;
    struct ssan_sink *sink;
    struct sanitizer_stream *stream;
    VEC(uint32_t) done;      /* records of launches that have ended, in order of submission */
    VEC(struct owned) pages; /* theirs */
    bool has_failed;         /* the driver no longer answers */
    bool is_short;           /* of memory: pages were forgotten */
};

/* Whether the call, made for a drain, and all before it were answered; the first that was not is
 * kept for the user. */
bool owned_answered(struct drain *drain, const char *call, uint32_t result);
/* Copies from the device, waits for it; false: the driver no longer answers. */
bool owned_copy_back(struct drain *drain, void *to, uint64_t from, uint64_t bytes);
/* Copies to the device, where `from` has to stay as it is until the drain ends; the same answer. */
bool owned_copy_out(struct drain *drain, uint64_t to, void *from, uint64_t bytes);
/* Copies places [from, to) of the ring, which may go around its end, out or back. */
bool owned_copy_places(struct drain *drain, uint64_t from, uint64_t to, bool is_out);
/* How many pages are left to be claimed, from what the marks that were copied say. */
void owned_count(struct pool *pool);
/* Hands the pages that were claimed since the last drain to their launches. */
void owned_read_claims(struct drain *drain);
/* Lists all pages of the launches in `done`, by address. */
void owned_list(struct drain *drain);

#endif
