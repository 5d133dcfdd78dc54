/* The report's data model: facts only, no sentences. Everything a report prints stands here
 * (docs/report.md).
 *
 * All memory belongs to the arena of struct report and lives as long as it. Indices into the tables
 * are `int`, -1 for none. Missing facts are NULL, 0 or -1 and print as null: never guessed. */
#ifndef SSAN_CORE_FINDING_H
#define SSAN_CORE_FINDING_H

#include "base/arena.h"
#include "base/ranges.h"
#include "core/check.h"
#include "core/engine.h"

/* A source place; file NULL: unknown. */
struct place {
    const char *file, *function;
    uint32_t line;
    const char *text; /* the statement there, one line; NULL: unknown */
    enum ssan_language language;
};

enum name_from { NAME_GIVEN, NAME_VARIABLE, NAME_ORDINAL };

struct report_stream {
    uint32_t ordinal; /* s<ordinal>, by creation */
    const char *name; /* legacy, per-thread; given; variable; or "stream #2" */
    enum name_from name_from;
    enum ssan_stream_flavour flavour;
    int device;
    struct place created;
};

struct report_event {
    uint32_t ordinal; /* e<ordinal> */
    const char *name;
    enum name_from name_from;
    struct place created;
};

struct report_buffer {
    const char *name;
    enum name_from name_from;
    enum ssan_memory memory; /* REGISTERED prints as host-pinned */
    uint64_t address;        /* only with --with-addresses */
    uint64_t size_bytes;     /* 0: unknown */
    uint32_t generation;     /* nth life of this address, from 1 */
    uint32_t alloc;          /* its number in the trace, 0: none */
    int device;              /* -1: host memory */
    const char *call;        /* NULL: pageable */
    struct place allocated, freed;
};

enum report_op_kind {
    ROP_KERNEL,
    ROP_COPY,
    ROP_MEMSET,
    ROP_ALLOC,
    ROP_FREE,
    ROP_RECORD,
    ROP_WAIT,
    ROP_HOSTFUNC,
    ROP_HOST_READ,
    ROP_HOST_WRITE,
    ROP_SYNC,
    ROP_FAILED, /* a call that failed, and so did nothing */
};

struct buffer_span {
    int buffer; /* index, -1: none */
    uint64_t begin, end;
};

struct report_op {
    const char *id;    /* s1.2, h1.3 */
    const char *label; /* P2; unique in the report */
    enum report_op_kind kind;
    int stream; /* index into streams, -1: a host thread */
    uint32_t thread;
    uint32_t seq;
    uint64_t position; /* in the trace: tells issue order */
    uint64_t op;       /* id in the trace of an item of a stream, else 0 */
    const char *name;  /* kernel or host function, demangled, no arguments */
    const char *call;
    uint32_t grid[3], block[3];
    struct buffer_span src, dst; /* copies; dst also memset, host accesses, alloc, free */
    int event;                   /* record, wait, sync of an event */
    uint32_t error;              /* failed: the CUDA error code */
    struct place at;
    const struct place *stack; /* innermost first; [0] equals at */
    size_t stack_count;
    const struct place *inside; /* frames of libraries below `at`, innermost first */
    size_t inside_count;
    const char *library; /* the function that `at` calls of the library that makes the call; NULL:
                            the program makes it */
};

struct report_edge {
    int from, to;    /* operations */
    const char *why; /* stream, event, host, legacy */
};

enum nearest_kind {
    NEAREST_RECORDED_NOT_WAITED,
    NEAREST_WRONG_EVENT,
    NEAREST_RECORDED_EARLY,
    NEAREST_WAITED_LATE,
    NEAREST_NEVER_RECORDED,
    NEAREST_RE_RECORDED,
    NEAREST_HOST_LATE,
    NEAREST_LEGACY_EXEMPT,
    NEAREST_PAGEABLE_STAGING,
    NEAREST_HOST_THREADS,
    NEAREST_PEER_DEFAULT,
    NEAREST_NONE,
};

/* "recorded-not-waited" ... "none" */
const char *nearest_word(enum nearest_kind kind);

struct nearest {
    enum nearest_kind kind;
    int event,
        other_event;  /* the event that would serve; wrong-event, re-recorded: the other one */
    int record, wait; /* operations (indices), -1 none; host-late: wait is a ROP_SYNC */
    int other_record; /* wrong-event, re-recorded: the record the wait really used */
    bool elsewhere;   /* recorded-not-waited: another stream or the host waits for the event */
    bool reversed;    /* none: `wait` is one of first's stream for then's */
};

enum fix_kind {
    FIX_INSERT_WAIT, /* wait for an event that stands recorded */
    FIX_RECORD_WAIT, /* new record and wait */
    FIX_MOVE_RECORD,
    FIX_MOVE_WAIT,
    FIX_SECOND_EVENT, /* the re-record gets an event of its own */
    FIX_HOST_SYNC,    /* the host waits */
    FIX_MOVE_FREE,    /* the free goes behind the join */
    FIX_HAND_OVER,    /* host threads */
    FIX_ASK_ERROR,    /* ask for a launch's error; changes no order, so nothing checks it */
    FIX_KEEP_USAGE,   /* what the buffer's owner says of it: words, so nothing checks them */
};

