/* The paragraph "fix": a sentence for each kind, the source around each edit, and what the re-check
 * said.
 *
 * The source lines come from the statements that the trace holds (struct place.text); no file is
 * read. An edit whose neighbours are unknown is printed alone. */
#include "report/text_parts.h"

#include "base/mem.h"
#include "core/explain_names.h"

#include <string.h>

#define NEIGHBOUR_LINES 8  /* how far above an edit a line of context may stand */
#define CODE_COLUMN     22 /* where source text begins */

/* The operation that comes too early, for its place in front of it. */
static void add_then(struct strbuf *out, const struct report *report, const struct finding *finding)
{
    const struct report_op *then = words_op(report, finding->then.op);
    if (words_is_host(then)) {
        words_place(out, &then->at, words_site(report, finding)->file);
    } else {
        words_noun(out, report, finding->then.op);
    }
}

static void lead(struct strbuf *out, const struct report *report, const struct finding *finding)
{
    const struct nearest *nearest = &finding->nearest;
    const char *event = words_event(report, nearest->event);
    switch (finding->fix->kind) {
    case FIX_INSERT_WAIT:
        strbuf_puts(out, "let ");
        words_lane(out, report, finding->then.op);
        strbuf_printf(out, " wait for '%s' before ", event);
        break;
    case FIX_RECORD_WAIT:
        strbuf_puts(out, "record an event behind ");
        words_noun(out, report, finding->first.op);
        strbuf_puts(out, " and let ");
        words_lane(out, report, finding->then.op);
        strbuf_puts(out, " wait for it before ");
        break;
    case FIX_MOVE_RECORD:
        strbuf_printf(out, "record '%s' behind ", event);
        words_noun(out, report, finding->first.op);
        strbuf_puts(out, ":");
        return;
    case FIX_MOVE_WAIT:
        strbuf_printf(out, "wait for '%s' before ", event);
        break;
    case FIX_SECOND_EVENT:
        strbuf_puts(out, "let the second record have an event of its own:");
        return;
    case FIX_HOST_SYNC:
        strbuf_puts(out, "let the host wait for ");
        if (nearest->event >= 0) {
            strbuf_printf(out, "'%s'", event);
        } else {
            words_lane(out, report, finding->first.op);
        }
        strbuf_puts(out, " before ");
        break;
    case FIX_MOVE_FREE:
        strbuf_printf(out, "free '%s' behind the call that waits for ",
                      words_buffer(report, finding->buffer));
        words_lane(out, report,
                   words_is_host(words_op(report, finding->first.op)) ? finding->then.op
                                                                      : finding->first.op);
        strbuf_puts(out, ":");
        return;
    case FIX_HAND_OVER:
        strbuf_puts(out, "hand over between the two host threads:");
        return;
    case FIX_ASK_ERROR:
        strbuf_puts(out, "ask for its error behind the launch, before the next join:");
        return;
    case FIX_KEEP_USAGE:
        strbuf_printf(out, "'%s' is a library's, which says of it: %s.",
                      words_buffer(report, finding->buffer), finding->fix->usage);
        return;
    }
    add_then(out, report, finding);
    strbuf_puts(out, ":");
}

static void code_line(struct strbuf *out, uint32_t line, char sign, const char *text)
{
    if (line > 0) {
        strbuf_printf(out, "%*u ", LAYOUT_INDENT + 4, line);
    } else {
        strbuf_printf(out, "%*s ", LAYOUT_INDENT + 4, "");
    }
    strbuf_printf(out, "%c   ", sign);
    layout_cut(out, text, REPORT_COLUMNS - CODE_COLUMN);
    strbuf_puts(out, "\n");
}

/* Several statements or lines of one insertion, each on its own line where they are separated by
 * newlines. */
static void inserted_lines(struct strbuf *out, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        char *line = mem_strndup(text, length);
        if (!line) {
            out->failed = true;
            return;
        }
        code_line(out, 0, '+', line);
        mem_free(line);
        text += length + (text[length] == '\n');
    }
}

static const char *text_at(const struct report *report, const char *file, uint32_t line)
{
    size_t i;
    for (i = 0; i < report->op_count; i++) {
        const struct place *at = &report->ops[i].at;
        if (at->file && at->text && at->line == line && strcmp(at->file, file) == 0) {
            return at->text;
        }
    }
    return NULL;
}

/* The closest known statement above an edit, at most NEIGHBOUR_LINES away; 0: none. */
static uint32_t line_above(const struct report *report, const struct source_edit *edit)
{
    uint32_t best = 0;
    size_t i;
    for (i = 0; i < report->op_count; i++) {
        const struct place *at = &report->ops[i].at;
        if (at->file && at->text && at->line < edit->line && at->line > best &&
            at->line + NEIGHBOUR_LINES >= edit->line && strcmp(at->file, edit->file) == 0) {
            best = at->line;
        }
    }
    return best;
}

static int compare_places(const struct source_edit *a, const struct source_edit *b)
{
    int files = strcmp(a->file ? a->file : "", b->file ? b->file : "");
    return files ? files : (a->line > b->line) - (a->line < b->line);
}

/* The edits in order of the source; equal places keep their order. NULL when out of memory. */
static struct source_edit *in_order(const struct fix *fix)
{
    struct source_edit *edits = mem_alloc((fix->edit_count + 1) * sizeof *edits);
    size_t i, k;
    for (i = 0; edits && i < fix->edit_count; i++) {
        for (k = i; k > 0 && compare_places(&edits[k - 1], &fix->edits[i]) > 0; k--) {
            edits[k] = edits[k - 1];
        }
        edits[k] = fix->edits[i];
    }
    return edits;
}

