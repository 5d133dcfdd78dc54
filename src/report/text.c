/* The text form of a report: each finding's sections in their fixed order (docs/report.md), then
 * what was not printed and the device fault. The verdict line is verdict.c's.
 *
 * Titles are never wrapped; everything else keeps to REPORT_COLUMNS. Cost: linear in what is
 * printed. */
#include "report/report.h"

#include "report/suppress.h"
#include "report/text_parts.h"

#include <inttypes.h>
#include <string.h>

#define RANGES_PRINTED 3
#define FOLDED_PRINTED 8
#define STACK_PRINTED  16

static const char *const severity_colors[] = {"\033[1;36m", "\033[1;35m", "\033[1;31m"};

void text_title(struct strbuf *out, const struct report *report, const struct finding *finding,
                bool color)
{
    const char *bold = color ? "\033[1m" : "", *reset = color ? "\033[0m" : "";
    strbuf_puts(out, bold);
    words_place_full(out, words_site(report, finding));
    strbuf_printf(out, ":%s %s%s:%s %s", reset, color ? severity_colors[finding->severity] : "",
                  severity_word(finding->severity), reset, bold);
    words_message(out, report, finding);
    strbuf_printf(out, "%s [%s]", reset, check_info(finding->check)->id);
}

static const char *ordinal_suffix(uint32_t number)
{
    if (number % 100 / 10 == 1) {
        return "th";
    }
    return number % 10 == 1 ? "st" : number % 10 == 2 ? "nd" : number % 10 == 3 ? "rd" : "th";
}

static void add_ranges(struct strbuf *out, const struct ranges *bytes, bool all)
{
    size_t i;
    for (i = 0; i < bytes->count; i++) {
        if (!all && i == RANGES_PRINTED && bytes->count > RANGES_PRINTED + 1) {
            strbuf_printf(out, " and %zu more ranges", bytes->count - i);
            return;
        }
        strbuf_printf(out, "%s[%" PRIu64 ", %" PRIu64 ")", i > 0 ? ", " : "", bytes->items[i].begin,
                      bytes->items[i].end);
    }
}

/* "16384 bytes from cudaMalloc at handover.cu:25" */
static void add_origin(struct strbuf *out, const struct report_buffer *buffer)
{
    if (!buffer->call) {
        strbuf_puts(out, "pageable host memory");
        return;
    }
    strbuf_printf(out, "%" PRIu64 " bytes from %s", buffer->size_bytes, buffer->call);
    if (buffer->allocated.file || buffer->allocated.function) {
        strbuf_puts(out, " at ");
        words_place_full(out, &buffer->allocated);
    }
}

static void bytes_section(struct strbuf *out, const struct report *report,
                          const struct finding *finding, const struct text_options *options)
{
    const struct report_buffer *buffer;
    struct strbuf text = {0};
    uint64_t total = ranges_bytes(&finding->bytes);
    if (finding->buffer < 0 || finding->bytes.count == 0) {
        return;
    }
    buffer = &report->buffers[finding->buffer];
    add_ranges(&text, &finding->bytes, options->verbose);
    strbuf_printf(&text, " of '%s'", words_buffer(report, finding->buffer));
    if (buffer->size_bytes > 0 && total == buffer->size_bytes) {
        strbuf_puts(&text, ", all of it");
    } else if (finding->bytes.count > 1) {
        strbuf_printf(&text, ", %" PRIu64 " bytes together", total);
    }
    strbuf_puts(&text, "; ");
    add_origin(&text, buffer);
    words_device(&text, report, buffer->device);
    if (buffer->generation > 1) {
        strbuf_printf(&text, " (%" PRIu32 "%s life of this address)", buffer->generation,
                      ordinal_suffix(buffer->generation));
    }
    if (options->with_addresses) {
        strbuf_printf(&text, "; begins at 0x%" PRIx64, buffer->address);
    }
    layout_wrap(out, "bytes", strbuf_text(&text));
    out->failed |= text.failed;
    strbuf_finish(&text);
}

