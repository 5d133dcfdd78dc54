/* The text form of an audit: a title in compiler form for each call site, what a load-bearing one
 * protects, what covers a redundant one, and the summary with both counts.
 *
 * Titles are never wrapped; bodies keep to REPORT_COLUMNS. Cost: linear in what is printed. */
#include "report/audit_parts.h"

#include "report/text_parts.h"

#include <inttypes.h>
#include <string.h>

#define PAIRS_PRINTED 8

static const char *call_name(const struct audit *audit, const struct audit_site *site)
{
    const struct report_op *op = words_op(&audit->report, site->op);
    return op && op->call ? op->call : site->is_wait ? "an event wait" : "a wait of the host";
}

/* "'a'", "'a', 'b'", "5 events such as 'a'" */
static void add_names(struct strbuf *out, const char *before, const char *plural,
                      const char *const *names, size_t count)
{
    if (count == 0) {
        return;
    }
    strbuf_puts(out, before);
    if (count > 2) {
        strbuf_printf(out, "%zu %s such as '%s'", count, plural, names[0]);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        strbuf_printf(out, "%s'%s'", i > 0 ? " and " : "", names[i]);
    }
}

static void add_objects(struct strbuf *out, const struct audit *audit,
                        const struct audit_site *site)
{
    enum { SHOWN = 3 };
    const char *names[SHOWN] = {0};
    for (size_t i = 0; i < site->stream_count && i < SHOWN; i++) {
        names[i] = audit->report.streams[site->streams[i]].name;
    }
    add_names(out, site->is_wait ? " on " : " for ", "streams", names, site->stream_count);
    for (size_t i = 0; i < site->event_count && i < SHOWN; i++) {
        names[i] = audit->report.events[site->events[i]].name;
    }
    add_names(out, " for ", "events", names, site->event_count);
}

/* "t.cu:34: load-bearing cudaStreamWaitEvent on 'consumer' for 'ready': " */
static void add_title(struct strbuf *out, const struct audit *audit, const struct audit_site *site,
                      const struct text_options *options)
{
    const char *bold = options->color ? "\033[1m" : "", *reset = options->color ? "\033[0m" : "";
    const char *hue = !options->color ? "" : site->load_bearing ? "\033[1;32m" : "\033[1;33m";
    strbuf_puts(out, bold);
    words_place_full(out, &words_op(&audit->report, site->op)->at);
    strbuf_printf(out, ":%s %s%s%s %s", reset, hue,
                  site->load_bearing ? "load-bearing" : "redundant", reset, call_name(audit, site));
    add_objects(out, audit, site);
    strbuf_puts(out, ": ");
}

static void add_buffers(struct strbuf *out, const struct audit *audit,
                        const struct audit_site *site)
{
    size_t shown = 0;
    for (size_t i = 0; i < site->protect_count; i++) {
        const int buffer = site->protects[i]->buffer;
        bool again = buffer < 0;
        for (size_t k = 0; k < i; k++) {
            again |= site->protects[k]->buffer == buffer;
        }
        if (!again) {
            strbuf_printf(out, "%s'%s'", shown++ > 0 ? ", " : "",
                          words_buffer(&audit->report, buffer));
        }
    }
    if (shown == 0) {
        strbuf_puts(out, "the order of host threads");
    }
}

/* "P2 scale on 'producer' (:43) writes it" */
static void add_side(struct strbuf *out, const struct report *report,
                     const struct finding_side *side, const char *here)
{
    const struct report_op *op = words_op(report, side->op);
    words_noun(out, report, side->op);
    if (op && op->kind == ROP_KERNEL && op->label) {
        strbuf_printf(out, " %s", op->label);
    }
    if (op && op->stream >= 0) {
        strbuf_printf(out, " on '%s'", report->streams[op->stream].name);
    }
    if (op) {
        strbuf_puts(out, " (");
        words_place(out, &op->at, here);
        strbuf_puts(out, ")");
    }
    strbuf_printf(out, " %s it", words_verb(report, side));
}

static void add_pair(struct strbuf *out, const struct audit *audit, const struct audit_site *site,
                     size_t index)
{
    const struct report *report = &audit->report;
    const struct finding *finding = site->protects[index];
    const char *here = words_op(report, site->op)->at.file;
    struct strbuf text = {0};
    if (finding->buffer < 0) {
        words_message(&text, report, finding);
    } else {
        strbuf_printf(&text, "'%s': ", words_buffer(report, finding->buffer));
        add_side(&text, report, &finding->first, here);
        strbuf_puts(&text, ", then ");
        add_side(&text, report, &finding->then, here);
    }
    strbuf_printf(&text, " [%s%s]", finding->severity == SEVERITY_WARNING ? "warning " : "",
                  check_info(finding->check)->id);
    if (site->known[index] > 0) {
        strbuf_printf(&text, ", %" PRIu64 " more than the %" PRIu64 " that the trace has",
                      finding->count, site->known[index]);
    }
    layout_wrap(out, index == 0 ? "protects" : NULL, strbuf_text(&text));
    out->failed |= text.failed;
    strbuf_finish(&text);
}

static void add_protects(struct strbuf *out, const struct audit *audit,
                         const struct audit_site *site, const struct text_options *options)
{
    const size_t limit = options->verbose ? site->protect_count : PAIRS_PRINTED;
    struct strbuf text = {0};
    size_t i;
    for (i = 0; i < site->protect_count && i < limit; i++) {
        add_pair(out, audit, site, i);
    }
    if (i < site->protect_count || site->more_count > 0) {
        strbuf_printf(&text, "and %zu more", site->protect_count - i + site->more_count);
        layout_wrap(out, NULL, strbuf_text(&text));
    }
    out->failed |= text.failed;
    strbuf_finish(&text);
}

