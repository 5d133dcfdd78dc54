/* The device memory of one context in which launches record their accesses, and its life.
 *
 * A launch in flight owns a record (patch_abi.h), windows, and the pages it claims. Draining takes
 * back what launches that have ended own: their pages are copied, told to the trace, zeroed and put
 * back. Half of the memory is pages to be claimed, half is for windows; that for windows grows
 * while launches ask for more than there is, and is given back where the program needs it. */
#ifndef SSAN_CAPTURE_OBSERVE_POOL_H
#define SSAN_CAPTURE_OBSERVE_POOL_H

#include "capture/observe_slabs.h"
#include "capture/observe_module.h"
#include "capture/patch_abi.h"

#include "base/vec.h"

#include <pthread.h>
#include <stdatomic.h>

/* A page that a launch has claimed. */
struct pool_page {
    uint64_t what;
    uint32_t page;
};

/* A window of a launch, and its pages on the device by PATCH_KIND - 1; 0: none. */
struct pool_window {
    uint32_t first, count; /* leaves of 256 KiB */
    uint32_t used;         /* of them as far as a bit was found, once it is drained */
    uint32_t guessed;      /* 1 << kind: sites say that it is accessed so (observe_hints.h) */
    uint64_t operands;     /* OBSERVE_OPERAND of those in it */
    uint64_t pages[PATCH_KINDS];
};

/* Of a record, as the host sees it. */
struct pool_launch {
    uint64_t op;
    struct observed_kernel *kernel; /* NULL: not known */
    uint64_t number;                /* launches of the pool before it */
    uint64_t threads;               /* where it has windows */
    uint32_t stream;                /* index */
    bool is_running;                /* its record is not free */
    bool is_done;                   /* being drained */
    bool is_short;                  /* a claim that may be its own was not read */
    bool has_guesses;               /* its template has sites */
    bool is_to_learn;               /* its sites are of interest */
    bool has_strayed;               /* it has accessed memory of ours */
    bool lacks_windows;             /* there was no memory for some that it was to have */
    uint32_t promised;              /* pages that it is thought to claim (observe_claims.h) */
    uint32_t touched;               /* pages that hold a bit, once it is drained */
    VEC(struct pool_page) pages;
    struct pool_window windows[PATCH_WINDOWS];
    uint32_t window_count;
};

/* A stream that launches are in flight on. Launches end in the order of their numbers. A mark is a
 * small copy behind some launch in the stream, which sets a word of the pool to the number of the
 * launch behind that one. */
struct pool_stream {
    struct sanitizer_stream *handle;
    uint64_t next;   /* the number of the last launch that the driver has taken, + 1 */
    uint64_t done;   /* launches below it are known to have ended */
    uint64_t marked; /* what its last mark sets; above `done`: that is on its way */
    bool wants_mark, has_ended;
};

#define POOL_STREAMS 256u
#define POOL_BEGUN   64u

/* How far the streams are, and the rest of what a drain looks at, as it lies on the device behind
 * the flags of all records. */
struct pool_marks {
    uint64_t done[POOL_STREAMS];
    struct patch_pool control;
};

struct pool {
    const struct sanitizer_api *api;
    CUcontext context;
    uint32_t place;                          /* in the table of observe_contexts.c */
    struct sanitizer_stream *_Atomic stream; /* the one it is drained over; NULL: none yet */
    uint64_t slab_bytes;
    uint64_t slab, pages, ring, flags, marks, records; /* addresses on the device */
    uint32_t page_count, ring_size, record_count;

    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t freed;
    struct pool_launch *launches; /* record_count */
    uint32_t *free_records;       /* a ring; [free_head, free_tail) */
    uint64_t free_head, free_tail;
    uint64_t launch_count;
    struct pool_stream streams[POOL_STREAMS];
    uint32_t stream_count;      /* of streams that were ever used */
    uint64_t begun[POOL_BEGUN]; /* numbers of launches that the driver has not taken yet */
    uint32_t begun_count;
    uint32_t running;            /* records that are not free */
    _Atomic uint32_t pages_left; /* at the last drain */
    uint64_t promised;           /* of the pages, to launches whose records are not free */
    uint64_t drains;
    uint64_t stuck_at; /* drains + 1 when a wait for the next one was in vain; 0: none was */

    struct slabs slabs;               /* for windows: what the first slab has, and more */
    uint64_t wanted_pages;            /* that launches have asked for */
    uint64_t impatient_until_ms;      /* nobody waits for windows or promised pages before */
    uint64_t short_pages;             /* that the last one was to have; 0: so many are left */
    uint64_t first_bytes;             /* of the first slab, for windows */
    uint64_t most_bytes;              /* of device memory in all; 0: by what is free */
    uint64_t left_bytes, taken_bytes; /* to the program at the last growth; by it since */
    uint64_t calm_until_ms;           /* no growth before */
    bool wants_release;               /* the program is to get the memory back */

