/* The device memory of one context in which launches record their accesses, and its life.
 *
 * A launch in flight owns a record (patch_abi.h) and the pages it claims. Draining takes back what
 * launches that have ended own: their pages are copied, told to the trace, zeroed and put back. */
#ifndef SSAN_CAPTURE_OBSERVE_POOL_H
#define SSAN_CAPTURE_OBSERVE_POOL_H

#include "capture/observe_module.h"
#include "capture/patch_abi.h"

#include "base/vec.h"

#include <pthread.h>

/* A page that a launch has claimed. */
struct pool_page {
    uint64_t what;
    uint32_t page;
};

/* Of a record, as the host sees it. */
struct pool_launch {
    uint64_t op;
    const struct observed_kernel *kernel;
    struct sanitizer_stream *stream;
    uint64_t threads_end;  /* what its counters add up to once all threads have ended */
    uint64_t threads_seen; /* what they added up to when it was taken */
    uint64_t number;       /* launches of the pool before it */
    bool is_running;
    uint64_t joined_ms; /* when the host was seen to have waited for its stream; 0: not yet */
    bool is_done;       /* being drained */
    VEC(struct pool_page) pages;
};

struct pool {
    const struct sanitizer_api *api;
    CUcontext context;
    struct sanitizer_stream *_Atomic stream; /* the one it is drained over; NULL: none yet */
    uint64_t slab, pages, ring, progress, control, records; /* addresses on the device */
    uint32_t page_count, ring_size, record_count;

    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t freed;
    struct pool_launch *launches; /* record_count */
    uint32_t *free_records;       /* a ring; [free_head, free_tail) */
    uint64_t free_head, free_tail;
    uint64_t launch_count;
    uint32_t running;            /* records that are not free */
    _Atomic uint32_t pages_left; /* at the last drain */
    uint64_t drains;

    pthread_mutex_t drain_lock;           /* one drains at a time; for what follows */
    struct patch_progress *progress_copy; /* page-locked */
    struct patch_pool *control_copy;      /* right behind, as on the device */
    struct patch_place *ring_copy;        /* page-locked, the whole ring */
    struct patch_launch *templates;       /* page-locked: each record as it begins */
    struct patch_launch *records_copy;    /* page-locked, one */
    uint32_t *pages_copy;                 /* page-locked, POOL_PAGES_AT_ONCE pages */
    uint64_t head_seen, tail;
    bool has_failed; /* the driver no longer answers: nothing is drained any more */
};

#define POOL_PAGES_AT_ONCE 4096u

/* In a callback of the context's creation, or any other. `bytes`: most of device memory to take;
 * less where there is less. NULL: the device or the host has none. */
struct pool *pool_create(const struct sanitizer_api *api, CUcontext context, uint64_t bytes);
/* The context still lives. No launch is begun any more. */
void pool_destroy(struct pool *pool);

/* A record for a launch of `threads` threads: the address of its user data; 0 when all are taken.
 * Any thread. */
uint64_t pool_begin(struct pool *pool, uint64_t op, const struct observed_kernel *kernel,
                    struct sanitizer_stream *stream, uint64_t threads);
/* The launch did not happen: nothing of it will be recorded. */
void pool_cancel(struct pool *pool, uint64_t user);
/* The host has waited for `stream`, or for all (NULL). A launch ends with its last thread; one
 * whose threads can't be counted ends some time behind this. */
void pool_joined(struct pool *pool, struct sanitizer_stream *stream);
/* Milliseconds of a clock that only goes on. */
uint64_t pool_now_ms(void);
/* Launches in flight own nearly all records, or pages as far as that is known. */
bool pool_is_pressed(struct pool *pool);
/* Waits until something was drained, at most so long. */
void pool_wait(struct pool *pool, unsigned milliseconds);

/* Tells launches that have ended to the trace and takes back what they own; answers how many.
 * Leaves it to another thread that is at it. pool->stream is set. */
uint32_t pool_drain(struct pool *pool, struct ssan_sink *sink);
/* How many launches are in flight, or ended and not drained yet. */
uint32_t pool_in_flight(struct pool *pool);
/* Whatever is still in flight is lost: told as such. */
void pool_give_up(struct pool *pool, struct ssan_sink *sink);

#endif
