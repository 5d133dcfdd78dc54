/* The verdict on a run: clean, errors or incomplete, decided here and nowhere else.
 *
 * Errors stand over incomplete, incomplete over clean. Warnings and advice change nothing. What
 * makes a run incomplete is listed once, in verdict.c. */
#ifndef SSAN_REPORT_VERDICT_H
#define SSAN_REPORT_VERDICT_H

#include "base/strbuf.h"
#include "core/finding.h"

#define EXIT_CODE_FINDINGS   66
#define EXIT_CODE_INCOMPLETE 67

enum verdict_kind { VERDICT_CLEAN, VERDICT_ERRORS, VERDICT_INCOMPLETE };

struct verdict {
    enum verdict_kind kind;
    bool complete; /* no loss inside the scope; also told beside errors */
    size_t errors, warnings, advice, folded;
    size_t suppressed;   /* folded ones included; counted nowhere else */
    size_t by_family[3]; /* errors, by enum family */
    int exit_code;
    const char *first; /* said in front of the counts, "7 of 10 orders wrong"; NULL: nothing */
};

/* `clean_code`: what the tool ends with when the verdict is clean (the program's own code; 0 for
 * `check`). `error_code`: what it ends with for an error finding; 0 means 66. */
struct verdict verdict_decide(const struct report *report, int clean_code, int error_code);

/* "clean", "errors", "incomplete" */
const char *verdict_word(enum verdict_kind kind);

/* The observation scope of host accesses: annotated when the trace holds announced ones and nothing
 * stronger was on. */
enum ssan_host_scope verdict_host_scope(const struct report *report);

/* Appends the last line, "streamsan: clean: ...", with its newline. */
void verdict_line(struct strbuf *out, const struct report *report, const struct verdict *verdict);

#endif
