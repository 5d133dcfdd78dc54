/* Random small programs that query, and everything that they can do.
 *
 * A program is a host that launches, records, waits, joins and polls (a loop that asks up to some
 * times, may launch each time, and may go two ways behind it) on a few streams. Kernels read and
 * write cells; which they write may depend on what they read. A world is one state of such a run;
 * moves are the host's next step and the next item of a stream. Naive model: all sequences of
 * moves, which is what brute force takes. One thread. */
#ifndef SSAN_TESTS_PROPERTY_POLLING_H
#define SSAN_TESTS_PROPERTY_POLLING_H

#include "base/map.h"
#include "base/rng.h"
#include "trace/event.h"

#include <stdbool.h>
#include <stdint.h>

#define POLLING_STATEMENTS 7u
#define POLLING_STREAMS    3u /* ids from 1 */
#define POLLING_EVENTS     2u /* ids from 1 */
#define POLLING_CELLS      3u
#define POLLING_OPS        14u
#define POLLING_SPINS      UINT8_MAX /* `times` of a loop that asks until it is told yes */

/* Cells as masks. `odd` is written instead of `writes` when the sum of what was read is odd. */
struct polling_kernel {
    uint8_t stream, reads, writes, odd;
};

enum polling_act { POLLING_LAUNCH, POLLING_RECORD, POLLING_WAIT, POLLING_JOIN, POLLING_POLL };

struct polling_statement {
    enum polling_act act;
    uint8_t stream, event;                   /* JOIN, POLL: the event; 0: the stream */
    uint8_t times;                           /* POLL: vain answers that are put up with */
    bool launches, yes, no;                  /* POLL: after each but the last; behind it */
    struct polling_kernel kernel, then, els; /* LAUNCH and `launches`; `yes`; `no` */
};

struct polling_program {
    unsigned count;
    struct polling_statement statements[POLLING_STATEMENTS];
};

struct polling_op {
    uint8_t stream, seq, event, kind;
    struct polling_kernel kernel;
    uint16_t needs; /* mask of operations */
    uint8_t read, written;
    bool done;
    uint8_t filler; /* no padding */
};

struct polling_world {
    uint8_t at, phase, vain, answer; /* of the host */
    uint8_t op_count, done_count;
    struct polling_op ops[POLLING_OPS];
    uint8_t order[POLLING_OPS];           /* in which they ran */
    uint8_t recorded[POLLING_EVENTS + 2]; /* index of the record + 1 */
    uint16_t cells[POLLING_CELLS];
};

enum polling_step { POLLING_SUBMITS, POLLING_ASKS, POLLING_JOINS, POLLING_ENDS };

/* The host's next step. SUBMITS: `op` is filled; ASKS, JOINS: event or (0) stream, 0 and 0: all. */
struct polling_action {
    enum polling_step step;
    struct polling_op op;
    uint8_t stream, event;
};

void polling_make(struct polling_program *program, struct rng *rng);
void polling_print(const struct polling_program *program);

struct polling_action polling_next(const struct polling_program *program,
                                   const struct polling_world *world);
/* The operations that the action asks or waits for, and that are not done. */
uint16_t polling_pending(const struct polling_world *world, const struct polling_action *action);
/* The step was taken; `answer`: of ASKS. SUBMITS: gives the index of the operation. */
unsigned polling_take(const struct polling_program *program, struct polling_world *world,
                      const struct polling_action *action, bool answer);
bool polling_is_ready(const struct polling_world *world, unsigned op);
void polling_run(struct polling_world *world, unsigned op);

/* What ran, in this order; and which conflicting items ran which way round. */
uint64_t polling_order_hash(const struct polling_world *world);
uint64_t polling_class_hash(const struct polling_world *world);

/* Everything that a program can do: sets of hashes; the value of an order is its class. */
struct polling_all {
    struct map worlds, orders, classes;
    bool cut; /* there was too much */
};
void polling_brute_force(const struct polling_program *program, struct polling_all *all);
void polling_all_finish(struct polling_all *all);

#endif
