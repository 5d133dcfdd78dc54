/* The table "order": the operations of the window in issue order, one column for each side of the
 * finding.
 *
 * Names of kernels are shortened where their cell is too narrow (names.h), and stay readable:
 * before that the buffer of an access gives way. Left stands the lane (stream or host) of `first`,
 * right that of `then`; an operation of a third lane stands left and names its stream. Where the
 * mark of `then` would cost a cell its words it gets a line of its own; cells are cut so that no
 * line passes REPORT_COLUMNS. */
#include "report/names.h"
#include "report/text_parts.h"

#include "base/columns.h"

#include <string.h>

#define LINE_COLUMNS_MAX 24
#define LEFT_COLUMNS_MIN 32
#define LINE_GAP         3
#define MARK             "<-- not after "
#define MARK_GAP         4
#define ACCESS_GAP       3 /* before "writes dev" */

#define NAME_COLUMNS_MIN   16 /* a name is not shortened below that for the sake of a buffer */
#define BUFFER_COLUMNS_MIN 8
#define HOST_FUNCTION      "host function "

struct table {
    const struct report *report;
    const struct finding *finding;
    const char *here;
    size_t line_columns, label_columns, left_columns;
    bool mark_below; /* the mark of `then` stands on the next line */
};

static void add_span(struct strbuf *out, const struct report *report,
                     const struct buffer_span *span)
{
    strbuf_puts(out, span->buffer >= 0 ? words_buffer(report, span->buffer) : "?");
}

/* What the finding's own sides do to the buffer; other operations are told by their kind alone.
 * NULL: no side of it. */
static const char *access_of(const struct table *table, int op)
{
    const struct finding *finding = table->finding;
    if (finding->buffer < 0 || (op != finding->then.op && op != finding->first.op)) {
        return NULL;
    }
    return words_verb(table->report, op == finding->then.op ? &finding->then : &finding->first);
}

/* A name and what it does to the buffer, in so many columns: of the name its last component stays
 * whole if it can, then as much of the buffer as there is room for. */
static void add_named(struct strbuf *out, const struct table *table, int op, const char *name,
                      size_t room)
{
    const char *verb = access_of(table, op);
    const char *buffer = verb ? words_buffer(table->report, table->finding->buffer) : "";
    const size_t begin = out->length, verb_columns = verb ? ACCESS_GAP + strlen(verb) : 0;
    struct strbuf shortest = {0};
    size_t buffer_columns = verb ? 1 + columns_of(buffer, strlen(buffer)) : 0;
    size_t least, left, own_columns;
    names_shorten(&shortest, name, NAME_COLUMNS_MIN);
    least = layout_columns(&shortest);
    left = room > least + verb_columns ? room - least - verb_columns : 0;
    buffer_columns = buffer_columns <= left ? buffer_columns : left > BUFFER_COLUMNS_MIN ? left : 0;
    names_shorten(out, name,
                  room -
                      (verb_columns + buffer_columns < room ? verb_columns + buffer_columns : 0));
    own_columns = columns_of(strbuf_text(out) + begin, out->length - begin);
    if (verb && (room == SIZE_MAX || own_columns + verb_columns <= room)) {
        strbuf_printf(out, "%*s%s", ACCESS_GAP, "", verb);
        if (buffer_columns > 0) {
            strbuf_puts(out, " ");
            layout_elide(out, buffer, buffer_columns - 1);
        }
    }
    out->failed |= shortest.failed;
    strbuf_finish(&shortest);
}

/* `room`: columns for a name and its access; other operations are cut by the caller. */
static void add_what(struct strbuf *out, const struct table *table, int index, size_t room)
{
    const struct report *report = table->report;
    const struct report_op *op = words_op(report, index);
    switch (op->kind) {
    case ROP_KERNEL:
        add_named(out, table, index, op->name ? op->name : "kernel", room);
        break;
    case ROP_COPY:
        strbuf_puts(out, "copy ");
        add_span(out, report, &op->src);
        strbuf_puts(out, " -> ");
        add_span(out, report, &op->dst);
        break;
    case ROP_MEMSET:
        strbuf_puts(out, "memset ");
        add_span(out, report, &op->dst);
        break;
    case ROP_ALLOC:
    case ROP_FREE:
        strbuf_printf(out, "%s ", op->call ? op->call : op->kind == ROP_FREE ? "free" : "alloc");
        add_span(out, report, &op->dst);
        break;
    case ROP_RECORD:
        strbuf_printf(out, "record '%s'", words_event(report, op->event));
        break;
    case ROP_WAIT:
        strbuf_printf(out, "wait '%s'", words_event(report, op->event));
        break;
    case ROP_HOSTFUNC:
        strbuf_puts(out, HOST_FUNCTION);
        add_named(out, table, index, op->name ? op->name : "",
                  room > 2 * strlen(HOST_FUNCTION) ? room - strlen(HOST_FUNCTION) : room);
        break;
    case ROP_HOST_READ:
    case ROP_HOST_WRITE:
        strbuf_puts(out, op->kind == ROP_HOST_READ ? "reads " : "writes ");
        add_span(out, report, &op->dst);
        break;
    case ROP_FAILED:
        words_noun(out, report, index);
        strbuf_puts(out, " fails");
        break;
    case ROP_SYNC:
        strbuf_puts(out, op->call ? op->call : "waits");
        if (op->event >= 0) {
            strbuf_printf(out, " '%s'", words_event(report, op->event));
        }
        break;
    }
}

