/* What several devices ask of fixes: a default stream's handle, and a new event, are of the device
 * that is current, which a fix must know or make so. */
#include "core/explain_fix_parts.h"

#include "core/explain_words.h"

bool fix_is_default(const struct fix_job *job)
{
    return history_is_default(job->history, job->p);
}

/* Whether the current device at c is that of C: so it is for launches, and where the call names the
 * default stream (R-STREAM-15). */
static bool knows_current(const struct fix_job *job)
{
    return job->c &&
           (job->c->kind == SSAN_op_kind_KERNEL || history_is_default(job->history, job->c));
}

/* Device 0 is current from the start on: where all is of device 0, so is what no trace tells. */
bool fix_is_apart(const struct fix_job *job)
{
    const struct history *history = job->history;
    const int device = history_device_of(history, job->p);
    if (knows_current(job)) {
        return device != history_device_of(history, job->c);
    }
    bool others = device != 0;
    for (size_t i = 0; i < history->syncs.count; i++) {
        const struct hist_sync *sync = &history->syncs.items[i];
        others |= sync->kind == SSAN_sync_kind_DEVICE &&
                  history_device(history, (uint32_t)sync->object) != device;
    }
    return others || job->maker->devices > 1;
}

/* Nothing where the language of the place has no such statement. */
static void insert_words(struct fix_job *job, struct proposal *proposal, struct strbuf *text,
                         size_t before)
{
    if (text->length > 0) {
        fix_insert(job, proposal, before, fix_keep(job, text));
    } else {
        strbuf_finish(text);
    }
}

static void set_device(struct fix_job *job, struct proposal *proposal, const struct hist_item *item,
                       size_t before)
{
    struct strbuf text = {0};
    const struct place place = fix_call_place(job, before);
    words_set_device(&text, &place, history_device_of(job->history, item));
    insert_words(job, proposal, &text, before);
}

const char *fix_enter_device(struct fix_job *job, struct proposal *proposal, size_t before)
{
    const char *variable = NULL;
    if (!knows_current(job)) {
        struct strbuf declare = {0}, get = {0};
        const struct place place = fix_call_place(job, before);
        variable = fix_new_name(job, "ssan_device", &job->maker->new_devices);
        words_declare_device(&declare, &place, variable);
        words_get_device(&get, &place, variable);
        insert_words(job, proposal, &declare, before);
        insert_words(job, proposal, &get, before);
    }
    set_device(job, proposal, job->p, before);
    return variable;
}

void fix_leave_device(struct fix_job *job, struct proposal *proposal, const char *variable,
                      size_t before)
{
    if (!variable) {
        set_device(job, proposal, job->c, before);
        return;
    }
    struct strbuf text = {0};
    const struct place place = fix_call_place(job, before);
    words_restore_device(&text, &place, variable);
    insert_words(job, proposal, &text, before);
}

bool fix_is_event_of_p(const struct fix_job *job, uint32_t wait)
{
    const struct history *history = job->history;
    const uint32_t context = history->events.items[history->items.items[wait].event].context;
    return !fix_is_default(job) &&
           history_device(history, context) == history_device_of(history, job->p);
}
