/* Wrapping, eliding and the two aligned rows of a finding's sides.
 *
 * The sides share columns (what, who, where, device line); a row that would pass REPORT_COLUMNS is
 * broken into one line for each pair of columns, and single cells are elided, so that long C++
 * names keep the shape. */
#include "report/text_parts.h"

#include "report/names.h"

#include "base/columns.h"
#include "base/mem.h"

#include <string.h>

#define CELL_COUNT     4
#define CELL_COLUMNS   42 /* a cell of a broken row */
#define NAME_COLUMNS   30 /* a name inside a cell */
#define BUFFER_COLUMNS 8  /* of a buffer at least */

size_t layout_columns(const struct strbuf *text)
{
    return columns_of(strbuf_text(text), text->length);
}

void layout_cut(struct strbuf *out, const char *text, size_t columns)
{
    const size_t length = strlen(text);
    if (columns_of(text, length) <= columns) {
        strbuf_add(out, text, length);
    } else if (columns > 3) {
        strbuf_add(out, text, columns_head(text, length, columns - 3));
        strbuf_puts(out, "...");
    }
}

void layout_elide(struct strbuf *out, const char *text, size_t columns)
{
    const size_t length = strlen(text), head = (columns - 3) / 2;
    if (columns < 8 || columns_of(text, length) <= columns) {
        layout_cut(out, text, columns);
        return;
    }
    strbuf_add(out, text, columns_head(text, length, head));
    strbuf_puts(out, "...");
    strbuf_puts(out, text + length - columns_tail(text, length, columns - 3 - head));
}

void layout_wrap(struct strbuf *out, const char *word, const char *text)
{
    size_t column = LAYOUT_INDENT, room = REPORT_COLUMNS - LAYOUT_INDENT;
    bool first = true;
    strbuf_printf(out, "  %-11s", word ? word : "");
    while (*text) {
        const size_t length = strcspn(text, " "), columns = columns_of(text, length);
        const size_t shown = columns > room ? room : columns;
        if (!first && column + 1 + shown > REPORT_COLUMNS) {
            strbuf_printf(out, "\n%*s", LAYOUT_INDENT, "");
            column = LAYOUT_INDENT;
        } else if (!first) {
            strbuf_puts(out, " ");
            column++;
        }
        if (columns > room) {
            char *piece = mem_strndup(text, length);
            if (!piece) {
                out->failed = true;
                return;
            }
            layout_elide(out, piece, room);
            mem_free(piece);
        } else {
            strbuf_add(out, text, length);
        }
        column += shown;
        first = false;
        text += length;
        text += strspn(text, " ");
    }
    strbuf_puts(out, "\n");
}

struct row {
    struct strbuf cells[CELL_COUNT];
};

/* The name that stands before the verb: the host's side has its call or nothing. */
static void side_name(struct strbuf *out, const struct report *report,
                      const struct finding_side *side, size_t columns)
{
    struct strbuf name = {0};
    words_noun(&name, report, side->op);
    names_shorten(out, strbuf_text(&name), columns);
    out->failed |= name.failed;
    strbuf_finish(&name);
}

static void add_device_lines(struct strbuf *out, const struct report *report,
                             const struct finding_side *side)
{
    const char *file = NULL;
    size_t i;
    for (i = 0; i < side->device_count; i++) {
        strbuf_puts(out, i == 0 ? "kernel code " : i + 1 < side->device_count ? ", " : " or ");
        words_place(out, &side->device_at[i], file);
        file = side->device_at[i].file;
    }
}

static void fill_row(struct row *row, const struct report *report, const struct finding *finding,
                     const struct finding_side *side, const size_t widths[2], size_t buffer_columns)
{
    const struct report_op *op = words_op(report, side->op);
    struct strbuf name = {0};
    side_name(&name, report, side, widths[0]);
    strbuf_puts(&row->cells[0], strbuf_text(&name));
    strbuf_pad_to(&row->cells[0], widths[0]);
    if (finding->buffer >= 0) { /* an event has no bytes */
        strbuf_printf(&row->cells[0], " %-*s ", (int)widths[1], words_verb(report, side));
        layout_elide(&row->cells[0], words_buffer(report, finding->buffer), buffer_columns);
    }
    if (op) {
        strbuf_puts(&row->cells[1], op->label ? op->label : "");
        if (!words_is_host(op)) {
            strbuf_puts(&row->cells[1], " on ");
            words_lane_of_device(&row->cells[1], report, side->op);
        }
        words_place_full(&row->cells[2], &op->at);
    }
    add_device_lines(&row->cells[3], report, side);
    if (op && op->library) {
        strbuf_printf(&row->cells[3], "%sin %s", side->device_count > 0 ? ", " : "", op->library);
    }
    strbuf_finish(&name);
}

