/* The tables of a report: those streams, events, buffers and operations that findings name. */
#ifndef SSAN_CORE_EXPLAIN_TABLES_H
#define SSAN_CORE_EXPLAIN_TABLES_H

#include "core/explain_window.h"

/* What is wanted, then where it stands. */
struct tables {
    struct report *report;
    const struct history *history;
    const struct details *details;
    VEC(uint32_t) calls;   /* wanted; sorted by tables_build */
    VEC(uint64_t) blocks;  /* wanted, in order of the report */
    VEC(uint32_t) streams; /* wanted; sorted by ordinal by tables_build */
    VEC(uint32_t) events;
    struct map call_of, block_of, stream_of, event_of; /* wanted thing -> index in the report */
    bool spare; /* keep rows for allocations and streams not wanted, behind the others */
};

/* Marks things for the report; HISTORY_NONE is ignored. False when out of memory. */
bool tables_want_call(struct tables *tables, uint32_t call);
bool tables_want_block(struct tables *tables, uint64_t key);
bool tables_want_stream(struct tables *tables, uint32_t stream);
bool tables_want_event(struct tables *tables, uint32_t event);

/* Makes the report's tables and edges of what is wanted and what that names in turn. False when out
 * of memory. */
bool tables_build(struct tables *tables);

/* Indices into the report's tables, -1 for what is not there. */
int tables_op(const struct tables *tables, uint32_t call);
int tables_block(const struct tables *tables, uint64_t key);
int tables_stream(const struct tables *tables, uint32_t stream);
int tables_event(const struct tables *tables, uint32_t event);

/* The first byte of a block. */
uint64_t block_begin(const struct history *history, uint64_t key);

void tables_finish(struct tables *tables);

#endif
