/* What `witness` needs of a trace beside its model: the accesses of host threads, and who wrote a
 * byte last, with which width.
 *
 * Copies hand on what they read, so the width of a byte is looked for at the other end of the copy
 * that brought it. One thread. */
#ifndef SSAN_EXPLORE_FACTS_H
#define SSAN_EXPLORE_FACTS_H

#include "base/arena.h"
#include "base/vec.h"
#include "explore/model.h"

/* A host access, counted apart for each thread from 1. Those inside host functions have their op.
 */
struct fact_host {
    uint32_t thread, number, site;
    enum ssan_access access;
    uint64_t address, size, position, op;
};

/* Accesses of one line of one operation: all lie in [begin, end). */
struct fact_width {
    uint64_t begin, end;
    uint32_t item, width;
};

struct fact_copy {
    uint64_t dst, src, width, height, dst_pitch, src_pitch; /* height 0: no copy */
};

struct facts {
    VEC(struct fact_host) hosts;
    VEC(struct fact_width) widths; /* in order of the trace */
    VEC(struct fact_copy) copies;  /* by operation id - 1 */
    VEC(uint32_t) host_counts;     /* by thread */
    VEC(uint64_t) callbacks;       /* by thread: the op it runs for */
    uint64_t position;
};

/* Reads a whole trace; `facts` is zeroed before and needs facts_finish in any case. */
enum ssan_status facts_read(struct facts *facts, struct ssan_source *source,
                            struct ssan_error *err);
void facts_finish(struct facts *facts);

/* The width in bytes of the access that put there what `address` holds at the end of the run, else
 * of one that touched it; 0: unknown. */
uint32_t facts_width(const struct facts *facts, const struct model *model, uint64_t address);

/* The access with this number of this thread; NULL: there is none. */
const struct fact_host *facts_host(const struct facts *facts, uint32_t thread, uint32_t number);
/* The access that stands at this position; NULL: there is none. */
const struct fact_host *facts_host_at(const struct facts *facts, uint64_t position);

#endif