const char *fix_word(enum fix_kind kind); /* insert-wait ... */

/* One changed place of the source as it was: whole statements inserted before `line`, or behind the
 * statement that begins there (where it ends is not known), or that statement removed. */
struct source_edit {
    const char *file;
    uint32_t line;
    const char *insert_before, *insert_behind; /* NULL: the other, or `remove` */
    bool remove;
};

struct fix {
    enum fix_kind kind;
    bool checked, partial; /* partial: host threads need a hand-over besides */
    bool borrowed;         /* names are those of another function, or made up: they want adapting */
    const char *const *foreign; /* those that stand for what a library made: the program may have no
                                   name for it */
    size_t foreign_count;
    const char *usage; /* keep-usage: the words; else NULL */
    const struct source_edit *edits;
    size_t edit_count;
    const char *const *removes; /* ids of findings (not of folded ones) gone with it */
    size_t remove_count;
    const char *const *leaves; /* ids of those of which something remains */
    size_t leave_count;
    const struct finding *of; /* the finding that it was made for; NULL: the one that holds it */
};

/* Whether a finding's fix may be told: the re-check has passed it, or it needs none. NULL: no. */
bool fix_is_told(const struct fix *fix);

struct finding_side {
    int op;
    enum ssan_access access;       /* frees and allocs: write */
    const struct place *device_at; /* candidates */
    size_t device_count;
    uint32_t size_bytes; /* of one access; 0: none */
};

/* What became of the search for a legal schedule in which the two operations of a finding happen
 * the other way round. */
enum witness_kind {
    WITNESS_SHOWN,      /* one was run, and something that the program can see changed */
    WITNESS_SILENT,     /* one was run, and nothing visible changed */
    WITNESS_ORDERED,    /* none is legal on this device: what is observed orders the two */
    WITNESS_ALWAYS,     /* every schedule has the fault: `then` was issued behind the free */
    WITNESS_CALL,       /* `then` is a call of the host that waits for `first` here */
    WITNESS_INFEASIBLE, /* the schedules that were tried could not be followed: `detail` */
    WITNESS_MISSED,     /* they were followed, and the two did not change places */
    WITNESS_DIVERGED,   /* the program took another way under each */
    WITNESS_FAILED,     /* a failure of ours came in between: `detail` */
    WITNESS_PROCESSES,  /* not searched: the program has several processes with CUDA operations */
    WITNESS_NO_TIME,    /* not searched to the end: the time was over */
    WITNESS_NO_GATE,    /* none on a GPU, where only kernels can be held: `detail` */
};

const char *witness_word(enum witness_kind kind); /* shown ... no-time */

/* How a run ended, and one that it is compared with. */
struct witness_exit {
    bool differs;
    bool timed_out; /* it did not end by itself */
    int code, signal, expected_code, expected_signal;
};

/* The first line of the program's output that differs; NULL: there the output had ended. */
struct witness_output {
    bool differs;
    uint64_t line;
    const char *got, *expected;
};

/* The first element of a buffer that differs. */
struct witness_memory {
    int buffer; /* -1: none differs */
    uint64_t index, bytes_differ;
    const char *type; /* f32, i32, ... */
    const char *got, *expected;
};

struct witness {
    enum witness_kind kind;
    const char *detail;
    const char *const *order; /* ids of operations in the order in which they ran */
    size_t order_count;
    /* On a GPU instead: the kernel that was held and what it was held for, as s1.2 or, an announced
     * access of host thread 1, a1.3. */
    const char *held, *held_name, *until;
    bool interleaved; /* block by block in turns, which no list of the order says */
    struct witness_exit exit;
    struct witness_output output;
    struct witness_memory memory;
    const char *const *replay;    /* words of the command, NULL-terminated; NULL: none */
    bool needs_file;              /* no short words did it, and a file was not asked for */
    uint32_t reproduced, repeats; /* of the replays that were run */
};

/* A place whose items the host has to wait for, with what is submitted there. */
struct diagnosis_wait {
    struct place at;
    const char *what, *stream; /* "scale", "producer"; NULL: unknown */
};

enum diagnosis_limit {
    DIAGNOSIS_NO_LIMIT,
    DIAGNOSIS_TIME,   /* the time was over */
    DIAGNOSIS_LINES,  /* the lines that are known don't cure it */
    DIAGNOSIS_FAILED, /* a trial could not be run or read */
};

const char *diagnosis_limit_word(enum diagnosis_limit limit); /* NULL, time, lines, failed */

/* What `witness --bisect` found out about a run with a wrong result: where added waits cure it.
 * Never a fix: it tells where the order is missing, not which. */