/* Where streams come from that have no name but their number, which is also that of their ids. */
static void streams_section(struct strbuf *out, const struct report *report,
                            const struct finding *finding)
{
    const struct report_op *ops[] = {words_op(report, finding->first.op),
                                     words_op(report, finding->then.op)};
    struct strbuf text = {0};
    int told = -1;
    size_t i;
    for (i = 0; i < 2; i++) {
        const struct report_stream *stream =
            ops[i] && ops[i]->stream >= 0 ? &report->streams[ops[i]->stream] : NULL;
        if (!stream || stream->name_from != NAME_ORDINAL || ops[i]->stream == told ||
            !stream->created.file) {
            continue;
        }
        told = ops[i]->stream;
        strbuf_printf(&text, "%s'%s' (s%" PRIu32 ") is created at ", text.length > 0 ? ", " : "",
                      stream->name, stream->ordinal);
        words_place_full(&text, &stream->created);
    }
    if (text.length > 0) {
        layout_wrap(out, "streams", strbuf_text(&text));
    }
    out->failed |= text.failed;
    strbuf_finish(&text);
}

static void stack_section(struct strbuf *out, const struct report *report, const char *word,
                          int index)
{
    const struct report_op *op = words_op(report, index);
    struct strbuf text = {0};
    size_t i;
    for (i = 0; op && i < op->stack_count && i < STACK_PRINTED; i++) {
        strbuf_clear(&text);
        words_place_full(&text, &op->stack[i]);
        if (op->stack[i].function && op->stack[i].file) {
            strbuf_printf(&text, " in %s", op->stack[i].function);
        }
        layout_wrap(out, i == 0 ? word : NULL, strbuf_text(&text));
    }
    out->failed |= text.failed;
    strbuf_finish(&text);
}

static void portability_section(struct strbuf *out, const struct finding *finding)
{
    struct strbuf text = {0};
    if (!finding->ordered_by) {
        return;
    }
    strbuf_printf(
        &text, "only %s orders the two: a behaviour that is observed but that no manual promises",
        finding->ordered_by);
    strbuf_puts(&text, finding->severity == SEVERITY_ERROR
                           ? " (--order documented does not count it)."
                           : ". With --order documented this is an error.");
    layout_wrap(out, "order by", strbuf_text(&text));
    strbuf_puts(out, "\n");
    out->failed |= text.failed;
    strbuf_finish(&text);
}

static void add_folded(struct strbuf *out, const struct report *report,
                       const struct finding *finding, const struct finding *folded)
{
    strbuf_printf(out, "%s  ", check_info(folded->check)->id);
    if (folded->severity != finding->severity) {
        strbuf_printf(out, "(%s) ", severity_word(folded->severity));
    }
    if (folded->buffer >= 0 && folded->first.op >= 0 && folded->then.op >= 0) {
        words_noun(out, report, folded->then.op);
        strbuf_printf(out, " %s ", words_verb(report, &folded->then));
        if (folded->buffer == finding->buffer) {
            strbuf_puts(out, "the bytes ");
        } else {
            strbuf_printf(out, "'%s', which ", words_buffer(report, folded->buffer));
        }
        words_noun(out, report, folded->first.op);
        strbuf_printf(out, " %s", words_verb(report, &folded->first));
    } else {
        words_message(out, report, folded);
    }
    strbuf_puts(out, ": same missing edge");
}

static void also_section(struct strbuf *out, const struct report *report,
                         const struct finding *finding)
{
    struct strbuf text = {0};
    size_t told = 0, more = 0, i;
    for (i = 0; i < finding->folded_count; i++) {
        if (finding->folded[i]->suppressed_by) {
            continue;
        }
        if (told == FOLDED_PRINTED) {
            more++;
            continue;
        }
        strbuf_clear(&text);
        add_folded(&text, report, finding, finding->folded[i]);
        layout_wrap(out, told++ == 0 ? "also" : NULL, strbuf_text(&text));
    }
    if (more > 0) {
        strbuf_clear(&text);
        strbuf_printf(&text, "and %zu more of the same missing edge", more);
        layout_wrap(out, NULL, strbuf_text(&text));
    }
    out->failed |= text.failed;
    strbuf_finish(&text);
}

static bool is_kernel(const struct report *report, int op)
{
    const struct report_op *found = words_op(report, op);
    return found && found->kind == ROP_KERNEL;
}

