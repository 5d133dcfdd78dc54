/* What the files of the proposals share: explain_fix.c (streams), explain_fix_join.c (the host),
 * explain_fix_device.c, explain_fix_words.c. */
#ifndef SSAN_CORE_EXPLAIN_FIX_PARTS_H
#define SSAN_CORE_EXPLAIN_FIX_PARTS_H

#include "base/strbuf.h"
#include "core/explain_fix.h"
#include "core/explain_spell.h"

/* What the proposals for one pair share. */
struct fix_job {
    struct fix_maker *maker;
    const struct history *history;
    const struct pair *pair;
    const struct miss *miss;
    const struct hist_item *p, *c; /* c NULL: the host */
    uint32_t p_index, c_index;
    size_t p_call, c_call; /* into history->calls */
    bool apart;            /* the device of P may not be the current one at c */
    struct proposal *out;
    size_t count;
    bool failed;
};

/* The text in the arena, finished; NULL when out of memory, which the job notes. */
const char *fix_keep(struct fix_job *job, struct strbuf *text);
/* Where a call of the history stands. */
struct place fix_call_place(const struct fix_job *job, size_t call);
/* The call that made an item. */
size_t fix_call_of_item(const struct fix_job *job, uint32_t item);
/* A new proposal; NULL when there are enough. */
struct proposal *fix_begin(struct fix_job *job, enum fix_kind kind);
/* Statements before the line of a call; nothing where that is unknown. */
void fix_insert(struct fix_job *job, struct proposal *proposal, size_t call,
                const char *statements);
/* The statement at a place is left out. */
void fix_take_out(struct proposal *proposal, struct place place);
/* What the proposal does to the trace. */
void fix_change(struct proposal *proposal, struct change what);
/* explain_fix_words.c. The spelling of P's stream, or of an event recorded there, used at another
 * place: partial across functions. */
const char *fix_borrow(struct fix_job *job, struct proposal *proposal, struct spelling word,
                       uint32_t from_item, size_t at_call);
/* A name that no known source text has, `base` or with a number behind it; `given` counts them. */
const char *fix_new_name(struct fix_job *job, const char *base, uint32_t *given);

/* The spelling of P's stream at a call. */
const char *fix_p_stream(struct fix_job *job, struct proposal *proposal, size_t at_call);

/* explain_fix_device.c. Whether P is a default stream, whose handle means another one where another
 * device is current. */
bool fix_is_default(const struct fix_job *job);
/* Whether the current device at c may not be that of P. */
bool fix_is_apart(const struct fix_job *job);
/* Statements that make the device of P the current one; the variable that keeps the one before it,
 * NULL: that is known to be the device of C. */
const char *fix_enter_device(struct fix_job *job, struct proposal *proposal, size_t before);
/* ... and that one the current one again. */
void fix_leave_device(struct fix_job *job, struct proposal *proposal, const char *variable,
                      size_t before);
/* Whether the event that is waited for can be recorded where P's stream is named by its handle: it
 * must be of P's device (R-EVENT-7). */
bool fix_is_event_of_p(const struct fix_job *job, uint32_t wait);

/* explain_fix_join.c: the host waits for what it joins before c. */
void fix_join_event(struct fix_job *job, uint32_t record);
void fix_join_stream(struct fix_job *job);
/* For streams that are gone by then: nothing names them any more. */
void fix_join_device(struct fix_job *job);
/* The free of a block that is used later goes behind the host's wait for that use. */
void fix_move_free(struct fix_job *job, const struct hist_host *freed);

#endif
