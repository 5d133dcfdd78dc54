/* What a pipeline is made of; private to src/pipeline.
 *
 * One lock for each pipeline guards all that is marked (lock); nothing holds it over a CUDA call, a
 * callback or an annotation. A call that destroy may not wait for (its batch is gone, or it gives
 * up) touches nothing of the pipeline behind its last unlocking: errors are filled before. Other
 * fields of a slot belong to the slot's owner, who changes only under the lock: that makes them
 * visible to the next one.
 *
 * Invariants (lock): a slot is in exactly one place: its device's free list (EMPTY), its lane's
 * queue or with the publisher (SUBMITTED), else with a caller (FILLING, TAKEN), in a submit that is
 * not over (SUBMITTING) or ready to be taken (READY). `live` counts the slots that are not EMPTY,
 * `ahead` those between acquire and take, `bytes` the charges of the live ones. */
#ifndef SSAN_PIPELINE_PARTS_H
#define SSAN_PIPELINE_PARTS_H

#include "pipeline/edges.h"
#include "pipeline/latency.h"

#include <pthread.h>
#include <stdatomic.h>

#pragma GCC visibility push(default)
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

enum slot_state {
    SLOT_EMPTY,
    SLOT_FILLING,
    SLOT_SUBMITTING,
    SLOT_SUBMITTED,
    SLOT_READY,
    SLOT_TAKEN
};

struct failure {
    enum ssan_pipe_status status; /* OK: none */
    int code;
    const char *call, *code_name; /* static; code_name: NULL for a number of the program's */
    int device;                   /* what cudaSetDevice was asked for; for other calls nothing */
    uint64_t batch;
    bool has_looked, error_stands; /* pipe_before_call */
};

struct slot {
    struct ssan_pipe_batch batch; /* first: what callers hold */
    struct lane *lane;
    atomic_int state; /* (lock) an enum slot_state; read without it only to find wrong use */
    _Atomic(const struct ssan_pipe_consumer *) taker; /* as state: who has it, while TAKEN */
    struct slot *next; /* (lock) in the free list or the lane's queue */
    void *input, *device_input, *device_output, *output; /* NULL: the pipeline has none */
    size_t input_room, output_room;                      /* of this batch, as acquired */
    cudaEvent_t uploaded, produced, copied;
    cudaEvent_t upload_begin, compute_begin, copy_begin; /* with timing, else NULL */
    cudaEvent_t reclaimed;  /* a consumer's: it has copied this slot's last batch out; NULL: none */
    bool reclaimed_device;  /* it read device_output, not output */
    struct failure failure; /* of a READY slot: what take tells */
    uint64_t order; /* (lock) SUBMITTED: its place among submits; READY: among publications */
    uint64_t submitted_ns, published_ns;
    char returned; /* its address stands for the slot's return in hand-overs ... */
    char handed;   /* ... to the publisher */
    char shown;    /* ... to a consumer */
};

/* Slots, linked by `next`; the first that came goes first. (lock) */
struct slot_queue {
    struct slot *first, *last;
};

/* The slots of one device. */
struct part {
    int device;
    cudaStream_t upload;    /* NULL without input */
    struct slot_queue free; /* (lock) */
};

/* One copy stream, and the thread that waits for it. */
struct lane {
    struct ssan_pipe *pipe;
    struct part *part;
    cudaStream_t copy; /* NULL with no_copy_out */
    pthread_t publisher;
    bool has_publisher;
    pthread_cond_t submitted;
    struct slot_queue queue; /* (lock) submitted, not seen by the publisher */
};

/* A buffer of a device consumer. */
struct landing {
    struct ssan_pipe_batch batch; /* first */
    void *memory;
    cudaEvent_t landed, consumed;
    bool is_held; /* (lock) */
    bool is_used; /* `consumed` is recorded for it */
    uint64_t published_ns;
    char returned; /* its address stands for its return in hand-overs */
};