static void add_sureness(struct strbuf *out, const struct report *report,
                         const struct finding *finding)
{
    const struct finding_side *may =
        finding->then.size_bytes == 0 && is_kernel(report, finding->then.op) ? &finding->then
                                                                             : &finding->first;
    strbuf_printf(out, "%s: ", sureness_word(finding->sureness));
    switch (finding->sureness) {
    case SURENESS_EXACT:
        strbuf_printf(out, "every access of both %s was observed",
                      is_kernel(report, finding->first.op) && is_kernel(report, finding->then.op)
                          ? "kernels"
                          : "operations");
        break;
    case SURENESS_FOOTPRINT:
        words_noun(out, report, may->op);
        strbuf_printf(out,
                      " is known by its argument '%s' only (not instrumented), but the other side "
                      "writes these bytes: they conflict either way",
                      words_buffer(report, finding->buffer));
        break;
    case SURENESS_POSSIBLE:
        if (report->run.rounded_sets > 0) {
            strbuf_puts(out, "the ranges were rounded to hold the shadow limit");
        } else {
            words_noun(out, report, may->op);
            strbuf_printf(out, " may only read '%s' (not observed)",
                          words_buffer(report, finding->buffer));
        }
        break;
    }
}

static void id_section(struct strbuf *out, const struct report *report,
                       const struct finding *finding)
{
    struct strbuf text = {0}, sureness = {0};
    strbuf_puts(&text, finding->id ? finding->id : "?");
    if (finding->count > 1) {
        strbuf_printf(&text, " (+%" PRIu64 " repeat%s)", finding->count - 1,
                      finding->count == 2 ? "" : "s");
    }
    strbuf_printf(out, "  %-11s", "id");
    if (check_info(finding->check)->family == FAMILY_MISUSE || finding->buffer < 0) {
        strbuf_printf(out, "%s\n", strbuf_text(&text));
        out->failed |= text.failed;
        strbuf_finish(&text);
        return;
    }
    add_sureness(&sureness, report, finding);
    if (LAYOUT_INDENT + layout_columns(&text) + 3 + layout_columns(&sureness) <= REPORT_COLUMNS) {
        strbuf_printf(out, "%s   %s\n", strbuf_text(&text), strbuf_text(&sureness));
    } else {
        strbuf_printf(out, "%s\n", strbuf_text(&text));
        layout_wrap(out, NULL, strbuf_text(&sureness));
    }
    out->failed |= text.failed || sureness.failed;
    strbuf_finish(&text);
    strbuf_finish(&sureness);
}

/* The entries that would hide the finding and those folded into it. */
static void suppress_section(struct strbuf *out, const struct finding *finding)
{
    size_t i;
    layout_wrap(out, "suppress", "with these lines in a file for --suppressions:");
    suppress_entry(out, finding, LAYOUT_INDENT);
    for (i = 0; i < finding->folded_count; i++) {
        if (!finding->folded[i]->suppressed_by) {
            suppress_entry(out, finding->folded[i], LAYOUT_INDENT);
        }
    }
}

/* The operation that failed and the call that told the program. */
static void error_section(struct strbuf *out, const struct report *report,
                          const struct finding *finding)
{
    const struct report_op *cause = words_op(report, finding->first.op);
    const struct report_op *returned = words_op(report, finding->then.op);
    struct strbuf text = {0};
    if (cause) {
        words_subject(&text, report, finding->first.op);
        strbuf_puts(&text, " of ");
        words_place_full(&text, &cause->at);
        if (report->run.fault.at.file) {
            strbuf_puts(&text, "; kernel code ");
            words_place_full(&text, &report->run.fault.at);
        }
        layout_wrap(out, "failed", strbuf_text(&text));
        strbuf_clear(&text);
    }
    words_noun(&text, report, finding->then.op);
    strbuf_puts(&text, " at ");
    words_place_full(&text, &returned->at);
    layout_wrap(out, "returned", strbuf_text(&text));
    strbuf_puts(out, "\n");
    out->failed |= text.failed;
    strbuf_finish(&text);
}

