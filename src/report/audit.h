/* From the facts of an audit to bytes: the lines of `streamsan audit` and their JSON form
 * (docs/audit.md).
 *
 * Both are functions of struct audit and the verdicts alone; the `run` of each report must be
 * filled. One thread. */
#ifndef SSAN_REPORT_AUDIT_H
#define SSAN_REPORT_AUDIT_H

#include "audit/audit.h"
#include "report/report.h"

/* Appends a block for each call site, `FILE:LINE: load-bearing ...` or `FILE:LINE: redundant ...`,
 * and the summary; `titles_only`: without bodies. Running out of memory shows as out->failed. */
void report_audit_text(struct strbuf *out, const struct audit *audit, const struct verdict *verdict,
                       const struct text_options *options, bool titles_only);

/* Appends one JSON object (schema streamsan-audit/1) and a newline; `assumed` is the verdict on
 * `audit->assumed`, for which it counts only. False when out of memory. */
bool report_audit_json(struct strbuf *out, const struct audit *audit, const struct verdict *verdict,
                       const struct verdict *assumed, const struct text_options *options);

#endif
