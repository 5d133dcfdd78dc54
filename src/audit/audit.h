/* What each synchronisation call of a trace carries: facts only, no sentences (docs/audit.md).
 *
 * Every call site is dropped alone, with all its instances, and the whole trace judged again; then
 * the largest set of sites that can go together is searched. Memory belongs to the arena of
 * `report`; indices are into its tables, -1 for none. One thread. */
#ifndef SSAN_AUDIT_AUDIT_H
#define SSAN_AUDIT_AUDIT_H

#include "core/engine.h"
#include "core/finding.h"
#include "trace/sink.h"

/* What covers a call whose loss changes nothing. */
enum audit_cover_kind {
    AUDIT_COVER_SYNC,      /* another synchronisation call: `op` */
    AUDIT_COVER_CALL,      /* a call that blocks (a copy, a memset, a free): `op` */
    AUDIT_COVER_LEGACY,    /* the legacy stream and the blocking ones wait for each other */
    AUDIT_COVER_HAND_OVER, /* host threads hand over */
};

struct audit_cover {
    enum audit_cover_kind kind;
    int op; /* the first instance of the site; -1 where it doesn't apply */
};

enum audit_why {
    AUDIT_COVERED,        /* all that it orders is ordered by other paths: `covers` */
    AUDIT_NEEDED_COVERED, /* what conflicts is; of the rest nothing conflicts */
    AUDIT_NO_CONFLICT,    /* nothing that it orders shares bytes, as far as they were observed */
    AUDIT_NOTHING_BEHIND, /* nothing comes behind it */
    AUDIT_NOTHING_BEFORE, /* there is nothing that it waits for: never recorded, or no work */
};

/* One place of the source, with all its dynamic instances. */
struct audit_site {
    int op;       /* its first instance */
    bool is_wait; /* an event wait of a stream; else it joins the host */
    bool load_bearing;
    bool together;       /* one of the set that can go together */
    bool by_accident;    /* redundant only while order by accident holds; see enum audit_rest */
    uint64_t calls;      /* instances */
    uint64_t blocked_ns; /* time the host spent in them */
    const int *streams;  /* distinct, in order of first use: who waits, or is waited for */
    const int *events;   /* the same */
    size_t stream_count, event_count;
    struct finding *const *protects; /* load-bearing: what the trace has without it, the gravest of
                                        each pair of operations */
    const uint64_t *known; /* of each of `protects`: instances that the trace has as it is; its
                              count is of those that the loss adds */
    size_t protect_count;
    size_t more_count;                /* further ones that were not kept */
    enum audit_why why;               /* redundant */
    const struct audit_cover *covers; /* none with AUDIT_COVERED: the order of one stream itself */
    size_t cover_count;
};

/* What an accidental order rests on. */
enum audit_rest {
    AUDIT_RESTS_LEGACY = 1, /* the legacy stream and the blocking ones wait for each other */
    AUDIT_RESTS_DEVICE = 2, /* device-wide synchronisation */
    AUDIT_RESTS_CALL = 4,   /* a call that blocks: a copy, a memset, a free */
};

/* Two operations in order that no event and no stream or event synchronisation gives. */
struct audit_accident {
    const struct report *in;       /* whose tables it refers to */
    const struct finding *finding; /* what the trace has without that: first and then */
    const struct fix *fix;         /* re-checked; NULL: none is known */
    unsigned rests; /* of enum audit_rest: each that alone would break it; 0: several, none alone */
};

struct audit {
    struct report report;     /* tables, run and totals; its findings are not set */
    struct audit_site *sites; /* in order of the trace */
    size_t site_count, load_bearing, redundant;
    size_t together;          /* how many can go together */
    bool together_exact;      /* no larger set can; else none was found */
    struct report accidental; /* tables of `accidents` */
    struct audit_accident *accidents;
    size_t accident_count;
    unsigned assume;       /* as options.assume; 0: nothing was */
    struct report assumed; /* of the trace as if built so: the findings that appear */
    uint64_t runs;         /* how often the trace was judged again */
};

/* How the trace is judged as if the program had been built. */
enum audit_assume {
    AUDIT_ASSUME_NON_BLOCKING = 1, /* streams are created with cudaStreamNonBlocking */
    AUDIT_ASSUME_PER_THREAD = 2,   /* default streams are per thread */
};

struct audit_options {
    struct engine_options engine; /* threads and shadow limit count */
    bool order_documented;
    unsigned assume;             /* of enum audit_assume, all at once; 0: nothing */
    const struct report *report; /* on the trace as it is; borrowed until audit_finish, may be
                                    NULL: no finding of it is known */
    uint64_t max_runs;           /* for the search of the largest set, about; then as many again for
                                    a large one; 0: 500 */
    void (*step)(void *self, uint64_t runs); /* told before each re-run; may be NULL */
    void *step_self;
};

/* Fills `audit` (zeroed by the caller) from the engine that has read `source` to its end. Rewinds
 * and reads `source` once for each site and once for each set that is tried, O(trace) each.
 * SSAN_IO: it can't be read again. SSAN_NO_MEMORY. `audit` wants audit_finish in any case. */
enum ssan_status audit_run(struct audit *audit, const struct engine *engine,
                           struct ssan_source *source, const struct audit_options *options,
                           struct ssan_error *err);
void audit_finish(struct audit *audit);

#endif
