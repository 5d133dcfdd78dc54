/* Engine against oracle on one tape, strict but fair to what engine.h leaves to the engine.
 *
 * Every hazard of the engine must be a fault of the oracle between the same two places, with the
 * same check, severity in both readings, sureness, and no byte more. Every byte of every fault of
 * the oracle must be told by the engine: with that pair, or with a later first access that the
 * fault's own first access is ordered before (as documented), that conflicts the same way and is
 * told at least as severely: an edge that repairs it repairs both. Needs sites of
 * their own for all calls. Out of memory ends the test. */
#ifndef SSAN_TESTS_SUPPORT_COMPARE_H
#define SSAN_TESTS_SUPPORT_COMPARE_H

#include "base/strbuf.h"
#include "core/engine.h"
#include "support/oracle.h"
#include "support/tape.h"

struct compare_counts {
    uint64_t faults[ORACLE_CHECK_COUNT];      /* of the oracle */
    uint64_t portability[ORACLE_CHECK_COUNT]; /* of these, in the documented reading only */
    uint64_t hazards;                         /* of the engine */
};

enum compare_result {
    COMPARE_AGREE,
    COMPARE_DIFFER,  /* `why` says where */
    COMPARE_INVALID, /* the oracle refuses the tape */
};

/* `mutant` breaks a rule of the engine, as in engine_options; 0: none. `counts` may be NULL. */
enum compare_result compare_tape(const struct tape *tape, bool strict, uint32_t mutant,
                                 struct strbuf *why, struct compare_counts *counts);
/* The engine over a whole tape; NULL with *err set when it refuses it. */
struct engine *compare_engine(const struct tape *tape, bool strict, uint32_t mutant,
                              struct ssan_error *err);

#endif
