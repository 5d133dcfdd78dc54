/* From findings to bytes: the text, short and JSON forms of a report (docs/report.md).
 *
 * Emitters have words, finding.h has facts: nothing here decides what is a finding, and nothing
 * here reads files. All forms are functions of struct report and struct verdict alone, so equal
 * reports give equal bytes. One thread. */
#ifndef SSAN_REPORT_REPORT_H
#define SSAN_REPORT_REPORT_H

#include "base/strbuf.h"
#include "core/finding.h"
#include "report/verdict.h"

/* Findings printed in full; the rest is counted. Verbose mode prints all. */
#define REPORT_MAX_PRINTED 50
/* Columns of a line in the body; titles are never wrapped. */
#define REPORT_COLUMNS 100

struct text_options {
    bool color;
    bool verbose;        /* all findings, stacks of both operations */
    bool quiet;          /* nothing but the verdict */
    bool with_addresses; /* the only way to a pointer in the text */
};

/* Appends the findings and the device fault, without the verdict line. Appends nothing for a report
 * without either. Running out of memory shows as out->failed. */
void report_text(struct strbuf *out, const struct report *report,
                 const struct text_options *options);

/* Appends one line a finding, its title with `id=` behind it: for logs. Findings that a suppression
 * hides are left out, nothing is cut off. */
void report_short(struct strbuf *out, const struct report *report, bool color);

/* Appends one JSON object (schema streamsan-report/1, two spaces of indent) and a newline. False
 * when out of memory. */
bool report_json(struct strbuf *out, const struct report *report, const struct verdict *verdict,
                 bool with_addresses);

/* Appends the tables and findings of `more` to `into`, with ids numbered on behind those of `into`:
 * several processes of one run make one report. `place` (from 2) tells the labels of the processes
 * apart. Everything is borrowed: `more` must live as long as `into`. False when out of memory;
 * `into` is then good for report_finish only. */
bool report_merge(struct report *into, const struct report *more, unsigned place);

#endif
