/* A litmus listing: a small trace with the verdict it states.
 *
 *     #expect: error SSAN-RAW first=op:1 then=op:2
 *     #expect: warning SSAN-RAW by=A2 first=op:1 then=host:1     (portability: an error as
 * documented) #expect: advice SSAN-EVENT-UNRECORDED then=op:1 #expect: clean #expect-strict: ...
 * instead, under --threads strict; without such lines the same verdict holds #nearest: waited-late
 * nearest misses of the findings, in order; "strict KIND": under --threads strict
 *
 * Sides are op:ID, sync:ID, alloc:ID, free:ID, and host:N, pool:N, failed:N (the N-th
 * host_access, pool_free, failed of the listing). A verdict is a sorted list of such lines. Out of
 * memory ends the test. */
#ifndef SSAN_TESTS_LITMUS_LITMUS_H
#define SSAN_TESTS_LITMUS_LITMUS_H

#include "support/oracle.h"
#include "support/tape.h"

struct verdict {
    VEC(char *) lines;
};

void verdict_add(struct verdict *verdict, const char *line);
/* One string, sorted, one line each; "clean\n" when empty. The caller frees it (mem_free). */
char *verdict_text(struct verdict *verdict);
void verdict_finish(struct verdict *verdict);

struct litmus {
    char *name; /* without directory and suffix */
    char *text;
    size_t length;
    struct tape tape;
    struct verdict expect[2]; /* threads observed, strict */
    struct verdict nearest[2];
};

struct litmus_set {
    VEC(struct litmus) items;
};

/* All *.litmus of a directory, by name; ends the test when one can't be read. */
void litmus_load(struct litmus_set *set, const char *directory);
void litmus_finish(struct litmus_set *set);
/* "op:3", "host:1": what stands at a position of the tape. */
void litmus_side(const struct tape *tape, uint64_t position, char *label, size_t size);
/* Prints the events and reads them back: false when anything changed. */
bool litmus_round_trip(const struct litmus *litmus);
/* The oracle's verdict in the same words, but without `by`. */
void litmus_oracle(const struct litmus *litmus, bool strict, struct verdict *verdict);
/* The stated verdict without `by`. */
void litmus_without_by(const struct verdict *stated, struct verdict *plain);

#endif
