/* What the two halves of the oracle share: oracle.c builds it from the events, oracle_judge.c reads
 * it. */
#ifndef SSAN_TESTS_SUPPORT_ORACLE_STATE_H
#define SSAN_TESTS_SUPPORT_ORACLE_STATE_H

#include "support/oracle.h"
#include "support/oracle_graph.h"

/* Which worlds an effect stands in; 0: in none. */
struct copy_rule {
    unsigned source_free; /* the source may be overwritten once the call has returned */
    unsigned host_sync;   /* the call returns behind the end */
    unsigned joins_prior; /* the call returns behind all earlier items of its stream */
};

struct oracle_op {
    struct ssan_ev_op op;
    uint64_t position;
    bool item, closed, returned;   /* item false: a wait that orders nothing */
    int sub, begin, end, read_end; /* nodes; read_end: of an early source read, else -1 */
    int inside;                    /* last node inside a host function, -1: not begun */
    int bound;                     /* wait: index of the record it waits for, -1 none */
    uint32_t acts[2]; /* copy between two devices in a legacy stream: their contexts, else 0 */
    struct copy_rule rule;
};

struct oracle_stream {
    enum ssan_stream_flavour flavour;
    uint32_t context;
    int last; /* index of its last item, -1 none */
};

struct oracle_event {
    int record; /* index of the latest record, -1 none */
};

struct oracle_alloc {
    struct ssan_ev_alloc alloc;
    uint64_t position, freed; /* freed: position of the free, UINT64_MAX while live */
};

struct oracle_thread {
    int last;        /* its latest node, -1 none (strict only) */
    uint64_t inside; /* op whose host function it runs, 0 none */
};

struct oracle_sync {
    struct ssan_ev_sync sync;
    uint64_t position;
    int call;  /* node */
    int bound; /* index of the record, for events; -1 none */
    bool returned;
    VEC(int) ends; /* nodes that it joins */
};

struct oracle_release {
    uint64_t object;
    int node;
};

/* pool_alloc and pool_free: the bytes are dead from a free to the next alloc. */
struct oracle_pool_event {
    uint64_t position, address, size;
    bool free;
    size_t access; /* a free's entry in the list of accesses */
};

struct oracle_ignore {
    uint64_t position, address, size;
    bool on;
};

struct oracle {
    bool strict;
    const char *why;
    struct graph graph;
    VEC(struct oracle_op) ops;
    VEC(struct oracle_stream) streams;
    VEC(struct oracle_event) events;
    VEC(struct oracle_alloc) allocs;
    VEC(struct oracle_thread) threads;
    VEC(struct oracle_sync) syncs;
    VEC(struct oracle_release) releases;
    VEC(struct oracle_pool_event) pools;
    VEC(struct oracle_ignore) ignores;
    VEC(struct oracle_access) accesses;
    VEC(struct oracle_fault) faults;
    VEC(int) host_nodes; /* of host threads outside host functions */
    int last_host;       /* observed: the one timeline */
    bool exited;
    bool
        stopped; /* behind its last item and join the program was given an error that --fail made */
    uint64_t fault_position; /* of a device fault, UINT64_MAX none */
    uint32_t fault_context;
};

/* oracle.c. Notes why the trace is no valid one; always false. */
bool oracle_invalid(struct oracle *oracle, const char *why);
struct oracle_thread *oracle_thread_of(struct oracle *oracle, uint32_t id);
/* NULL, with the trace invalid, for an id that is not there. */
struct oracle_op *oracle_op_of(struct oracle *oracle, uint64_t id);
/* A new node on the timeline of a host thread (M-3, R-HOST-13), or inside the host function it runs
 * (R-HF-2). */
int oracle_host_node(struct oracle *oracle, uint32_t thread);

/* oracle_memory.c. What an operand of a copy or memset counts as at its submission. */
enum ssan_memory oracle_memory_at(const struct oracle *oracle, const struct ssan_ev_op *op,
                                  bool destination, uint64_t position);
/* The contexts in which a copy is an action of the legacy stream, both 0 for a copy that stays on
 * its device, or is in another stream (R-COPY-14, 15). */
void oracle_find_acts(const struct oracle *oracle, struct oracle_op *op);
bool oracle_on_set(struct oracle *oracle, const struct ssan_ev_set *set);
bool oracle_on_set_leaf(struct oracle *oracle, const struct ssan_ev_set_leaf *set);
bool oracle_on_host_access(struct oracle *oracle, const struct ssan_ev_host_access *access,
                           uint64_t position);
bool oracle_on_alloc(struct oracle *oracle, const struct ssan_ev_alloc *alloc, uint64_t position);
bool oracle_on_free(struct oracle *oracle, const struct ssan_ev_free *gone, uint64_t position);
bool oracle_on_pool(struct oracle *oracle, const struct oracle_pool_event *event, uint32_t thread);

/* Whether an operation is an action of the legacy stream of a context that is not its stream's. */
static inline bool oracle_acts_in(const struct oracle_op *op, uint32_t context)
{
    return op->acts[0] == context || op->acts[1] == context;
}
/* Whether a join of `sync` covers items of that stream directly. */
bool oracle_sync_covers(const struct oracle *oracle, const struct ssan_ev_sync *sync,
                        uint32_t stream);
/* Whether the program may have ended for a failure that was planned. */
bool oracle_has_stopped(const struct tape *tape);
/* Fills in what is wrong with errors of calls. */
void oracle_judge_errors(struct oracle *oracle, const struct tape *tape);
/* Fills `faults`; the graph is closed. */
void oracle_judge(struct oracle *oracle);

#endif