static bool in_same_lane(const struct report_op *a, const struct report_op *b)
{
    return a && b && a->stream == b->stream && (a->stream >= 0 || a->thread == b->thread);
}

/* In `room` columns where a name can be shortened so far, which the caller sees to; SIZE_MAX: all.
 */
static void add_cell(struct strbuf *out, const struct table *table, int index, bool foreign,
                     size_t room)
{
    const struct report_op *op = words_op(table->report, index);
    struct strbuf lane = {0};
    size_t around = table->label_columns + 2;
    if (foreign) {
        strbuf_puts(&lane, " on ");
        words_lane(&lane, table->report, index);
        around += layout_columns(&lane);
    }
    strbuf_puts(out, op->label ? op->label : "");
    strbuf_pad_to(out, table->label_columns + 2);
    add_what(out, table, index,
             room == SIZE_MAX || room < around + NAME_COLUMNS_MIN ? SIZE_MAX : room - around);
    strbuf_puts(out, strbuf_text(&lane));
    out->failed |= lane.failed;
    strbuf_finish(&lane);
}

/* ". . . .  nobody waits for it" in the right column, beside the record that would have served. */
static void add_lonely(struct strbuf *out, const struct table *table, size_t column)
{
    struct strbuf lane = {0};
    size_t at = out->length;
    while (at > 0 && out->text[at - 1] != '\n') {
        at--;
    }
    at = columns_of(out->text + at, out->length - at);
    for (at++, strbuf_puts(out, " "); at + 2 < column; at += 2) {
        strbuf_puts(out, ". ");
    }
    strbuf_pad_to(out, column);
    if (table->finding->nearest.elsewhere) {
        words_lane(&lane, table->report, table->finding->then.op);
        strbuf_puts(&lane, " does not wait for it");
        layout_elide(out, strbuf_text(&lane), REPORT_COLUMNS - column);
    } else {
        strbuf_puts(out, "nobody waits for it");
    }
    out->failed |= lane.failed;
    strbuf_finish(&lane);
}

static void add_mark(struct strbuf *out, const struct table *table)
{
    const struct report_op *first = words_op(table->report, table->finding->first.op);
    strbuf_printf(out, "%*s" MARK "%s", MARK_GAP, "", first && first->label ? first->label : "?");
}

static void print_row(struct strbuf *out, const struct table *table, int index)
{
    const struct report *report = table->report;
    const struct finding *finding = table->finding;
    const struct report_op *op = words_op(report, index);
    bool right = index == finding->then.op || in_same_lane(op, words_op(report, finding->then.op));
    bool left = in_same_lane(op, words_op(report, finding->first.op));
    size_t begin = LAYOUT_INDENT + table->line_columns + LINE_GAP;
    size_t middle = begin + table->left_columns + 2;
    size_t room = right ? REPORT_COLUMNS - middle : table->left_columns;
    struct strbuf cell = {0}, line = {0}, mark = {0};
    if (index == finding->then.op && finding->has_missing) {
        add_mark(&mark, table);
        room -= !table->mark_below && layout_columns(&mark) < room ? layout_columns(&mark) : 0;
    }
    words_place(&line, &op->at, table->here);
    strbuf_printf(out, "%*s", LAYOUT_INDENT, "");
    layout_elide(out, strbuf_text(&line), table->line_columns);
    strbuf_pad_to(out, right ? middle : begin);
    add_cell(&cell, table, index, !left && !right, room);
    layout_elide(out, strbuf_text(&cell), room);
    if (mark.length > 0 && table->mark_below) {
        strbuf_puts(out, "\n");
        strbuf_pad_to(out, middle);
    }
    strbuf_puts(out, strbuf_text(&mark));
    if (finding->has_missing && finding->nearest.kind == NEAREST_RECORDED_NOT_WAITED &&
        index == finding->nearest.record && !right) {
        add_lonely(out, table, middle);
    }
    strbuf_puts(out, "\n");
    out->failed |= cell.failed || line.failed || mark.failed;
    strbuf_finish(&cell);
    strbuf_finish(&line);
    strbuf_finish(&mark);
}

