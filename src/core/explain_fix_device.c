/* What several devices ask of fixes: a default stream's handle, and a new event, are of the device
 * that is current, which a fix must know or make so. */
#include "core/explain_fix_parts.h"

#include "core/explain_words.h"

static bool is_default(const struct hist_stream *stream)
{
    return stream->flavour == SSAN_stream_flavour_LEGACY ||
           stream->flavour == SSAN_stream_flavour_PER_THREAD;
}

bool fix_is_default(const struct fix_job *job)
{
    return is_default(&job->history->streams.items[job->p->stream]);
}

void fix_set_device(struct fix_job *job, struct proposal *proposal, uint32_t stream, size_t before)
{
    struct strbuf text = {0};
    const struct place place = fix_call_place(job, before);
    words_set_device(&text, &place,
                     history_device(job->history, job->history->streams.items[stream].context));
    if (text.length > 0) {
        fix_insert(job, proposal, before, fix_keep(job, &text));
    } else {
        strbuf_finish(&text);
    }
}

bool fix_is_event_of_p(const struct fix_job *job, uint32_t wait)
{
    const struct history *history = job->history;
    const uint32_t context = history->events.items[history->items.items[wait].event].context;
    return !fix_is_default(job) &&
           history_device(history, context) ==
               history_device(history, history->streams.items[job->p->stream].context);
}

bool fix_knows_current(const struct fix_job *job)
{
    return job->c->kind == SSAN_op_kind_KERNEL ||
           is_default(&job->history->streams.items[job->c->stream]);
}
