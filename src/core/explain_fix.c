/* Which edits would order a pair; a host access is joined, not waited for.
 *
 * For each nearest miss one or more proposals, the likeliest first; the last resort of two streams
 * is always a new event recorded and waited for just before c, which covers all that P was given by
 * then. Statements go before the line of a call of the trace, never behind one: where a statement
 * ends is not known. Where a call has no known line the change stands for itself: it can be
 * checked, but makes no source edit. */
#include "core/explain_fix.h"

#include "core/explain_fix_parts.h"
#include "core/explain_names.h"
#include "core/explain_order.h"
#include "core/explain_words.h"

#include <stdlib.h>
#include <string.h>

const char *fix_keep(struct fix_job *job, struct strbuf *text)
{
    const char *copy = text->failed ? NULL : arena_strdup(job->maker->arena, strbuf_text(text));
    strbuf_finish(text);
    job->failed |= !copy;
    return copy;
}

struct place fix_call_place(const struct fix_job *job, size_t call)
{
    return history_place(job->history, job->history->calls.items[call].site);
}

struct proposal *fix_begin(struct fix_job *job, enum fix_kind kind)
{
    if (job->count == FIX_PROPOSALS) {
        return NULL;
    }
    struct proposal *proposal = &job->out[job->count++];
    *proposal = (struct proposal){.kind = kind};
    return proposal;
}

/* Whether the statement of a call stands under an `if` or a loop without braces. */
static bool is_body(const struct fix_job *job, size_t call)
{
    return names_is_body(fix_call_place(job, call).text,
                         history_call_name(job->history, &job->history->calls.items[call]));
}

void fix_insert(struct fix_job *job, struct proposal *proposal, size_t call, const char *statements)
{
    const struct place place = fix_call_place(job, call);
    proposal->broken |= is_body(job, call);
    if (place.file && proposal->edit_count < PROPOSAL_EDITS) {
        proposal->edits[proposal->edit_count++] = (struct source_edit){
            .file = place.file, .line = place.line, .insert_before = statements};
    }
}

void fix_take_out(struct proposal *proposal, struct place place)
{
    if (place.file && proposal->edit_count < PROPOSAL_EDITS) {
        proposal->edits[proposal->edit_count++] =
            (struct source_edit){.file = place.file, .line = place.line, .remove = true};
    }
}

void fix_change(struct proposal *proposal, struct change what)
{
    if (proposal->change_count < PROPOSAL_CHANGES) {
        proposal->changes[proposal->change_count++] = what;
    }
}

size_t fix_call_of_item(const struct fix_job *job, uint32_t item)
{
    return history_call_at(job->history, job->history->items.items[item].position);
}

const char *fix_p_stream(struct fix_job *job, struct proposal *proposal, size_t at_call)
{
    return fix_borrow(job, proposal, spell_stream(job->history, job->maker->arena, job->p_index),
                      job->p_index, at_call);
}

static const char *c_stream(struct fix_job *job, struct proposal *proposal)
{
    return fix_borrow(job, proposal, spell_stream(job->history, job->maker->arena, job->c_index),
                      job->c_index, job->c_call);
}

/* cudaStreamWaitEvent(C, event, 0) before c. */
static void add_wait(struct fix_job *job, struct proposal *proposal, uint32_t record)
{
    struct strbuf text = {0};
    const char *stream = c_stream(job, proposal);
    const char *event = fix_borrow(
        job, proposal, spell_event(job->history, job->maker->arena, record), record, job->c_call);
    const struct place place = fix_call_place(job, job->c_call);
    words_wait(&text, &place, stream, event);
    fix_insert(job, proposal, job->c_call, fix_keep(job, &text));
    fix_change(proposal, (struct change){.kind = CHANGE_WAIT,
                                         .call = (uint32_t)job->c_call,
                                         .to = job->c_index,
                                         .event = record});
}

static void propose_wait(struct fix_job *job, uint32_t record)
{
    struct proposal *proposal = record == HISTORY_NONE ? NULL : fix_begin(job, FIX_INSERT_WAIT);
    if (proposal) {
        add_wait(job, proposal, record);
    }
}

static void drop(struct fix_job *job, struct proposal *proposal, uint32_t item)
{
    const size_t call = fix_call_of_item(job, item);
    proposal->broken |= is_body(job, call);
    fix_take_out(proposal, fix_call_place(job, call));
    fix_change(proposal, (struct change){.kind = CHANGE_DROP, .call = (uint32_t)call});
}

