/* The oracle: docs/model.md chapters 0-5 and 7 as literally as possible, for small traces.
 *
 * Each operation becomes nodes (begin, end, end of an early source read), each call of a host
 * thread one node; each rule adds edges between them, marked with the reading that has them. The
 * transitive closure over all nodes then answers every question, for all pairs of accesses.
 * O(nodes^2 * edges / 64); nothing of src/core is linked. One oracle judges one tape; the tape must
 * outlive it. Not thread-safe. */
#ifndef SSAN_TESTS_SUPPORT_ORACLE_H
#define SSAN_TESTS_SUPPORT_ORACLE_H

#include "base/ranges.h"
#include "support/tape.h"

/* In the order of the reports: the strongest first. */
enum oracle_check {
    ORACLE_USE_AFTER_FREE,
    ORACLE_FREE_IN_FLIGHT,
    ORACLE_RAW,
    ORACLE_WAW,
    ORACLE_WAR,
    ORACLE_EVENT_RACE,
    ORACLE_SUBMIT_RACE,
    ORACLE_UNCHECKED_LAUNCH,
    ORACLE_LATE_ERROR,
    ORACLE_EVENT_UNRECORDED,
    ORACLE_PENDING_AT_EXIT,
    ORACLE_CHECK_COUNT
};

enum oracle_reading { READING_DOCUMENTED, READING_OBSERVED, READING_COUNT };
enum oracle_sureness { ORACLE_EXACT, ORACLE_FOOTPRINT, ORACLE_POSSIBLE };

enum oracle_side { ORACLE_OP, ORACLE_HOST, ORACLE_ALLOC, ORACLE_FREE };

struct oracle_access {
    enum oracle_side side;
    uint64_t position; /* in the trace: the op, host_access, alloc or free event */
    uint64_t order;   /* issue order: the position, of the op for accesses inside a host function */
    uint64_t op;      /* 0: none */
    uint32_t alloc;   /* generation; 0: pageable */
    uint32_t context; /* of the stream or allocation; 0: none */
    enum ssan_access access;
    bool may, dead;
    struct ranges bytes;      /* absolute addresses */
    int begin[READING_COUNT]; /* nodes: what is behind end comes after the access */
    int end[READING_COUNT];
    int sub; /* node of the submission */
};

/* One fault between two places; races and lifetimes name two accesses, the others SIZE_MAX. */
struct oracle_fault {
    enum oracle_check check;
    enum oracle_sureness sureness;
    bool observed; /* stands in the observed reading too, else a portability warning */
    bool mild;     /* a launch whose error is asked for late: advice */
    size_t first, then;
    uint64_t first_position, then_position;
    uint32_t alloc, stream, event;
    struct ranges bytes;
};

struct oracle;

/* NULL when the tape is not a valid trace; *why then says what is wrong (static text). */
struct oracle *oracle_run(const struct tape *tape, bool strict, const char **why);
const struct oracle_access *oracle_accesses(const struct oracle *oracle, size_t *count);
/* In no particular order. One fault for each (check, first, then, alloc, sureness). */
const struct oracle_fault *oracle_faults(const struct oracle *oracle, size_t *count);
/* Whether access `then` begins behind the end of access `first` in that reading. */
bool oracle_behind(const struct oracle *oracle, size_t first, size_t then,
                   enum oracle_reading reading);
const char *oracle_check_word(enum oracle_check check);
void oracle_destroy(struct oracle *oracle);

#endif
