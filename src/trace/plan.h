/* A schedule in full: when the items of streams run, and what the device adds or leaves out.
 *
 * The words of `--schedule`: eager, lazy, random:SEED, order:ITEM,ITEM,... and file:PATH. What the
 * policy does is changed by a plan: listed items begin in the order of the list, each when those
 * before it are done; items that aren't listed follow the policy. docs/schedules.md has the grammar
 * of the file and what each line means. One thread. */
#ifndef SSAN_TRACE_PLAN_H
#define SSAN_TRACE_PLAN_H

#include "base/status.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* The seq-th item (from 1) of a stream: s1.2; in a list also a1.2: the seq-th access that the host
 * announces (annotate.h) on the thread whose number `stream` is then. */
struct plan_item {
    uint32_t stream, seq;
    bool by_host;
};

/* A call of a host thread: t1.3 is its third; t1.3q2 the second query behind that one. Queries
 * (of streams and events, elapsed times) are numbered apart, since how often a loop polls depends
 * on the schedule. Calls inside host functions have no number. */
struct plan_call {
    uint32_t thread, number, query; /* query 0: none */
};

/* bys: `item` is done when `call` returns to its caller; afters: it does not begin before. */
struct plan_by {
    struct plan_call call;
    struct plan_item item;
};

/* `count` listed items from `first` on take turns, a few blocks each, drawn from `seed`. */
struct plan_together {
    size_t first, count;
    uint64_t seed;
};

enum plan_use {
    PLAN_IGNORE,    /* joins and waits from here do nothing and return success */
    PLAN_SERIALIZE, /* the host waits for each item that is submitted from here */
};

/* Return addresses in [begin, end) of the loaded object with this file name, as offsets from its
 * start: the calls of one source line. */
struct plan_place {
    enum plan_use use;
    char *module; /* owned */
    uint64_t begin, end;
};

/* The number-th call (from 1; 0: each one) of `call` fails with `error`: counted over all threads
 * of a process, in the order in which calls are accepted, which is that of the trace. */
struct plan_fail {
    const char *call;       /* of cuda_names.h */
    uint32_t number, error; /* error: a code of cuda_names.h, none of 0 */
};

#define PLAN_POLICY_ROOM 32

struct plan {
    char policy[PLAN_POLICY_ROOM]; /* eager, lazy, random:SEED */
    VEC(struct plan_item) items;
    VEC(struct plan_call) calls; /* the order in which these are accepted, of all threads */
    VEC(struct plan_by) bys, afters;
    VEC(struct plan_together) togethers;
    VEC(struct plan_place) places;
    VEC(struct plan_fail) fails; /* no call and number twice */
    bool serialize_all;
    char *note; /* what the user asked for by them, in words; owned, NULL: none */
    VEC(uint32_t) serialize_streams;
};

#define PLAN_FIRST_LINE "streamsan-schedule 1"

/* Reads the words of `--schedule`, and the file that they name. `plan` is zeroed before and needs
 * plan_finish in any case. SSAN_USAGE: no schedule, the text says why; SSAN_IO: the file can't be
 * read; SSAN_FORMAT: it is wrong at err->position (its line). */
enum ssan_status plan_read(struct plan *plan, const char *words, struct ssan_error *err);
/* The same from the text of a file; `name` stands in messages. */
enum ssan_status plan_parse(struct plan *plan, const char *name, const char *text, size_t length,
                            struct ssan_error *err);
/* Reads `s1.2`; false when `text` doesn't begin with an item of a stream. *end: behind it. */
bool plan_item_read(const char *text, struct plan_item *item, const char **end);
/* Reads `a1.2` and `t1.3q2` in the same way. */
bool plan_access_read(const char *text, struct plan_item *item, const char **end);
bool plan_call_read(const char *text, struct plan_call *call, const char **end);
/* One number for each item that may be listed. */
uint64_t plan_item_key(const struct plan_item *item);
/* The item in words: "s1.2", "a1.2". */
struct plan_item_text {
    char text[24];
};
struct plan_item_text plan_item_text(const struct plan_item *item);
/* Adds words to the note; false when out of memory. */
bool plan_add_note(struct plan *plan, const char *words);
/* Reads CALL[:NUMBER|:all]=ERROR, as cudaMalloc:2=cudaErrorMemoryAllocation, and adds it.
 * SSAN_USAGE: the text says what is wrong, and which name is near. */
enum ssan_status plan_add_fail(struct plan *plan, const char *words, struct ssan_error *err);
/* The same from its parts; `number` is digits or "all". */
enum ssan_status plan_add_fail_parts(struct plan *plan, const char *call, const char *number,
                                     const char *error, struct ssan_error *err);
/* Appends it as plan_add_fail reads it. */
void plan_print_fail(const struct plan_fail *fail, struct strbuf *out);
/* Appends what `from` ignores, serializes and lets fail, and its note. False when out of memory. */
bool plan_copy_places(struct plan *plan, const struct plan *from);
/* Reads a decimal number that fits 32 bits and is not 0; *text is set behind it. */
bool plan_number_read(const char **text, uint32_t *number);
/* Whether the whole word is a stream, as s2. */
bool plan_stream_read(const char *word, uint32_t *stream);
/* True when the plan is no more than its policy. */
bool plan_is_plain(const struct plan *plan);
/* Appends the file that plan_parse reads back to the same plan. */
void plan_print(const struct plan *plan, struct strbuf *out);
/* Appends its items as words: "s1.1,s2.1". */
void plan_print_items(const struct plan *plan, struct strbuf *out);
void plan_finish(struct plan *plan);

#endif
