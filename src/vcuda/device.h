/* The state of the virtual devices: streams, events, operations, and the one lock that guards them.
 *
 * Lock discipline. `device.lock` guards everything in struct device and every struct it reaches,
 * but for what is said to belong to the executor while an operation runs. Never held while a
 * kernel, a copy or a host function runs, nor while the program's code runs. Order of locks:
 * device.lock, then memory's, then those of sites and threads; the trace writer has none. Nothing
 * that the program may hold (stdio, loader) is waited for under device.lock, but for the loader
 * lock when a new module shows up in a stack. */
#ifndef SSAN_VCUDA_DEVICE_H
#define SSAN_VCUDA_DEVICE_H

#include "base/rng.h"
#include "base/vec.h"
#include "ptx/exec.h"
#include "trace/control_abi.h"
#include "trace/event.h"
#include "vcuda/cuda.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* As many devices as a run may have: sets of them are bits of a 32-bit word. */
#define MOST_DEVICES CONTROL_MOST_DEVICES
/* In place of one device: all of them. */
#define EVERY_DEVICE UINT32_MAX

enum op_state {
    OP_WAITING, /* for operations it depends on */
    OP_READY,   /* may begin, or go on (a kernel that yielded) */
    OP_RUNNING,
    OP_DONE,
};

struct launch {
    const struct ptx_module *module;
    const struct ptx_kernel *kernel;
    struct ptx_exec *exec; /* once begun */
    void *params;          /* owned */
    uint32_t grid[3], block[3], shared_bytes;
    bool cooperative;
    uint32_t reach; /* devices whose memory it may access, as of its acceptance, bit by bit */
};

/* Rows of a copy or memset; `height` 1 is the plain form. */
struct transfer {
    uint64_t dst, src, width, height, dst_pitch, src_pitch;
    void *staged; /* owned: the source as it was when the call returned, rows packed; NULL: read
                     when it runs */
    int value;    /* memset */
};

struct hostfunc {
    cudaHostFn_t function;         /* NULL: a stream callback */
    cudaStreamCallback_t callback; /* called also after an error, with it */
    void *data;
    cudaStream_t stream; /* as the program gave it, for `callback` */
};

struct op_list {
    struct op **items;
    size_t count, room;
};

/* What a join of a stream covers; it outlives the stream. */
struct reach_scope {
    uint32_t stream, ordinal; /* id of the stream, its device */
    bool legacy;
};

/* An item of a stream. Held by the queue until done, and by tails, events and edges that name it.
 */
struct op {
    uint64_t id;
    uint32_t seq;     /* in its stream, from 1 */
    uint32_t named;   /* by the schedule: index of plan_order.c + 1; 0: not */
    uint32_t latest;  /* the highest `named` of listed ones among it and all that it needs */
    uint32_t planned; /* failure of its work, as in struct call */
    enum ssan_op_kind kind;
    enum op_state state;
    struct stream *stream;
    struct reach_scope scope; /* once it has its id */
    uint32_t refs;
    uint32_t unmet;            /* entries of `needs` that are not done */
    struct op_list needs;      /* what must be done before; emptied when done */
    struct op_list dependents; /* whose `needs` name this one */
    uint32_t barriers;         /* other devices in which it counts as an item of the legacy stream
                                  (R-COPY-14), bit by bit */
    bool wanted;               /* a join needs it */
    bool printed;              /* device printf was called; its event is written */
    bool forced_told;          /* its progress_forced event is written */
    bool parked; /* a kernel without progress, tried last at `parked_at` of device.progress */
    uint64_t parked_at;
    uint64_t visit; /* of the last walk that saw it */
    uint64_t time;  /* virtual clock when it was done */
    union {
        struct launch launch;
        struct transfer transfer;
        struct hostfunc hostfunc;
    };
};

struct stream {
    uint64_t number; /* in the handle; 0: a default stream */
    uint32_t id; /* in the trace; 0: not there yet (default streams appear at their first use) */
    uint32_t ordinal; /* of its device */
    enum ssan_stream_flavour flavour;
    uint32_t owner; /* thread of a per-thread default stream */
    unsigned flags;
    int priority;
    bool destroyed; /* no handle names it; it lives until its work is done */
    bool polled;    /* a query has answered NotReady */
    uint32_t seq;   /* items so far */
    struct op *tail;
};

struct event {
    uint32_t id, ordinal; /* of the device that was current when it was made */
    unsigned flags;
    bool polled;
    struct op *record; /* the latest; NULL: never recorded */
};

struct stream_list {
    struct stream **items;
    size_t count, room;
};

struct event_list {
    struct event **items;
    size_t count, room;
};