static void add_duration(struct strbuf *out, uint64_t ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = (double)ns;
    size_t unit = 0;
    while (value >= 1000 && unit < 3) {
        value /= 1000;
        unit++;
    }
    strbuf_printf(out, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

static void add_cover(struct strbuf *out, const struct report *report,
                      const struct audit_cover *cover, const char *here)
{
    const struct report_op *op = words_op(report, cover->op);
    switch (cover->kind) {
    case AUDIT_COVER_SYNC:
    case AUDIT_COVER_CALL:
        strbuf_printf(out, "%s at ", op && op->call ? op->call : "a call");
        if (op) {
            words_place(out, &op->at, here);
        } else {
            strbuf_puts(out, "an unknown line");
        }
        break;
    case AUDIT_COVER_LEGACY:
        strbuf_puts(out, "the legacy stream, which blocking streams wait for");
        break;
    case AUDIT_COVER_HAND_OVER:
        strbuf_puts(out, "the hand-over between host threads");
        break;
    }
}

static void add_covers(struct strbuf *out, const struct audit *audit, const struct audit_site *site)
{
    const char *here = words_op(&audit->report, site->op)->at.file;
    if (site->cover_count == 0) {
        strbuf_puts(out, "the order of its stream");
    }
    for (size_t i = 0; i < site->cover_count; i++) {
        strbuf_puts(out, i == 0 ? "" : i + 1 < site->cover_count ? ", " : " and ");
        add_cover(out, &audit->report, &site->covers[i], here);
    }
}

/* Why a redundant call is, on the line of its title. */
static void add_why(struct strbuf *out, const struct audit *audit, const struct audit_site *site)
{
    switch (site->why) {
    case AUDIT_COVERED:
        strbuf_puts(out, "covered by ");
        add_covers(out, audit, site);
        break;
    case AUDIT_NEEDED_COVERED:
        strbuf_puts(out, "what needs order is covered by ");
        add_covers(out, audit, site);
        break;
    case AUDIT_NO_CONFLICT:
        strbuf_puts(out, site->by_accident ? "only order by accident makes it needless"
                                           : "nothing that was seen needs the order it gives");
        break;
    case AUDIT_NOTHING_BEHIND:
        strbuf_puts(out, "nothing comes behind it");
        break;
    case AUDIT_NOTHING_BEFORE:
        strbuf_puts(out, site->event_count > 0 ? "the event was never recorded before it"
                                               : "there is no work that it waits for");
        break;
    }
    if (site->by_accident) {
        strbuf_puts(out, site->why == AUDIT_NO_CONFLICT ? " (better kept)"
                                                        : " (by accident: better kept)");
    }
    if (!site->is_wait) {
        strbuf_puts(out, "; it blocked the host for ");
        add_duration(out, site->blocked_ns);
        strbuf_printf(out, " in %" PRIu64 " %s", site->calls, site->calls == 1 ? "call" : "calls");
        if (verdict_host_scope(&audit->report) == SSAN_host_scope_OFF) {
            strbuf_puts(out, " (host accesses not observed)");
        }
    }
}

static void add_together(struct strbuf *out, const struct audit *audit)
{
    size_t shown = 0;
    if (audit->redundant == 0) {
        return;
    }
    strbuf_printf(out, "together: %s%zu of %zu can go together",
                  audit->together_exact ? "" : "at least ", audit->together, audit->redundant);
    for (size_t i = 0; i < audit->site_count; i++) {
        const struct audit_site *site = &audit->sites[i];
        if (site->together) {
            strbuf_puts(out, shown++ == 0 ? ": " : ", ");
            words_place_full(out, &words_op(&audit->report, site->op)->at);
            strbuf_printf(out, " %s%s", call_name(audit, site),
                          site->by_accident ? " (by accident: better kept)" : "");
        }
    }
    strbuf_puts(out, audit->together_exact
                         ? " (checked; no larger set can)\n"
                         : " (checked; the search ended early, a larger set may be)\n");
}

void report_audit_text(struct strbuf *out, const struct audit *audit, const struct verdict *verdict,
                       const struct text_options *options, bool titles_only)
{
    for (size_t i = 0; i < audit->site_count; i++) {
        const struct audit_site *site = &audit->sites[i];
        add_title(out, audit, site, options);
        if (site->load_bearing) {
            strbuf_puts(out, "protects ");
            add_buffers(out, audit, site);
            strbuf_puts(out, "\n");
            if (!titles_only) {
                add_protects(out, audit, site, options);
            }
        } else {
            add_why(out, audit, site);
            strbuf_puts(out, "\n");
        }
    }
    audit_text_accidents(out, audit, options, titles_only);
    audit_text_assumed(out, audit, options, titles_only);
    strbuf_printf(out,
                  "%saudit: %zu load-bearing, %zu redundant of %zu synchronisation call sites; "
                  "the trace was judged again %" PRIu64 " %s\n",
                  audit->site_count > 0 ? "\n" : "", audit->load_bearing, audit->redundant,
                  audit->site_count, audit->runs, audit->runs == 1 ? "time" : "times");
    add_together(out, audit);
    if (audit->accident_count > 0) {
        strbuf_printf(out, "accidental: %zu %s of operations in order by accident only\n",
                      audit->accident_count, audit->accident_count == 1 ? "pair" : "pairs");
    }
    if (verdict->errors > 0) {
        strbuf_printf(out,
                      "the trace has %zu %s as it is: a call is load-bearing here for what its "
                      "loss adds to %s\n",
                      verdict->errors, verdict->errors == 1 ? "error" : "errors",
                      verdict->errors == 1 ? "it" : "them");
    }
}