struct ssan_pipe_consumer {
    struct ssan_pipe *pipe;
    struct ssan_pipe_consumer *next; /* (lock) of all consumers */
    struct ssan_pipe_consumer_options options;
    unsigned index;
    cudaStream_t transfer;
    struct landing *landings; /* options.landings */
    cudaEvent_t *reclaimed;   /* one for each slot of the pipeline */
};

/* A producer that waits in acquire; on its stack. (lock) */
struct waiter {
    const struct ssan_pipe_request *request;
    struct waiter *next;
};

struct ssan_pipe {
    struct ssan_pipe_options options; /* defaults filled in; name and devices are our copies */
    char *name;
    int *devices;
    unsigned slot_count, lane_count;
    struct slot *slots;
    struct lane *lanes;
    struct part *parts; /* device_count */

    pthread_mutex_t lock;
    pthread_cond_t can_acquire, can_take, changed;
    struct waiter *first_waiter, *last_waiter; /* (lock) */
    unsigned producers, takers, watchers;      /* (lock) threads that wait on the three above */
    struct ssan_pipe_consumer *consumers;      /* (lock) */
    unsigned consumer_count;                   /* (lock) */
    unsigned live, ahead, landings_held;       /* (lock) */
    unsigned
        taking;     /* (lock) takes that have a batch and are not out yet: who holds what is open */
    uint64_t bytes; /* (lock) */
    uint64_t next_number, next_order;    /* (lock) */
    uint64_t submits, publishes;         /* (lock) batches handed to publishers; done by them */
    bool is_closed, is_stopping;         /* (lock) */
    atomic_bool is_cancelled, is_broken; /* written under the lock */
    struct failure broke;                /* (lock) what broke it */
    struct failure untold; /* (lock) first failure that neither flush nor drain has told */

    struct ssan_pipe_stats stats; /* (lock) counts */
    uint64_t in_flight_ns;        /* (lock) sum over batches of submit to publication */
    uint64_t busy_since_ns;       /* (lock) */
    unsigned in_flight;           /* (lock) */
    struct latency device_latency, delivery_latency; /* (lock) */
    char flushed; /* its address stands for publications in hand-overs to flush */
};

/* fail.c: what is wrong with the size that options say of themselves, `most` being what the library
 * knows; NULL: nothing. */
const char *pipe_wrong_size(size_t size, size_t most);