/* The wait stands before c instead of where it is. */
static void propose_move_wait(struct fix_job *job, uint32_t wait, uint32_t record)
{
    if (wait == HISTORY_NONE || record == HISTORY_NONE) {
        return;
    }
    struct proposal *proposal = fix_begin(job, FIX_MOVE_WAIT);
    if (proposal) {
        add_wait(job, proposal, record);
        drop(job, proposal, wait);
    }
}

/* The next call of p's thread behind p, if it stands further down in the same function and not
 * behind c; HISTORY_NONE: none. A statement before it comes right behind p. */
static size_t call_behind(const struct fix_job *job, size_t call)
{
    const struct hist_call *from = &job->history->calls.items[call];
    const struct place place = fix_call_place(job, call);
    for (size_t i = call + 1; i < job->history->calls.count && i <= job->c_call; i++) {
        if (job->history->calls.items[i].thread != from->thread) {
            continue;
        }
        const struct place next = fix_call_place(job, i);
        return history_same_function(place, next) && next.line > place.line ? i : HISTORY_NONE;
    }
    return HISTORY_NONE;
}

/* The record of the event that C waits for stands behind p instead of before it. */
static void propose_move_record(struct fix_job *job, uint32_t record, uint32_t wait)
{
    const size_t behind = call_behind(job, job->p_call);
    if (record == HISTORY_NONE || wait == HISTORY_NONE || behind == HISTORY_NONE ||
        (job->apart && fix_is_default(job)) ||
        job->history->calls.items[behind].position > job->history->items.items[wait].position) {
        return;
    }
    struct proposal *proposal = fix_begin(job, FIX_MOVE_RECORD);
    if (!proposal) {
        return;
    }
    struct strbuf text = {0};
    const char *event = fix_borrow(
        job, proposal, spell_event(job->history, job->maker->arena, record), record, behind);
    const struct place place = fix_call_place(job, behind);
    words_record(&text, &place, fix_p_stream(job, proposal, behind), event);
    drop(job, proposal, record);
    fix_insert(job, proposal, behind, fix_keep(job, &text));
    fix_change(proposal, (struct change){.kind = CHANGE_RECORD,
                                         .call = (uint32_t)behind,
                                         .from = job->p_index,
                                         .event = record});
}

/* The event that C waits for is recorded before c, and then waited for. */
static void propose_record_and_wait_known(struct fix_job *job, uint32_t wait)
{
    if (wait == HISTORY_NONE || (job->apart && !fix_is_event_of_p(job, wait))) {
        return;
    }
    struct proposal *proposal = fix_begin(job, FIX_RECORD_WAIT);
    if (!proposal) {
        return;
    }
    struct strbuf record = {0}, text = {0};
    const char *stream = c_stream(job, proposal);
    const char *event = fix_borrow(
        job, proposal, spell_event(job->history, job->maker->arena, wait), wait, job->c_call);
    const struct place place = fix_call_place(job, job->c_call);
    words_record(&record, &place, fix_p_stream(job, proposal, job->c_call), event);
    words_wait(&text, &place, stream, event);
    fix_insert(job, proposal, job->c_call, fix_keep(job, &record));
    fix_insert(job, proposal, job->c_call, fix_keep(job, &text));
    fix_change(proposal, (struct change){.kind = CHANGE_RECORD,
                                         .call = (uint32_t)job->c_call,
                                         .from = job->p_index,
                                         .event = wait});
    fix_change(proposal, (struct change){.kind = CHANGE_WAIT,
                                         .call = (uint32_t)job->c_call,
                                         .to = job->c_index,
                                         .event = wait});
}

/* A call once passed, in the function of c, above both places: where the streams are made (that of
 * P alone, where devices differ: an event is of the device that is current then). Else `fallback`.
 */
static size_t declaring_call(const struct fix_job *job, size_t fallback)
{
    const uint32_t streams[] = {job->c->stream, job->p->stream};
    const struct place c = fix_call_place(job, job->c_call), first = fix_call_place(job, fallback);
    for (size_t i = job->apart ? 1 : 0; i < sizeof streams / sizeof *streams; i++) {
        size_t passes;
        const struct hist_stream *stream = &job->history->streams.items[streams[i]];
        const size_t call = history_call_at(job->history, stream->position);
        const struct place place = fix_call_place(job, call);
        history_calls_of(job->history, history_site(job->history, stream->site)->place, &passes);
        if (job->history->calls.items[call].kind == CALL_CREATE && passes == 1 &&
            history_same_function(place, c) && history_same_function(place, first) &&
            place.line < c.line && place.line < first.line) {
            return call;
        }
    }
    return fallback;
}

