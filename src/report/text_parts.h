/* The parts of the text form of one finding, each in its own file, and the layout they share.
 *
 * Invariant: no line of the body is longer than REPORT_COLUMNS; every part puts its text through
 * layout_wrap or layout_elide. A part appends nothing when the finding has nothing for it. */
#ifndef SSAN_REPORT_TEXT_PARTS_H
#define SSAN_REPORT_TEXT_PARTS_H

#include "report/report.h"
#include "report/words.h"

#define LAYOUT_INDENT 13 /* where the text behind a section's word begins */

/* Appends "  word" and `text` from column LAYOUT_INDENT on, wrapped at spaces; `word` NULL
 * continues a section. */
void layout_wrap(struct strbuf *out, const char *word, const char *text);
/* Columns of a text on a terminal (base/columns.h). */
size_t layout_columns(const struct strbuf *text);
static inline size_t layout_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}
/* Appends at most `columns` columns of `text`, the middle replaced by "..." when it is longer. */
void layout_elide(struct strbuf *out, const char *text, size_t columns);
/* Appends at most `columns` columns of `text`, the end replaced by "...". */
void layout_cut(struct strbuf *out, const char *text, size_t columns);

/* "file:line: error: sentence [CHECK]", without a newline. */
void text_title(struct strbuf *out, const struct report *report, const struct finding *finding,
                bool color);
void text_sides(struct strbuf *out, const struct report *report, const struct finding *finding);
void text_order(struct strbuf *out, const struct report *report, const struct finding *finding);
void text_missing(struct strbuf *out, const struct report *report, const struct finding *finding);
void text_fix(struct strbuf *out, const struct report *report, const struct finding *finding);
void text_witness(struct strbuf *out, const struct report *report, const struct finding *finding);
/* " witness=shown replay: streamsan run ..."; nothing for NULL. */
void short_witness(struct strbuf *out, const struct witness *witness);
void text_diagnosis(struct strbuf *out, const struct report *report);

/* The sentence of the nearest miss alone. */
void text_nearest(struct strbuf *out, const struct report *report, const struct finding *finding);

#endif
