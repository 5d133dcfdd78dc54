/* Random traces that a real program could have written, for the property test.
 *
 * Several host threads, streams of all flavours in one or two contexts, events, host functions, all
 * memory kinds, lifetimes with reuse of addresses, every sync; sets and closes come late and out of
 * order. Byte sets are small and lie close together so that pairs meet; the sizes of copies lie
 * around the 64 KiB of the copy rules. Each call has a site of its own, so findings never merge.
 * The same seed gives the same trace. Not thread-safe. */
#ifndef SSAN_TESTS_SUPPORT_RANDOM_TRACE_H
#define SSAN_TESTS_SUPPORT_RANDOM_TRACE_H

#include "base/rng.h"
#include "support/tape.h"

/* Fills the empty tape with a trace of `operations` operations (fewer never, at most a few more).
 */
void random_trace(struct tape *tape, struct rng *rng, uint64_t operations);

#endif