struct diagnosis {
    bool wrong;    /* there was a wrong result */
    bool cured;    /* waiting for every item cures it; else order is not what it lacks */
    bool smallest; /* none of `waits` can be left out */
    const struct diagnosis_wait *waits;
    size_t wait_count;
    uint64_t tried;             /* sets of waits that were run */
    enum diagnosis_limit limit; /* what came before the end of the search */
};

struct finding {
    const char *id; /* 8 hexadecimal digits; what it hashes: explain_ids.c */
    uint64_t key;   /* same for the same hazard in re-runs of one trace, whatever changed */
    enum check check;
    enum severity severity;
    enum sureness sureness;
    const char *ordered_by; /* ordering rule of a portability warning, else NULL */
    int buffer;
    struct ranges bytes;
    struct finding_side first, then;
    int stream, event; /* misuse findings: what it is about, -1 none */
    bool has_missing;  /* the members below are set */
    uint32_t seen_seq,
        needed_seq; /* of first's stream: up to which item `then` has waited; which it needs */
    struct nearest nearest;
    const struct fix *fix;         /* NULL: none that passed the re-check, or needs none */
    const struct witness *witness; /* NULL: not asked for */
    struct finding *const *folded;
    size_t folded_count;
    const int *window; /* operations of the order window, in issue order */
    size_t window_count;
    uint64_t count;            /* dynamic repeats */
    const char *suppressed_by; /* reason of the entry that hides it; NULL: it is told */
};

/* One entry of a suppression file (docs/suppressions.md). NULL: the entry does not ask for it. */
struct suppression {
    const char *file; /* as it was given */
    uint32_t line;    /* where the entry begins, 0: unknown */
    const char *rule, *id;
    const char *buffer, *kernel; /* globs; `kernel` is that of either side */
    const char *reason;
    uint64_t used; /* findings it fits, folded ones included */
};

/* A call or an operation that the run made to fail (--fail), at one place. */
struct run_failure {
    const char *call;
    uint32_t error; /* the CUDA error code */
    struct place at;
    uint64_t count;
};

/* One that did not happen, as its call was made `calls` times only. */
struct run_missed {
    const char *failure, *call; /* failure: as --fail takes it */
    uint64_t calls;
};

/* The device fault that ended a context. */
struct run_fault {
    const char *text; /* NULL: there was none */
    uint32_t error;   /* its CUDA error code, 0: unknown */
    bool planned;     /* the run was made to fail there */
    struct place at;
    const char *call, *name; /* of the operation that failed, with its kernel; NULL: unknown */
    struct place op_at;
    const char *returned; /* the first call that returned its error; NULL: none did */
    struct place returned_at;
};

struct run_info {
    const char *const *command; /* NULL-terminated; empty: unknown */
    enum ssan_producer source;
    enum ssan_accesses accesses;
    enum ssan_host_scope host;
    const char *schedule;   /* NULL: unknown */
    const char *altered;    /* what the run left out or added to the program, NULL: nothing */
    const char *observed;   /* kernels whose accesses are in the scope, in words; NULL: all */
    const char *infeasible; /* why the listed order could not be followed, NULL: it was */
    bool order_documented, threads_strict;
    uint32_t submitting_threads;
    bool has_exit;
    int exit_code, exit_signal; /* exit_signal 0: none */
    bool complete;
    uint64_t lost[ssan_loss_count], open_operations, rounded_sets;
    bool cut; /* the trace ended without an exit event */
    struct run_fault fault;
    const struct run_failure *failures; /* in the order of their first */
    size_t failure_count;
    const struct run_failure *refused; /* launches that failed by themselves */
    size_t refused_count;
    const struct run_missed *missed;
    size_t missed_count;
    const char *const *unsupported; /* names, in order of first call */
    const uint64_t *unsupported_counts;
    const struct place *unsupported_at; /* of the first call of each; NULL: of none */
    size_t unsupported_count;
    const char *const *
        reasons; /* further losses inside the scope that only the caller knows, as sentence parts */
    size_t reason_count;
    double seconds;        /* wall time of the run or check */
    uint64_t memory_bytes; /* peak of the tool */
    uint64_t trace_bytes;
};

struct report {
    struct arena arena;
    struct run_info run;
    struct report_stream *streams;
    struct report_event *events;
    struct report_buffer *buffers;
    struct report_op *ops;
    struct report_edge *edges;
    struct finding **findings; /* top level, in order of then's position */
    size_t stream_count, event_count, buffer_count, op_count, edge_count, finding_count;
    uint32_t device_count; /* devices in the run: with more than one, reports name them */
    size_t spare_buffers;  /* behind the last of `buffers`: allocations that nothing names yet */
    size_t spare_streams;  /* behind the last of `streams`: others that have items */
    const struct diagnosis *diagnosis;      /* NULL: not asked for */
    const struct suppression *suppressions; /* those that were applied; borrowed */
    size_t suppression_count;
    struct engine_totals totals;
};

void report_finish(struct report *report);
/* Whether the report has an error, hidden ones included, that can be why a result is wrong. A
 * warning is of order that the device keeps, or not sure. */
bool report_explains(const struct report *report);

#endif
