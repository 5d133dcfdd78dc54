/* What the files that fill the history share: the state of the pass, and who takes which event.
 *
 * Every function returns false (or NULL, 0, HISTORY_NONE) when out of memory, and skips ids it does
 * not know. */
#ifndef SSAN_CORE_EXPLAIN_READ_PARTS_H
#define SSAN_CORE_EXPLAIN_READ_PARTS_H

#include "core/explain_history.h"

/* A block that lives at this point of the trace. */
struct live {
    uint64_t address, end;
    uint32_t alloc;
};

/* A frame as it came; sorted into sites at the end. */
struct frame {
    uint32_t site, depth; /* site: index */
    struct place place;
};

/* A release of an object, by a thread or (op not HISTORY_NONE) inside a host function. */
struct release {
    uint64_t position;
    uint32_t thread, item, next;
};

/* What the return of a copy or memset joins into its caller. */
struct returning {
    bool item, item_observed;   /* the item itself; only in the observed reading */
    bool prior, prior_observed; /* all before it on its stream */
};

struct reader_state {
    struct history *history;
    struct arena *arena;
    bool light;
    uint64_t position;
    VEC(struct live) live; /* by address */
    VEC(struct frame) frames;
    VEC(struct release) releases;
    VEC(struct returning) returnings; /* of items that have yet to return */
    struct map returning_of;          /* item -> index into returnings */
    struct map releases_of;           /* object -> newest release + 1 */
    struct map pool_sizes;            /* address -> bytes of the pool's block there */
    struct map lives;                 /* address -> generations so far */
    struct map seq_of;                /* thread -> host accesses, allocs and frees so far */
    struct map sync_seq_of;           /* thread -> syncs so far */
    struct map failed_seq_of;         /* thread -> failed calls so far */
    struct map callback_of;           /* thread -> item + 1 whose function it runs */
    struct map interned;              /* hash -> text */
    struct map operand_of;            /* address -> index + 1 */
};

/* explain_read.c */
const char *read_text(struct reader_state *state, struct ssan_str text);
/* One copy of each text. */
const char *read_intern(struct reader_state *state, struct ssan_str text);
bool read_add_call(struct reader_state *state, enum hist_call_kind kind, uint32_t index,
                   uint32_t thread, uint32_t site);
/* At the position of this event. */
bool read_add_join(struct reader_state *state, struct hist_join join);
/* One more call of a thread in the count that `counts` holds. */
uint32_t read_next_seq(struct map *counts, uint32_t thread);

/* explain_read_memory.c */
/* The block that lives at an address now; HISTORY_NONE: pageable memory. */
uint32_t read_block_of(const struct reader_state *state, uint64_t address);
enum ssan_memory read_memory_of(const struct reader_state *state, uint64_t address);
/* Remembers pageable bytes that a call names. */
bool read_add_operand(struct reader_state *state, uint64_t address, uint64_t size, uint32_t site,
                      const char *call, bool source);
bool read_alloc(struct reader_state *state, const struct ssan_ev_alloc *ev);
bool read_free(struct reader_state *state, const struct ssan_ev_free *ev);
/* pool_alloc and pool_free */
bool read_pool(struct reader_state *state, const struct ssan_event *event);
bool read_host_access(struct reader_state *state, const struct ssan_ev_host_access *ev);

/* explain_read_items.c */
bool read_op(struct reader_state *state, const struct ssan_ev_op *ev);
bool read_op_return(struct reader_state *state, const struct ssan_ev_op_return *ev);

/* explain_read_run.c */
/* An event about the run as a whole; any other is nothing to it. */
bool read_run(struct reader_state *state, const struct ssan_event *event);

/* explain_read_sites.c */
uint32_t read_site(struct reader_state *state, uint32_t site);
bool read_line(struct reader_state *state, const struct ssan_ev_line *ev);
/* At the end: gives each site its frames and keys; numbers the places and sorts the calls by them.
 */
bool read_settle_sites(struct reader_state *state);
bool read_index_places(struct reader_state *state);

#endif
