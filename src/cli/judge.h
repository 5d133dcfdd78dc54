/* From the feeds of a run, or the traces of a check, to one report and one verdict. */
#ifndef SSAN_CLI_JUDGE_H
#define SSAN_CLI_JUDGE_H

#include "cli/feed.h"
#include "cli/options.h"

#include "report/report.h"

#include <time.h>

/* In place of a schedule: the GPU runs things when it does. */
#define GPU_SCHEDULE "gpu"

/* How the program ended, as far as its trace does not tell. */
struct judge_end {
    bool known;
    int code, end_signal;
};

struct judge {
    const struct options *options;
    const char *verb;
    struct timespec begun;
    bool (*stop)(void *self); /* may be NULL: ends re-checking early */
    void *stop_self;
    char *const *command; /* NULL: as the trace says */
    struct judge_end end;
    const char **reasons; /* further losses, in words; borrowed */
    size_t reason_count;
    bool reason_lost; /* there was a further one, for which there was no memory */
    int clean_code;
    bool gpu;   /* what the run is for, where no trace says it */
    bool spare; /* keep rows for allocations and streams that no finding names, for `adorn` */
    /* Adds facts to the report before it is printed. May be NULL. */
    void (*adorn)(void *self, struct report *report);
    void *adorn_self;
};

/* Explains every finished feed, prints the report where the options say and the verdict line to
 * stderr; returns the exit code. Findings of several feeds make one report. */
int judge_print(const struct judge *judge, struct feed *feeds, size_t count);

/* Reads one trace into a feed, to its end. A damaged or foreign one is an error of the input, not a
 * verdict. The feed is to be closed in any case. */
enum ssan_status judge_read(struct feed *feed, const char *path, const struct options *options,
                            struct ssan_error *err);

/* The report of one finished feed, suppressions applied, without printing; `report` is zeroed and
 * wants report_finish. */
void judge_report(struct report *report, const struct judge *judge, struct feed *feed);

/* The same of a run that has no trace to look at. */
void judge_nothing(struct report *report, const struct judge *judge);

/* Whether text for a descriptor gets colours. */
bool judge_wants_color(const struct options *options, int fd);

/* The end of a verb: writes `text` to --output, or to the descriptor `otherwise` without one, names
 * suppressions that fit nothing, and prints the verdict line to stderr, with `first` (may be NULL)
 * in front of its counts. Returns the exit code. Where the text can't be written, or there is no
 * memory for the line, nothing is clean: *verdict is then incomplete. */
int judge_finish(const struct judge *judge, struct report *report, struct verdict *verdict,
                 const struct strbuf *text, int otherwise, const struct strbuf *first);

#endif