/* Where the excerpt is: the file it is in, and the last line of it that was printed. */
struct shown {
    const char *file;
    uint32_t line;
};

/* One edit with its neighbours; `more`: the next one is at the same place, and the line itself
 * comes behind it. */
static void print_edit(struct strbuf *out, const struct report *report,
                       const struct source_edit *edit, bool more, struct shown *shown)
{
    const char *text = text_at(report, edit->file, edit->line);
    uint32_t above = line_above(report, edit);
    if (!shown->file || strcmp(shown->file, edit->file) != 0) {
        strbuf_printf(out, "%*sin ", LAYOUT_INDENT + 2, "");
        layout_elide(out, edit->file, REPORT_COLUMNS - LAYOUT_INDENT - 6);
        strbuf_puts(out, ":\n");
        *shown = (struct shown){edit->file, 0};
    }
    if (above > shown->line) {
        code_line(out, above, ' ', text_at(report, edit->file, above));
        shown->line = above;
    }
    if (edit->insert_before) {
        inserted_lines(out, edit->insert_before);
    }
    if (edit->remove) {
        code_line(out, edit->line, '-', text ? text : "(this statement)");
        shown->line = edit->line;
    } else if (edit->line > shown->line && !more) {
        code_line(out, edit->line, ' ', text ? text : "...");
        shown->line = edit->line;
    }
}

/* Below its statement, where that is known. */
static void print_behind(struct strbuf *out, const struct report *report,
                         const struct source_edit *edit)
{
    const char *text = edit->file ? text_at(report, edit->file, edit->line) : NULL;
    if (text) {
        code_line(out, edit->line, ' ', text);
    }
    inserted_lines(out, edit->insert_behind);
}

static void excerpt(struct strbuf *out, const struct report *report, const struct finding *finding)
{
    const struct fix *fix = finding->fix;
    struct source_edit *edits = in_order(fix);
    struct shown shown = {words_site(report, finding)->file, 0};
    size_t i;
    if (!edits) {
        out->failed = true;
        return;
    }
    for (i = 0; i < fix->edit_count; i++) {
        bool more = i + 1 < fix->edit_count && compare_places(&edits[i], &edits[i + 1]) == 0;
        if (edits[i].insert_behind) {
            print_behind(out, report, &edits[i]);
        } else if (edits[i].file) {
            print_edit(out, report, &edits[i], more, &shown);
        }
    }
    mem_free(edits);
}

/* Which names of the edits the program may not have at all. */
static void foreign(struct strbuf *out, const struct fix *fix)
{
    for (size_t i = 0; i < fix->foreign_count; i++) {
        strbuf_printf(out, "%s%s", i == 0 ? " " : " and ", fix->foreign[i]);
    }
    if (fix->foreign_count > 0) {
        strbuf_printf(out,
                      " stand%s for what a library has made, which the program may have no "
                      "name for.",
                      fix->foreign_count == 1 ? "s" : "");
    }
}

static void checked(struct strbuf *out, const struct fix *fix)
{
    struct strbuf text = {0};
    size_t i;
    strbuf_printf(&text, "checked: with this %s ",
                  fix->kind == FIX_INSERT_WAIT || fix->kind == FIX_RECORD_WAIT ? "edge" : "change");
    if (fix->leave_count == 0) {
        strbuf_puts(&text, "the trace has no finding left.");
    } else {
        strbuf_printf(&text, "this finding is gone; %zu remain%s: ", fix->leave_count,
                      fix->leave_count == 1 ? "s" : "");
        for (i = 0; i < fix->leave_count && i < 6; i++) {
            strbuf_printf(&text, "%s%s", i > 0 ? ", " : "", fix->leaves[i]);
        }
        strbuf_puts(&text, i < fix->leave_count ? ", ..." : ".");
    }
    if (fix->partial) {
        strbuf_puts(&text, " Partial: the host threads need a hand-over as well.");
    }
    if (fix->borrowed) {
        strbuf_puts(&text, " The names may have to be adapted to the place.");
    }
    foreign(&text, fix);
    layout_wrap(out, NULL, strbuf_text(&text));
    out->failed |= text.failed;
    strbuf_finish(&text);
}

/* Why an error has no fix. */
static void no_fix(struct strbuf *out, const struct report *report, const struct finding *finding)
{
    const struct report_op *first = words_op(report, finding->first.op);
    const struct report_op *then = words_op(report, finding->then.op);
    if (!finding->has_missing || finding->severity != SEVERITY_ERROR || !first || !then) {
        return;
    }
    const struct place *a = &first->at, *b = &then->at;
    const char *why = "no edit that was tried removes the finding";
    if (!a->file || !b->file) {
        why = "the source lines are not known";
    } else if (!words_is_host(first) && !words_is_host(then) && a->line == b->line &&
               strcmp(a->file, b->file) == 0) {
        why = "both operations are enqueued by the same line";
    } else if (names_is_body(b->text, then->call)) {
        why = "the statement stands under an if or a loop without braces";
    }
    strbuf_printf(out, "  %-11snone printed: %s\n\n", "fix", why);
}

void text_fix(struct strbuf *out, const struct report *report, const struct finding *finding)
{
    struct strbuf text = {0};
    const struct finding *of;
    if (!fix_is_told(finding->fix)) {
        no_fix(out, report, finding);
        return;
    }
    of = finding->fix->of ? finding->fix->of : finding;
    lead(&text, report, of);
    layout_wrap(out, "fix", strbuf_text(&text));
    excerpt(out, report, of);
    if (finding->fix->checked) {
        checked(out, finding->fix);
    }
    strbuf_puts(out, "\n");
    out->failed |= text.failed;
    strbuf_finish(&text);
}
