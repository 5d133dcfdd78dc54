/* The words of edits: how streams and events are spelled at another place, and new names. */
#include "core/explain_fix_parts.h"

#include <string.h>

/* Keeps a word that stands for what a library has made, once. */
static void note_foreign(struct proposal *proposal, struct spelling word)
{
    bool known = !word.foreign || !word.text || proposal->foreign_count == PROPOSAL_FOREIGN;
    for (size_t i = 0; !known && i < proposal->foreign_count; i++) {
        known = strcmp(proposal->foreign[i], word.text) == 0;
    }
    if (!known) {
        proposal->foreign[proposal->foreign_count++] = word.text;
    }
}

const char *fix_borrow(struct fix_job *job, struct proposal *proposal, struct spelling word,
                       uint32_t from_item, size_t at_call)
{
    const struct place from = fix_call_place(job, fix_call_of_item(job, from_item));
    const bool own = history_site(job->history, job->history->items.items[from_item].site)->place ==
                     history_site(job->history, job->history->calls.items[at_call].site)->place;
    const bool everywhere =
        word.text && (strncmp(word.text, "cudaStream", 10) == 0 || strcmp(word.text, "0") == 0);
    proposal->borrowed |=
        word.guessed ||
        (!own && !everywhere && !history_same_function(from, fix_call_place(job, at_call)));
    job->failed |= !word.text;
    note_foreign(proposal, word);
    return word.text ? word.text : "";
}

/* Whether any known source text has the word. */
static bool is_used(const struct history *history, const char *word)
{
    for (size_t i = 0; i < history->sites.count; i++) {
        for (size_t frame = 0; frame < history->sites.items[i].frame_count; frame++) {
            const char *text = history->sites.items[i].frames[frame].text;
            if (text && strstr(text, word)) {
                return true;
            }
        }
    }
    return false;
}

const char *fix_new_name(struct fix_job *job, const char *base, uint32_t *given)
{
    for (;;) {
        struct strbuf text = {0};
        strbuf_puts(&text, base);
        if (++*given > 1) {
            strbuf_printf(&text, "%u", *given);
        }
        const char *name = fix_keep(job, &text);
        if (!name || !is_used(job->history, name)) {
            return name ? name : "";
        }
    }
}