/* Prints one side on one line where it fits, else two cells a line. */
static void print_row(struct strbuf *out, const char *word, const struct row *row,
                      const size_t widths[CELL_COUNT], bool broken)
{
    size_t column = LAYOUT_INDENT;
    size_t i, last = CELL_COUNT;
    while (last > 1 && row->cells[last - 1].length == 0) {
        last--;
    }
    strbuf_printf(out, "  %-11s", word);
    for (i = 0; i < last; i++) {
        size_t width = widths[i];
        if (broken && width > CELL_COLUMNS - 2 && i > 0) {
            width = CELL_COLUMNS - 2;
        }
        layout_elide(out, strbuf_text(&row->cells[i]), broken ? width : SIZE_MAX);
        column += width + 3;
        if (i + 1 < last && broken && i == 1) {
            strbuf_printf(out, "\n%*s", LAYOUT_INDENT, "");
            column = LAYOUT_INDENT;
        } else if (i + 1 < last) {
            strbuf_pad_to(out, column);
        }
    }
    strbuf_puts(out, "\n");
}

static bool is_same_place(const struct place *a, const struct place *b)
{
    return a->file && b->file && a->line == b->line && strcmp(a->file, b->file) == 0;
}

/* The innermost frame of `side` that tells the sides apart where both stand on one line, as in a
 * wrapper that is called from two lines; NULL: none. */
static const struct place *caller_of(const struct report_op *side, const struct report_op *other)
{
    size_t i = 0;
    if (!side || !other || side->stack_count == 0 || other->stack_count == 0) {
        return NULL;
    }
    while (i < side->stack_count && i < other->stack_count &&
           is_same_place(&side->stack[i], &other->stack[i])) {
        i++;
    }
    return i > 0 && i < side->stack_count && side->stack[i].file ? &side->stack[i] : NULL;
}

static void print_caller(struct strbuf *out, const struct report_op *side,
                         const struct report_op *other)
{
    const struct place *caller = caller_of(side, other);
    struct strbuf text = {0};
    if (caller) {
        strbuf_puts(&text, "called at ");
        words_place_full(&text, caller);
        layout_wrap(out, NULL, strbuf_text(&text));
    }
    out->failed |= text.failed;
    strbuf_finish(&text);
}

/* The two sides, in cells of the same widths. */
struct sides {
    struct row rows[2];
    size_t widths[CELL_COUNT];
    size_t what[2]; /* of the name and of the verb in the first cell */
};

static void fill_sides(struct sides *sides, const struct report *report,
                       const struct finding *finding, size_t buffer_columns)
{
    const struct finding_side *both[2] = {&finding->first, &finding->then};
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < CELL_COUNT; k++) {
            strbuf_clear(&sides->rows[i].cells[k]);
        }
        fill_row(&sides->rows[i], report, finding, both[i], sides->what, buffer_columns);
    }
    for (size_t k = 0; k < CELL_COUNT; k++) {
        sides->widths[k] = layout_larger(layout_columns(&sides->rows[0].cells[k]),
                                         layout_columns(&sides->rows[1].cells[k]));
    }
}

/* Whether a row needs two lines; then the first cell has the columns that the second one leaves,
 * and its buffer is cut for the name. */
static bool is_broken(struct sides *sides, const struct report *report,
                      const struct finding *finding)
{
    size_t total = LAYOUT_INDENT, room, used;
    for (size_t k = 0; k < CELL_COUNT; k++) {
        total += sides->widths[k] + (sides->widths[k] > 0 && k > 0 ? 3 : 0);
    }
    if (total <= REPORT_COLUMNS) {
        return false;
    }
    room = sides->widths[1] < CELL_COLUMNS - 2 ? sides->widths[1] : CELL_COLUMNS - 2;
    room = REPORT_COLUMNS - LAYOUT_INDENT - 3 - room;
    used = sides->what[0] + sides->what[1] + 2;
    if (sides->widths[0] > room) {
        const size_t lacks = used + BUFFER_COLUMNS > room ? used + BUFFER_COLUMNS - room : 0;
        sides->what[0] -= lacks; /* at most NAME_COLUMNS, of a row that has CELL_COLUMNS */
        fill_sides(sides, report, finding, room + lacks - used);
        sides->widths[0] = sides->widths[0] < room ? sides->widths[0] : room;
    }
    return true;
}

void text_sides(struct strbuf *out, const struct report *report, const struct finding *finding)
{
    const struct report_op *first = words_op(report, finding->first.op);
    const struct report_op *then = words_op(report, finding->then.op);
    struct sides sides = {0};
    struct strbuf names[2] = {0};
    if (!first || !then) {
        return;
    }
    side_name(&names[0], report, &finding->first, NAME_COLUMNS);
    side_name(&names[1], report, &finding->then, NAME_COLUMNS);
    sides.what[0] = layout_larger(layout_columns(&names[0]), layout_columns(&names[1]));
    sides.what[1] = layout_larger(strlen(words_verb(report, &finding->first)),
                                  strlen(words_verb(report, &finding->then)));
    fill_sides(&sides, report, finding, NAME_COLUMNS);
    const bool broken = is_broken(&sides, report, finding);
    print_row(out, "first", &sides.rows[0], sides.widths, broken);
    print_caller(out, first, then);
    print_row(out, "then", &sides.rows[1], sides.widths, broken);
    print_caller(out, then, first);
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < CELL_COUNT; k++) {
            out->failed |= sides.rows[i].cells[k].failed;
            strbuf_finish(&sides.rows[i].cells[k]);
        }
        strbuf_finish(&names[i]);
    }
}