/* fail.c: errors. All return the status. */
enum ssan_pipe_status pipe_fail(struct ssan_pipe_error *err, enum ssan_pipe_status status,
                                uint64_t batch, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* As pipe_fail_call, for what was to be made: SSAN_PIPE_INVALID for a device that is not there. */
enum ssan_pipe_status pipe_fail_make(struct ssan_pipe_error *err, struct failure *failure,
                                     const char *name);
enum ssan_pipe_status pipe_fail_call(struct ssan_pipe_error *err, const struct failure *failure,
                                     const char *name);
/* Notes that the C library has no memory for `call`; false. */
bool pipe_no_memory(struct failure *failure, const char *call, int code);
/* Who has the batches, for a caller whose time is over: "1 to be submitted, 2 to be taken". Under
 * the lock. */
struct holders {
    char text[128];
};
struct holders pipe_holders(const struct ssan_pipe *pipe);
/* Whether an error of an earlier call stands in the thread's last error. To the tool this is no
 * question of the program's. */
bool pipe_error_stands(void);
/* Before each CUDA call that pipe_ok judges: what stood before the first of them isn't cleared.
 * Where the program's own code has run since, `has_looked` is to be false again. */
void pipe_before_call(struct failure *failure);
/* Notes a CUDA call that failed, if none is noted yet; true if it succeeded. */
bool pipe_ok(struct failure *failure, const char *call, cudaError_t error);
#define PIPE_OK(failure, function, ...)                                                            \
    (pipe_before_call(failure), pipe_ok((failure), #function, function(__VA_ARGS__)))

static inline enum slot_state slot_state(const struct slot *slot)
{
    return (enum slot_state)atomic_load_explicit(&slot->state, memory_order_relaxed);
}

static inline void slot_set_state(struct slot *slot, enum slot_state state)
{
    atomic_store_explicit(&slot->state, (int)state, memory_order_relaxed);
}

/* The way out over the host, which submit enqueues and the publisher waits for. */
static inline bool slot_has_copy(const struct slot *slot)
{
    return slot->output && slot->batch.output_bytes;
}

/* The two halves of an edge of the device; nothing where a test build has dropped it. */
static inline bool event_record(struct failure *failure, bool has_edge, cudaEvent_t event,
                                cudaStream_t stream)
{
    return !has_edge || PIPE_OK(failure, cudaEventRecord, event, stream);
}

static inline bool event_wait(struct failure *failure, bool has_edge, cudaStream_t stream,
                              cudaEvent_t event)
{
    return !has_edge || PIPE_OK(failure, cudaStreamWaitEvent, stream, event, 0);
}

/* slots.c */
uint64_t pipe_now_ns(void);
/* For pipe_wait; the clock is asked only where a time can be over. */
struct timespec pipe_deadline(uint64_t timeout_ns);
/* Waits on `condition`, counted in `waiting`; false when the deadline is over. Under the lock. The
 * one place where a thread can be cancelled: it leaves as if it had not come, `waiter` (NULL: none)
 * too, and without the lock. */
bool pipe_wait(struct ssan_pipe *pipe, pthread_cond_t *condition, unsigned *waiting,
               const struct waiter *waiter, uint64_t timeout_ns, const struct timespec *deadline);
/* Between them the thread can't be cancelled, whatever CUDA and callbacks wait for. */
int pipe_shield(void);
void pipe_unshield(int before);
/* Wakes what waits on `condition`, if anything does. Under the lock. */
void pipe_wake(pthread_cond_t *condition, unsigned waiting);
/* On all three. */
void pipe_wake_all(struct ssan_pipe *pipe);
/* The slot is empty again. Its owner says so before it locks: pipe_give(RETURNED_HANDOVER,
 * &slot->returned). Under the lock. */
void slot_return(struct ssan_pipe *pipe, struct slot *slot);
/* Under the lock. */
void queue_push(struct slot_queue *queue, struct slot *slot);
struct slot *queue_pop(struct slot_queue *queue); /* NULL: empty */
/* The pipeline can't go on since that batch's work may still run. Under the lock. */
void pipe_break(struct ssan_pipe *pipe, const struct failure *failure);
/* The slot of a batch that a caller holds; NULL: it is no slot's. */
struct slot *slot_of(struct ssan_pipe *pipe, const struct ssan_pipe_batch *batch);
/* Takes a producer out of those that wait. Under the lock. */
void waiter_remove(struct ssan_pipe *pipe, const struct waiter *waiter);
/* The waiting acquire, release, ... must give up: SSAN_PIPE_OK if not. Under the lock. */
enum ssan_pipe_status pipe_refusal(const struct ssan_pipe *pipe);

/* device.c */
/* Makes `device` current and returns the one before in *before. */
bool device_enter(struct failure *failure, int device, int *before);
/* Makes `device` current again, whichever one a callback has left so. */
bool device_again(struct failure *failure, int device);
/* Makes `before` current again; false: CUDA refused twice, and `device` still is. */
bool device_leave(struct failure *failure, int device, int before);
/* Waits for the event that is recorded behind some work, and for that alone; asks for it where CUDA
 * refuses to wait. */
bool event_join(struct failure *failure, cudaEvent_t event);
/* Waits for what stands in the stream, by an event of it if CUDA lets it. */
bool stream_join(struct failure *failure, cudaEvent_t event, cudaStream_t stream);
void pipe_drop_memory(struct ssan_pipe *pipe, struct failure *failure);
bool pipe_make_memory(struct ssan_pipe *pipe, struct failure *failure);
bool consumer_make_memory(struct ssan_pipe_consumer *consumer, struct failure *failure);
void consumer_drop_memory(struct ssan_pipe_consumer *consumer, struct failure *failure);

/* publisher.c: the thread of a lane; data is the lane. */
void *publisher_run(void *data);

/* names.c: what streamsan calls them. */
void pipe_name_all(const struct ssan_pipe *pipe);
void consumer_name_all(const struct ssan_pipe_consumer *consumer);

#endif
