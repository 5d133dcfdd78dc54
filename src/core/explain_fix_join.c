/* Proposals for accesses of the host, which is joined, and for blocks that are freed too early; see
 * explain_fix.h. */
#include "core/explain_fix_parts.h"

#include "core/explain_words.h"

void fix_join_event(struct fix_job *job, uint32_t record)
{
    struct proposal *proposal = record == HISTORY_NONE ? NULL : fix_begin(job, FIX_HOST_SYNC);
    if (!proposal) {
        return;
    }
    struct strbuf text = {0};
    const struct place place = fix_call_place(job, job->c_call);
    words_join_event(&text, &place,
                     fix_borrow(job, proposal, spell_event(job->history, job->maker->arena, record),
                                record, job->c_call));
    fix_insert(job, proposal, job->c_call, fix_keep(job, &text));
    fix_change(
        proposal,
        (struct change){.kind = CHANGE_JOIN_EVENT, .call = (uint32_t)job->c_call, .event = record});
}

void fix_join_stream(struct fix_job *job)
{
    struct proposal *proposal = fix_begin(job, FIX_HOST_SYNC);
    if (!proposal) {
        return;
    }
    struct strbuf text = {0};
    const struct place place = fix_call_place(job, job->c_call);
    const bool switches = job->apart && fix_is_default(job);
    const char *device = switches ? fix_enter_device(job, proposal, job->c_call) : NULL;
    words_join_stream(&text, &place, fix_p_stream(job, proposal, job->c_call));
    fix_insert(job, proposal, job->c_call, fix_keep(job, &text));
    if (switches) {
        fix_leave_device(job, proposal, device, job->c_call);
    }
    fix_change(proposal, (struct change){.kind = CHANGE_JOIN_STREAM,
                                         .call = (uint32_t)job->c_call,
                                         .from = job->p_index});
}

void fix_join_device(struct fix_job *job)
{
    struct proposal *proposal = job->apart ? NULL : fix_begin(job, FIX_HOST_SYNC);
    if (proposal) {
        struct strbuf text = {0};
        const struct place place = fix_call_place(job, job->c_call);
        words_join_device(&text, &place);
        fix_insert(job, proposal, job->c_call, fix_keep(job, &text));
        fix_change(proposal, (struct change){.kind = CHANGE_JOIN_DEVICE,
                                             .call = (uint32_t)job->c_call,
                                             .from = job->p_index});
    }
}

void fix_move_free(struct fix_job *job, const struct hist_host *freed)
{
    const struct history *history = job->history;
    const struct hist_item *use = &history->items.items[job->pair->then_item];
    for (size_t i = 0; i < history->syncs.count; i++) {
        const struct hist_sync *sync = &history->syncs.items[i];
        const bool covers = sync->kind == SSAN_sync_kind_DEVICE ||
                            (sync->kind == SSAN_sync_kind_STREAM && sync->object == use->stream);
        if (sync->position < use->position || !covers) {
            continue;
        }
        const size_t join = history_call_at(history, sync->position);
        if (join + 1 >= history->calls.count ||
            !history_same_function(fix_call_place(job, join), fix_call_place(job, join + 1)) ||
            fix_call_place(job, join + 1).line <= fix_call_place(job, join).line) {
            return;
        }
        struct proposal *proposal = fix_begin(job, FIX_MOVE_FREE);
        const char *text = history_place(history, freed->site).text;
        struct strbuf statement = {0};
        if (text) {
            strbuf_puts(&statement, text);
        } else {
            const char *name = spell_created_block(history, job->maker->arena, freed->alloc);
            strbuf_printf(&statement, "%s(%s);", freed->call, name ? name : "block");
        }
        fix_take_out(proposal, history_place(history, freed->site));
        fix_insert(job, proposal, join + 1, fix_keep(job, &statement));
        proposal->borrowed = !text || !history_same_function(history_place(history, freed->site),
                                                             fix_call_place(job, join + 1));
        fix_change(proposal,
                   (struct change){.kind = CHANGE_DROP,
                                   .call = (uint32_t)history_call_at(history, freed->position)});
        return;
    }
}