/* A new event, recorded before the place of `record_call` and waited for before c. Where their
 * devices may differ that place is c's own. */
static void propose_new_event(struct fix_job *job, enum fix_kind kind, size_t record_call)
{
    struct proposal *proposal = record_call == HISTORY_NONE ? NULL : fix_begin(job, kind);
    if (!proposal) {
        return;
    }
    const char *name = fix_new_name(job, "ssan_ready", &job->maker->new_events), *device = NULL;
    const size_t declaring = declaring_call(job, record_call);
    const bool switches = job->apart && (declaring == record_call || fix_is_default(job));
    struct strbuf declare = {0}, create = {0}, record = {0}, wait = {0};
    const struct place there = fix_call_place(job, declaring),
                       here = fix_call_place(job, job->c_call),
                       recording = fix_call_place(job, record_call);
    words_declare(&declare, &there, name);
    words_create(&create, &there, name);
    words_record(&record, &recording, fix_p_stream(job, proposal, record_call), name);
    words_wait(&wait, &here, c_stream(job, proposal), name);
    fix_insert(job, proposal, declaring, fix_keep(job, &declare));
    if (switches && declaring == record_call) {
        device = fix_enter_device(job, proposal, record_call);
    }
    if (create.length > 0) {
        fix_insert(job, proposal, declaring, fix_keep(job, &create));
    }
    if (switches && declaring != record_call) {
        device = fix_enter_device(job, proposal, record_call);
    }
    fix_insert(job, proposal, record_call, fix_keep(job, &record));
    if (switches) {
        fix_leave_device(job, proposal, device, record_call);
    }
    fix_insert(job, proposal, job->c_call, fix_keep(job, &wait));
    proposal->borrowed |=
        declaring != job->c_call &&
        !history_same_function(fix_call_place(job, declaring), fix_call_place(job, job->c_call));
    fix_change(proposal, (struct change){.kind = CHANGE_WAIT_NEW,
                                         .call = (uint32_t)job->c_call,
                                         .to = job->c_index,
                                         .from = job->p_index,
                                         .event = HISTORY_NONE,
                                         .record_call = (uint32_t)record_call});
}

/* Whether P was given work between p and c, which a record right behind p would leave out. */
static bool has_more(const struct fix_job *job)
{
    return history_items_before(job->history, job->p->stream, job->pair->hazard->then.position) >
           job->p->seq;
}

/* How often the trace made this very call. */
static size_t times_made(const struct fix_job *job, size_t call)
{
    const struct hist_call *one = &job->history->calls.items[call];
    size_t count, times = 0;
    const uint32_t *calls =
        history_calls_of(job->history, history_site(job->history, one->site)->place, &count);
    for (size_t i = 0; i < count; i++) {
        times += job->history->calls.items[calls[i]].site == one->site;
    }
    return times;
}

/* Whether a record before c would come again and again though p does not: of the legacy stream,
 * where each is a barrier, that is to be avoided by one before the place of `behind`. */
static bool repeats_barrier(const struct fix_job *job, size_t behind)
{
    const struct hist_stream *stream = &job->history->streams.items[job->p->stream];
    return behind != HISTORY_NONE && stream->flavour == SSAN_stream_flavour_LEGACY &&
           times_made(job, behind) < times_made(job, job->c_call);
}

static void propose_record_wait(struct fix_job *job)
{
    const size_t behind = job->apart ? HISTORY_NONE : call_behind(job, job->p_call);
    if ((has_more(job) || repeats_barrier(job, behind)) && behind != job->c_call) {
        propose_new_event(job, FIX_RECORD_WAIT, behind);
    }
    propose_new_event(job, FIX_RECORD_WAIT, job->c_call);
}