/* Widths of the place and of the label. */
static void measure_marks(struct table *table)
{
    struct strbuf cell = {0};
    size_t i;
    table->line_columns = 4;
    table->label_columns = 2;
    for (i = 0; i < table->finding->window_count; i++) {
        const struct report_op *op = words_op(table->report, table->finding->window[i]);
        strbuf_clear(&cell);
        words_place(&cell, &op->at, table->here);
        table->line_columns = layout_larger(table->line_columns, layout_columns(&cell));
        table->label_columns = layout_larger(
            table->label_columns, op->label ? columns_of(op->label, strlen(op->label)) : 0);
    }
    if (table->line_columns > LINE_COLUMNS_MAX) {
        table->line_columns = LINE_COLUMNS_MAX;
    }
    strbuf_finish(&cell);
}

/* Width of the left column: LEFT_COLUMNS_MIN where both sides then fit, else what they need, with
 * the mark below if that helps; else half, or less where one side needs less. */
static void measure(struct table *table)
{
    const struct report *report = table->report;
    const struct finding *finding = table->finding;
    size_t i, left = 0, right = 0, marked = 0, room;
    struct strbuf cell = {0};
    measure_marks(table);
    const size_t mark = MARK_GAP + strlen(MARK) + table->label_columns;
    room = REPORT_COLUMNS - LAYOUT_INDENT - table->line_columns - LINE_GAP - 2;
    for (i = 0; i < finding->window_count; i++) {
        int index = finding->window[i];
        const struct report_op *op = words_op(report, index);
        bool is_right = in_same_lane(op, words_op(report, finding->then.op));
        bool is_left = in_same_lane(op, words_op(report, finding->first.op));
        strbuf_clear(&cell);
        add_cell(&cell, table, index, !is_left && !is_right, SIZE_MAX);
        const size_t columns = layout_columns(&cell);
        if (index == finding->then.op) {
            right = layout_larger(right, columns);
            right = layout_larger(right, mark);
            marked = columns + mark;
        } else if (is_right) {
            right = layout_larger(right, columns);
        } else {
            left = layout_larger(left, columns + 2);
        }
    }
    table->mark_below = left + layout_larger(right, marked) > room;
    right = table->mark_below ? right : layout_larger(right, marked);
    if (left + right > room) {
        left = left <= room / 2 ? left : right <= room / 2 ? room - right : room / 2;
    } else if (left < LEFT_COLUMNS_MIN) {
        left = LEFT_COLUMNS_MIN + right <= room ? LEFT_COLUMNS_MIN : room - right;
    }
    table->left_columns = left;
    strbuf_finish(&cell);
}

void text_order(struct strbuf *out, const struct report *report, const struct finding *finding)
{
    struct table table = {
        .report = report, .finding = finding, .here = words_site(report, finding)->file};
    struct strbuf heading = {0};
    size_t i, middle;
    if (finding->window_count == 0 || finding->first.op < 0 || finding->then.op < 0 ||
        finding->check == CHECK_LATE_ERROR) {
        return;
    }
    measure(&table);
    middle = LAYOUT_INDENT + table.line_columns + LINE_GAP + table.left_columns + 2;
    strbuf_printf(out, "  %-11s%-*s   ", "order", (int)table.line_columns, "line");
    words_lane_of_device(&heading, report, finding->first.op);
    layout_elide(out, strbuf_text(&heading), table.left_columns);
    strbuf_clear(&heading);
    strbuf_pad_to(out, middle);
    words_lane_of_device(&heading, report, finding->then.op);
    layout_elide(out, strbuf_text(&heading), REPORT_COLUMNS - middle);
    strbuf_puts(out, "\n");
    for (i = 0; i < finding->window_count; i++) {
        print_row(out, &table, finding->window[i]);
    }
    strbuf_puts(out, "\n");
    out->failed |= heading.failed;
    strbuf_finish(&heading);
}