    pthread_mutex_t drain_lock;        /* one drains at a time; for what follows */
    uint64_t (*mark_values)[2];        /* page-locked: of each stream, a mark and its last one */
    struct patch_flags *flags_copy;    /* page-locked, of each record */
    struct pool_marks *marks_copy;     /* right behind, as on the device */
    struct patch_place *ring_copy;     /* page-locked, the whole ring */
    struct patch_launch *templates;    /* page-locked: each record as it begins */
    struct patch_launch *records_copy; /* page-locked, one */
    uint32_t *pages_copy;              /* page-locked, POOL_PAGES_AT_ONCE pages */
    uint64_t head_seen, tail;
    bool resets_all;         /* others write to records too: none is used again as it is */
    uint32_t looked_from;    /* where the next drain begins to look for launches that have ended */
    atomic_bool has_more;    /* the last one left some, for another soon */
    atomic_bool wants_end;   /* the context is about to end: last marks */
    const char *failed_call; /* that the driver did not answer; NULL: it always has */
    uint32_t failure;        /* what it said; a number of the sanitizer library */
    atomic_bool has_failed;  /* the driver no longer answers: nothing is drained any more */
};

#define POOL_PAGES_AT_ONCE 4096u

/* Whether a launch like the last one would have to do without windows. Lock held. */
static inline bool pool_is_short(const struct pool *pool)
{
    return pool->short_pages > slabs_left(&pool->slabs);
}

/* The leaf of a page, by its `what`: where it begins, and how many bytes it stands for. */
static inline uint64_t pool_leaf_bytes(uint64_t what)
{
    return UINT64_C(1) << PATCH_LEAF_BYTES(PATCH_KIND_IS_SMALL(what & 7));
}
static inline uint64_t pool_leaf_address(uint64_t what)
{
    return (what >> 3) * pool_leaf_bytes(what);
}

/* An address on the device, as the sanitizer library takes it. */
static inline void *pool_at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* The user data of a launch is the address of its record; which record that is. */
static inline uint64_t pool_user(const struct pool *pool, uint32_t record)
{
    return pool->records + record * sizeof(struct patch_launch);
}
static inline uint32_t pool_record(const struct pool *pool, uint64_t user)
{
    return (uint32_t)((user - pool->records) / sizeof(struct patch_launch));
}

/* Without a size given, and the most that is taken to begin with. */
#define POOL_BYTES (UINT64_C(512) << 20)

/* In a callback of the context's creation, or any other. `bytes`: most of device memory to take,
 * now and later; 0: POOL_BYTES now, more by what is free. Less where there is less. NULL: the
 * device or the host has none. */
struct pool *pool_create(const struct sanitizer_api *api, CUcontext context, uint64_t bytes);
/* The context still lives. No launch is begun any more. */
void pool_destroy(struct pool *pool);

/* A record for a launch: the address of its user data; 0 when all are taken. `*stream` is for
 * pool_mark, or POOL_STREAMS where no mark is wanted. Any thread. */
uint64_t pool_begin(struct pool *pool, uint64_t op, struct observed_kernel *kernel,
                    struct sanitizer_stream *handle, uint32_t *stream);
/* The driver has taken the launch: what is put into its stream from here on is behind it. */
void pool_taken(struct pool *pool, uint64_t user);
/* The launch did not happen: nothing of it will be recorded. */
void pool_cancel(struct pool *pool, uint64_t user);
/* Puts a mark into a stream that wants one, behind a launch: the driver holds no lock for it. */
void pool_mark(struct pool *pool, uint32_t stream);
/* The same for every stream, whether or not a look has asked for it; none is being captured. */
void pool_mark_all(struct pool *pool);
/* The stream is about to be destroyed: a last mark. */
void pool_end_stream(struct pool *pool, struct sanitizer_stream *handle);
/* The same for all streams, where the context ends. */
void pool_end_streams(struct pool *pool);
/* Launches below this number were taken: to be asked before the host waits. */
uint64_t pool_count(struct pool *pool);
/* The host has waited for a stream, or for all (NULL): the first `below` launches have ended there.
 */
void pool_joined(struct pool *pool, struct sanitizer_stream *handle, uint64_t below);
/* Whether the whole range has been memory of ours on the device since before the launch. */
bool pool_owned(struct pool *pool, const struct pool_launch *launch, uint64_t address,
                uint64_t bytes);
/* Milliseconds of a clock that only goes on. */
uint64_t pool_now_ms(void);
/* Launches in flight own nearly all records, pages as far as that is known or likely, or what the
 * next one needs for its windows; false from pool_give_up_waiting to the next drain. */
bool pool_is_pressed(struct pool *pool);
/* Waiting was in vain: whoever launches next does not wait as long again. */
void pool_give_up_waiting(struct pool *pool);
/* Waits until something was drained, at most so long. */
void pool_wait(struct pool *pool, unsigned milliseconds);

/* Tells launches that have ended to the trace and takes back what they own; answers how many.
 * Leaves it to another thread that is at it. pool->stream is set. */
uint32_t pool_drain(struct pool *pool, struct ssan_sink *sink);
/* How many launches are in flight, or ended and not drained yet. */
uint32_t pool_in_flight(struct pool *pool);
/* Whether one of the first `below` launches is. */
bool pool_has_below(struct pool *pool, uint64_t below);
/* Whatever is still in flight is lost: told as such. */
void pool_give_up(struct pool *pool, struct ssan_sink *sink);

#endif
