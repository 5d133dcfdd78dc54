/* Hazards into findings: reads the trace again for names, windows and nearest misses, proposes
 * fixes and re-checks each on the whole trace (docs/report.md). */
#ifndef SSAN_CORE_EXPLAIN_H
#define SSAN_CORE_EXPLAIN_H

#include "core/engine.h"
#include "core/finding.h"
#include "trace/sink.h"

struct explain_options {
    bool order_documented, threads_strict;
    uint32_t mutant;          /* as engine_options.mutant */
    uint64_t max_checks;      /* at most this many re-runs of the trace for fixes; 0: 200 */
    bool (*stop)(void *self); /* asked between re-runs; true ends re-checking early. May be NULL */
    void *stop_self;
    bool spare; /* keep rows for allocations and streams that no finding names */
};

/* Fills `report` (zeroed by the caller; run.* that the trace does not tell is left to the caller)
 * from the hazards and totals of an engine that has read `source` to its end. Rewinds and reads
 * `source` several times; where it can't be rewound the findings have sites only. */
enum ssan_status explain(struct report *report, const struct engine *engine,
                         struct ssan_source *source, const struct explain_options *options,
                         struct ssan_error *err);

#endif