/* What each device has of its own: its primary context. */
struct context {
    struct stream *legacy; /* NULL: not used yet */
    struct op *barrier; /* the latest copy that another device's legacy stream made an item of this
                           one (R-COPY-14); NULL: none since its own latest item */
    uint32_t peers;     /* devices whose memory its kernels may access, bit by bit */
    unsigned flags;
    uint32_t has_limits; /* bits of `limits` that the program has set */
    size_t limits[cudaLimitPersistingL2CacheSize + 1];
};

struct device {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* an operation ended, parked or failed */
    pthread_cond_t work;    /* for the executor */
    bool asleep;            /* the executor waits without a time limit */
    bool started;           /* the executor thread exists */
    bool orphan;            /* a forked child of a started device: no CUDA here */
    bool exiting;           /* dry execution of what pends */
    bool exited;            /* behind it: nothing is told any more */

    const struct policy *policy;
    char schedule[1024]; /* as the trace tells it */
    struct rng rng;

    struct stream_list by_number; /* created streams, by handle number - 1; NULL once destroyed */
    struct stream_list streams;   /* all that may have work, destroyed and default ones included */
    struct context contexts[MOST_DEVICES];
    uint32_t count;           /* devices that the program sees */
    struct event_list events; /* by handle number - 1; NULL once destroyed */

    uint64_t op_count;
    uint32_t stream_count, alloc_count;
    uint64_t pending; /* operations not done */
    struct op_list ready;
    struct op *job;        /* what the executor runs or is about to */
    bool job_is_elsewhere; /* a host thread runs it, not the executor */
    uint32_t hostfuncs_running;
    uint32_t joining;  /* host threads that wait in a call */
    uint64_t progress; /* counts whatever may let a parked kernel go on */
    uint64_t visits;
    int64_t silent_since_ns, silent_ticks; /* the executor's count of silence */
    uint32_t vain_queries; /* queries of finished work since the last submission or join */
    uint64_t suspected;    /* the progress at which all seemed stuck: the next time they are */
    int64_t active_ns;     /* when the last call or operation was */
    uint64_t clock;        /* virtual, 1 tick is 1 ns; moves when a job ends */

    cudaError_t sticky; /* after a device fault every call returns it */
};

extern struct device device;

/* What everything else needs, once: by a constructor, or by emit_open where constructors of a
 * shared library call CUDA before it. Any thread. */
void device_prepare(void);
void device_lock(void);
void device_unlock(void);
/* Starts the executor when it isn't there. Lock held. */
cudaError_t device_start(void);
int64_t device_now_ns(void);
/* Gives the lock up until something changes, at most so long. Lock held. */
void device_wait(int64_t limit_ns);
/* Marks the contexts dead: the running `op` failed with `error` at `line` (may be NULL), `text` is
 * a sentence. Ends `op` and cancels what pends. Lock held. */
void device_fault(struct op *op, cudaError_t error, const struct ptx_line *line, const char *text);
/* The same where no operation is to blame. Lock held. */
void device_die(cudaError_t error, const char *text);
/* Ends what has become ready since the context died, without running it. Lock held. */
void device_cancel(void);

/* What a CUDA entry point knows of its call. */
struct call {
    const char *name;
    const void *frame; /* of the entry point, for the stack */
    uint32_t thread;
    uint32_t ordinal;       /* of the thread's current device */
    uint32_t site;          /* 0: not asked for yet */
    uint32_t number, query; /* as in plan_call; 0: not counted */
    uint32_t planned; /* failure of what it submits: its place in the plan (plan_fails.h) + 1 */
    cudaError_t error;
    bool locked;
    bool discards;      /* launch syntax: nobody gets what it returns */
    bool asked_to_fail; /* its error is one of the plan */
    bool untold;        /* its failure is told otherwise */
    const void *stub;   /* of a launch: names its kernel */
};

/* Begins a call: lock held on true. On false call->error is the answer, already stored as last
 * error. */
bool call_begin(struct call *call, const char *name, const void *frame);
#define BEGIN(call, name) call_begin((call), (name), __builtin_frame_address(0))
/* The same for a call of which name, frame, site, stub and `discards` are given, and the rest is
 * zero. */
bool call_begin_as(struct call *call);
/* As call_begin, also where the context is dead or a host function runs, and without starting the
 * device. */
void call_begin_always(struct call *call, const char *name, const void *frame);
/* Ends it: unlocks, stores and returns the error. */
cudaError_t call_end(struct call *call, cudaError_t error);
/* The current device of the calling thread: 0 until it chooses another one. */
uint32_t device_current(void);
void device_choose(uint32_t ordinal);
/* The stack of the call, interned; 0 without a trace. */
uint32_t call_site(struct call *call);
/* The last error of this thread. */
cudaError_t call_last_error(bool reset);
void call_set_last_error(cudaError_t error);

/* A call that is not modelled: counted in the trace, told once on stderr, cudaErrorNotSupported. */
cudaError_t call_unsupported(const char *name, const void *frame);

#endif
