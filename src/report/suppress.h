/* Suppressions: entries of the user's that hide findings, each with a reason
 * (docs/suppressions.md).
 *
 * An entry hides exactly what it fits: a finding that is folded into a hidden one, and that no
 * entry fits, is told in its place. Hidden findings stay in the report, so JSON holds them. Nothing
 * here reads files: the entries come from the caller. One thread. */
#ifndef SSAN_REPORT_SUPPRESS_H
#define SSAN_REPORT_SUPPRESS_H

#include "base/strbuf.h"
#include "core/finding.h"

#include <stdbool.h>

/* Whether all that the entry asks for holds for the finding. `buffer` and `kernel` are globs
 * (fnmatch without flags); a finding without a buffer fits no entry that asks for one. */
bool suppress_fits(const struct suppression *entry, const struct report *report,
                   const struct finding *finding);

/* Hides what the entries fit and counts their use. Call it once, on the whole report. `entries` is
 * borrowed as long as the report lives. Cost: findings x entries. False when out of memory: some
 * findings may then be told although an entry fits them, none is lost. */
bool suppress_apply(struct report *report, struct suppression *entries, size_t count);

/* Appends the entry that fits this finding and no other: lines `- rule: ...`, each behind `indent`
 * spaces. */
void suppress_entry(struct strbuf *out, const struct finding *finding, size_t indent);
/* Appends entries for all findings that are told, and for those folded into them, each under a
 * comment with its place and sentence: a file that the reader of suppressions takes. */
void suppress_entries(struct strbuf *out, const struct report *report);

/* Appends what an entry asks for: "rule SSAN-RAW, buffer 'dev'". */
void suppress_words(struct strbuf *out, const struct suppression *entry);

#endif