static void one_finding(struct strbuf *out, const struct report *report,
                        const struct finding *finding, const struct text_options *options)
{
    text_title(out, report, finding, options->color);
    strbuf_puts(out, "\n\n");
    if (finding->check == CHECK_LATE_ERROR) {
        error_section(out, report, finding);
    } else if (finding->first.op >= 0 && finding->then.op >= 0) {
        text_sides(out, report, finding);
        bytes_section(out, report, finding, options);
        streams_section(out, report, finding);
        strbuf_puts(out, "\n");
    }
    if (options->verbose) {
        stack_section(out, report, "first from", finding->first.op);
        stack_section(out, report, "then from", finding->then.op);
        strbuf_puts(out, "\n");
    }
    text_order(out, report, finding);
    text_missing(out, report, finding);
    portability_section(out, finding);
    text_fix(out, report, finding);
    text_witness(out, report, finding);
    also_section(out, report, finding);
    id_section(out, report, finding);
    if (options->verbose) {
        suppress_section(out, finding);
    }
    strbuf_puts(out, "\n");
}

/* The operation that failed, and the first call that returned its error. */
static void fault_sources(struct strbuf *out, const struct run_info *run)
{
    struct strbuf text = {0};
    if (run->fault.call) {
        strbuf_puts(&text, run->fault.name ? run->fault.name : run->fault.call);
        strbuf_puts(&text, " of ");
        words_place_full(&text, &run->fault.op_at);
        layout_wrap(out, "failed", strbuf_text(&text));
        strbuf_clear(&text);
    }
    if (run->fault.returned) {
        strbuf_printf(&text, "%s at ", run->fault.returned);
        words_place_full(&text, &run->fault.returned_at);
        strbuf_puts(&text, ", the first call that returned the error (");
        words_error(&text, run->fault.error);
        strbuf_puts(&text, ")");
        layout_wrap(out, "returned", strbuf_text(&text));
    }
    out->failed |= text.failed;
    strbuf_finish(&text);
}

static void failures_section(struct strbuf *out, const struct run_info *run)
{
    struct strbuf text = {0};
    size_t i;
    for (i = 0; i < run->failure_count; i++) {
        const struct run_failure *failure = &run->failures[i];
        strbuf_clear(&text);
        words_failure(&text, failure);
        strbuf_puts(out, i == 0 ? "failed as asked for\n" : "");
        layout_wrap(out, i == 0 ? "calls" : NULL, strbuf_text(&text));
    }
    strbuf_puts(out, i > 0 ? "\n" : "");
    out->failed |= text.failed;
    strbuf_finish(&text);
}

static void fault_line(struct strbuf *out, const struct run_info *run)
{
    struct strbuf text = {0};
    if (!run->fault.text) {
        return;
    }
    strbuf_puts(&text, run->fault.text);
    if (run->fault.at.file || run->fault.at.function) {
        strbuf_puts(&text, "; kernel code ");
        words_place_full(&text, &run->fault.at);
    }
    strbuf_puts(out, run->fault.planned ? "device fault, as asked for\n" : "device fault\n");
    layout_wrap(out, "what", strbuf_text(&text));
    fault_sources(out, run);
    layout_wrap(out, NULL,
                "The context was dead from there on: later calls failed, and what they "
                "would have done was not checked.");
    strbuf_puts(out, "\n");
    out->failed |= text.failed;
    strbuf_finish(&text);
}

void report_text(struct strbuf *out, const struct report *report,
                 const struct text_options *options)
{
    size_t i, printed = 0, more = 0, errors = 0;
    if (options->quiet) {
        return;
    }
    for (i = 0; i < report->finding_count; i++) {
        const struct finding *finding = report->findings[i];
        if (finding->suppressed_by) {
            continue;
        }
        if (options->verbose || printed < REPORT_MAX_PRINTED) {
            one_finding(out, report, finding, options);
            printed++;
        } else {
            more++;
            errors += finding->severity == SEVERITY_ERROR;
        }
    }
    if (more > 0) {
        strbuf_printf(
            out, "%zu more findings are not printed, %zu of them errors (--verbose prints all)\n\n",
            more, errors);
    }
    text_diagnosis(out, report);
    failures_section(out, &report->run);
    fault_line(out, &report->run);
}