static void propose_for_streams(struct fix_job *job)
{
    const struct miss *miss = job->miss;
    const struct place c = fix_call_place(job, job->c_call);
    switch (miss->kind) {
    case NEAREST_RECORDED_NOT_WAITED:
    case NEAREST_WRONG_EVENT:
        propose_wait(job, miss->record);
        break;
    case NEAREST_RECORDED_EARLY:
        propose_move_record(job, miss->record, miss->wait);
        break;
    case NEAREST_WAITED_LATE: {
        const struct place wait = fix_call_place(job, fix_call_of_item(job, miss->wait));
        const bool below =
            wait.file && c.file && strcmp(wait.file, c.file) == 0 && wait.line > c.line;
        if (below || !wait.file) {
            propose_move_wait(job, miss->wait, miss->record);
        }
        propose_wait(job, miss->record);
        if (!below && wait.file) {
            propose_move_wait(job, miss->wait, miss->record);
        }
        break;
    }
    case NEAREST_NEVER_RECORDED:
        if (miss->record != HISTORY_NONE) {
            propose_move_wait(job, miss->wait, miss->record);
            propose_wait(job, miss->record);
        } else {
            propose_record_and_wait_known(job, miss->wait);
        }
        break;
    case NEAREST_RE_RECORDED: {
        const size_t behind = call_behind(job, fix_call_of_item(job, miss->record));
        if (!job->apart) {
            propose_new_event(job, FIX_SECOND_EVENT, behind);
        }
        break;
    }
    case NEAREST_HOST_LATE:
        fix_join_stream(job);
        break;
    default:
        break;
    }
    propose_record_wait(job);
    fix_join_stream(job);
    fix_join_device(job);
}

static void propose_for_host(struct fix_job *job)
{
    const struct miss *miss = job->miss;
    if (miss->kind == NEAREST_RECORDED_NOT_WAITED || miss->kind == NEAREST_WRONG_EVENT ||
        miss->kind == NEAREST_WAITED_LATE) {
        fix_join_event(job, miss->record);
    }
    fix_join_stream(job);
    fix_join_device(job);
}

static void leave_out_broken(struct fix_job *job)
{
    size_t kept = 0;
    for (size_t i = 0; i < job->count; i++) {
        if (!job->out[i].broken) {
            job->out[kept++] = job->out[i];
        }
    }
    job->count = kept;
}

/* What the program has no name for is a worse way than an edge whose ends it knows. */
static void prefer_known(struct fix_job *job)
{
    for (size_t i = 1; i < job->count; i++) {
        const struct proposal known = job->out[i];
        size_t k = known.foreign_count == 0 && known.kind != FIX_HOST_SYNC ? i : 0;
        for (; k > 0 && job->out[k - 1].foreign_count > 0; k--) {
            job->out[k] = job->out[k - 1];
            job->out[k - 1] = known;
        }
    }
}

size_t fix_propose(struct fix_maker *maker, const struct pair *pair, const struct miss *miss,
                   struct proposal proposals[FIX_PROPOSALS], bool *failed)
{
    const struct history *history = maker->history;
    struct fix_job job = {.maker = maker,
                          .history = history,
                          .pair = pair,
                          .miss = miss,
                          .out = proposals,
                          .p_index = pair->first_item,
                          .c_index = pair->then_item};
    if (pair->first_item == HISTORY_NONE) {
        const bool freed = pair->first_host != HISTORY_NONE && pair->then_item != HISTORY_NONE &&
                           history->hosts.items[pair->first_host].kind == ROP_FREE;
        if (freed) {
            fix_move_free(&job, &history->hosts.items[pair->first_host]);
        }
        *failed = job.failed;
        return job.count;
    }
    job.p = &history->items.items[pair->first_item];
    job.c = pair->then_item == HISTORY_NONE ? NULL : &history->items.items[pair->then_item];
    job.p_call = history_call_at(history, job.p->position);
    job.c_call = history_call_at(history, job.c ? job.c->position : pair->hazard->then.position);
    job.apart = fix_is_apart(&job);
    if (miss->known && job.c_call < history->calls.count &&
        check_info(pair->hazard->check)->family != FAMILY_MISUSE &&
        pair->hazard->check != CHECK_EVENT_RACE && pair->hazard->check != CHECK_SUBMIT_RACE) {
        if (job.c) {
            propose_for_streams(&job);
        } else {
            propose_for_host(&job);
        }
        const uint32_t thread = job.c ? job.c->thread : pair->hazard->then.thread;
        const bool threads =
            job.p->thread != thread && !order_hands_over(history, job.p->thread, job.p->position,
                                                         thread, pair->hazard->then.position);
        for (size_t i = 0; i < job.count; i++) {
            proposals[i].partial |= threads;
        }
    }
    leave_out_broken(&job);
    prefer_known(&job);
    *failed = job.failed;
    return job.count;
}
