/* The folder of one run: the control page and the plan, and the live traces and memory that targets
 * put there (control_abi.h).
 *
 * Owned by `run`; one thread. */
#ifndef SSAN_CLI_FOLDER_H
#define SSAN_CLI_FOLDER_H

#include "base/status.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct control_page;
struct plan;
struct observe_plan;

/* What the targets of a run are told. Zeroed members: none, or the default. */
struct folder_options {
    const char *parent;   /* the folder is made in here; NULL: TMPDIR, else /tmp */
    const char *schedule; /* what --schedule got */
    const struct plan *plan;
    const struct observe_plan *observe; /* for targets on a GPU */
    uint32_t flags;                     /* CONTROL_* */
    uint32_t devices;                   /* virtual ones */
    uint64_t snapshot_limit_bytes;
    uint64_t plan_limit_ms;
};

struct folder {
    char *directory;
    struct control_page *page;
    VEC(char *) seen;    /* names of live traces that were given out */
    VEC(uint64_t) early; /* requests seen ahead of a smaller one */
    uint64_t answered;   /* all requests up to this one have been seen */
};

/* Makes a new, empty folder in `parent` (NULL: TMPDIR, else /tmp); free(*directory). SSAN_IO,
 * SSAN_FULL, SSAN_NO_MEMORY. */
enum ssan_status folder_make(const char *parent, char **directory, struct ssan_error *err);

/* Makes the folder, the page, and the files of plans that say more than their defaults. SSAN_IO,
 * SSAN_FULL, SSAN_NO_MEMORY. Until folder_close a fault of the tool removes it too. */
enum ssan_status folder_open(struct folder *folder, const struct folder_options *options,
                             struct ssan_error *err);

/* The path of a live trace that was not given out yet, in order of names; mem_free. NULL: none, or
 * out of memory. */
char *folder_next_trace(struct folder *folder);

/* Target asked for findings with this number (query_findings); `findings` is right up to this event
 * of its trace. */
void folder_answer(struct folder *folder, uint64_t request, uint64_t findings);

/* Removes the folder and all that is in it. */
void folder_close(struct folder *folder);

#endif
