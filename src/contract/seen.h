/* What a run left, and what of it is not as a contract wants it. */
#ifndef SSAN_CONTRACT_SEEN_H
#define SSAN_CONTRACT_SEEN_H

#include "contract/plan.h"

#include "base/strbuf.h"

/* A check that was found, with its first message. */
struct seen_finding {
    const char *rule, *message, *file; /* file NULL: unknown */
    unsigned line, count;
};

/* All texts lie in `arena`. */
struct seen {
    int code;               /* of the program itself */
    const char *verdict;    /* "clean", "errors", "incomplete" */
    const char *lost;       /* why the run can't be judged as asked; NULL: it can */
    bool complete, crashed; /* crashed: a signal ended it */
    VEC(struct seen_finding) errors;
    struct strbuf output; /* the program's standard output */
};

/* Reads `folder`/report.json and `folder`/stdout. SSAN_FORMAT, SSAN_IO: there is no report, or it
 * is none; SSAN_NO_MEMORY. `seen` needs seen_finish in any case. */
enum ssan_status seen_read(struct seen *seen, const char *folder, struct arena *arena,
                           struct ssan_error *err);
void seen_finish(struct seen *seen);

/* Each says whether it is as wanted, and if not appends the reason to `why`. Texts of the contract
 * are `expanded` already. `why->failed`: out of memory, and nothing is said. */
bool seen_stdout(const struct seen *seen, const char *pattern, struct strbuf *why);

/* A value of the output: `equals`, `min` and `max` expanded, NULL where not given. */
struct seen_value {
    const char *key, *equals, *min, *max;
    double abs, rel;
};
/* Whether the output holds a value of that key. */
bool seen_has(const struct seen *seen, const char *key);
bool seen_value(const struct seen *seen, const struct seen_value *value, struct strbuf *why);

/* Compares the file of a run with what it must hold; both are paths. `*broken` when the latter
 * can't be read, which says nothing of the run. */
bool seen_file(const char *output, const char *expected, const struct spec_file *how, bool *broken,
               struct strbuf *why);

#endif
