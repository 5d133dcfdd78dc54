/* Where the executor's time goes: samples of the processor's time, by the function that runs.
 *
 * A timer of processor time interrupts the program; the function at that place is looked up in the
 * program's own symbol table and counted for one of the parts. Coarse, a few hundred samples, but
 * it needs neither counters nor another program. One profile at a time, one thread. */
#ifndef SSAN_TESTS_BENCH_EXEC_PROFILE_H
#define SSAN_TESTS_BENCH_EXEC_PROFILE_H

#include <stdbool.h>

enum profile_part {
    PROFILE_dispatch,   /* choosing what runs next; starting and ending warps and blocks */
    PROFILE_arithmetic, /* the loops of lanes.def */
    PROFILE_memory,     /* addresses, checks, moves */
    PROFILE_observation,
    PROFILE_other, /* not the executor */
    PROFILE_parts
};

extern const char *const profile_names[PROFILE_parts];

/* Reads the symbols; false when they can't be had. */
bool profile_init(void);
void profile_finish(void);
void profile_start(void);
/* Samples of each part since profile_start. */
void profile_stop(unsigned *samples);

#endif
