/* The text of accidental order, and of what appears under an assumption.
 *
 * An accident has the title's shape, the edge that should be there, and the statements to insert as
 * the re-checked fix has them. Cost: linear in what is printed. */
#include "report/audit_parts.h"

#include "report/text_parts.h"

#include <inttypes.h>

#define ACCIDENTS_PRINTED 50

/* "only through the legacy stream and a blocking call" */
static void add_rests(struct strbuf *out, unsigned rests)
{
    static const struct {
        unsigned rest;
        const char *text;
    } words[] = {
        {AUDIT_RESTS_LEGACY, "the legacy stream"},
        {AUDIT_RESTS_DEVICE, "a device-wide synchronisation"},
        {AUDIT_RESTS_CALL, "a call that blocks"},
    };
    bool first = true;
    if (rests == 0) {
        strbuf_puts(out, "more than one of the legacy stream, device-wide synchronisation and "
                         "calls that block");
        return;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (rests & words[i].rest) {
            strbuf_printf(out, "%s%s", first ? "" : " and ", words[i].text);
            first = false;
        }
    }
}

static void add_edge(struct strbuf *out, const struct report *report, const struct finding *finding)
{
    const struct report_op *first = words_op(report, finding->first.op);
    const struct report_op *then = words_op(report, finding->then.op);
    struct strbuf text = {0};
    strbuf_printf(&text, "%s -> %s ('%s'): ", first->label, then->label,
                  words_buffer(report, finding->buffer));
    words_subject(&text, report, finding->first.op);
    strbuf_puts(&text, " at ");
    words_place(&text, &first->at, then->at.file);
    strbuf_printf(&text, " %s it, then ", words_verb(report, &finding->first));
    words_subject(&text, report, finding->then.op);
    strbuf_printf(&text, " %s it", words_verb(report, &finding->then));
    layout_wrap(out, "edge", strbuf_text(&text));
    out->failed |= text.failed;
    strbuf_finish(&text);
}

/* What gives the edge where no edit of the source is known. */
static void add_advice(struct strbuf *out, const struct report *report,
                       const struct finding *finding)
{
    struct strbuf text = {0};
    if (words_is_host(words_op(report, finding->then.op))) {
        strbuf_puts(&text, "a wait of the host for ");
        words_lane(&text, report, finding->first.op);
        strbuf_puts(&text, " in front of it");
    } else {
        strbuf_puts(&text, "an event recorded behind ");
        words_noun(&text, report, finding->first.op);
        strbuf_puts(&text, ", and a wait of ");
        words_lane(&text, report, finding->then.op);
        strbuf_puts(&text, " for it in front of ");
        words_noun(&text, report, finding->then.op);
    }
    layout_wrap(out, "insert", strbuf_text(&text));
    out->failed |= text.failed;
    strbuf_finish(&text);
}

/* One edit: "before :34: cudaStreamWaitEvent(consumer, ready, 0);" */
static void add_edit(struct strbuf *out, const struct source_edit *edit, const char *here,
                     const char *word)
{
    const struct place place = {.file = edit->file, .line = edit->line};
    struct strbuf text = {0};
    if (edit->insert_before) {
        strbuf_puts(&text, "before ");
        words_place(&text, &place, here);
        strbuf_puts(&text, ": ");
        for (const char *at = edit->insert_before; *at; at++) {
            strbuf_add(&text, *at == '\n' ? " " : at, 1);
        }
        layout_wrap(out, word, strbuf_text(&text));
    }
    if (edit->remove) {
        strbuf_clear(&text);
        strbuf_puts(&text, "remove the statement at ");
        words_place(&text, &place, here);
        layout_wrap(out, edit->insert_before ? NULL : word, strbuf_text(&text));
    }
    out->failed |= text.failed;
    strbuf_finish(&text);
}

static void add_accident(struct strbuf *out, const struct audit_accident *accident,
                         const struct text_options *options, bool titles_only)
{
    const struct report *report = accident->in;
    const struct finding *finding = accident->finding;
    const char *bold = options->color ? "\033[1m" : "", *reset = options->color ? "\033[0m" : "";
    const char *here = words_site(report, finding)->file;
    strbuf_puts(out, bold);
    words_place_full(out, words_site(report, finding));
    strbuf_printf(out, ":%s %saccidental%s order: ", reset, options->color ? "\033[1;35m" : "",
                  reset);
    words_subject(out, report, finding->then.op);
    strbuf_puts(out, " comes behind ");
    words_subject(out, report, finding->first.op);
    strbuf_puts(out, " only through ");
    add_rests(out, accident->rests);
    strbuf_puts(out, "\n");
    if (titles_only) {
        return;
    }
    add_edge(out, report, finding);
    if (!accident->fix || accident->fix->edit_count == 0) {
        add_advice(out, report, finding);
    }
    for (size_t i = 0; accident->fix && i < accident->fix->edit_count; i++) {
        add_edit(out, &accident->fix->edits[i], here, i == 0 ? "insert" : NULL);
    }
}

void audit_text_accidents(struct strbuf *out, const struct audit *audit,
                          const struct text_options *options, bool titles_only)
{
    size_t i;
    for (i = 0; i < audit->accident_count && (options->verbose || i < ACCIDENTS_PRINTED); i++) {
        add_accident(out, &audit->accidents[i], options, titles_only);
    }
    if (i < audit->accident_count) {
        strbuf_printf(out, "and %zu more of accidental order (--verbose prints all)\n",
                      audit->accident_count - i);
    }
}

static size_t count_of(const struct report *report, enum severity severity)
{
    size_t count = 0;
    for (size_t i = 0; i < report->finding_count; i++) {
        count += report->findings[i]->severity == severity;
    }
    return count;
}

void audit_text_assumed(struct strbuf *out, const struct audit *audit,
                        const struct text_options *options, bool titles_only)
{
    const struct report *assumed = &audit->assumed;
    const size_t errors = count_of(assumed, SEVERITY_ERROR);
    const size_t warnings = count_of(assumed, SEVERITY_WARNING);
    if (audit->assume == 0) {
        return;
    }
    strbuf_printf(out, "\nassume%s%s: %zu %s, %zu %s and %zu advice appear\n",
                  audit->assume & AUDIT_ASSUME_NON_BLOCKING ? " non-blocking" : "",
                  audit->assume & AUDIT_ASSUME_PER_THREAD ? " per-thread-default-stream" : "",
                  errors, errors == 1 ? "error" : "errors", warnings,
                  warnings == 1 ? "warning" : "warnings", count_of(assumed, SEVERITY_ADVICE));
    if (titles_only) {
        report_short(out, assumed, options->color);
    } else {
        report_text(out, assumed, options);
    }
}
