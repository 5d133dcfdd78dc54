/* Trials: the program run again and again, each time under a schedule of its own, several at once.
 *
 * Each trial is a child process of the tool that does what `streamsan run` does and leaves what it
 * saw in a folder of its own (TRIAL_* below). The program's output goes to files there. Its input
 * is the tool's standard input, read from its beginning by each trial, where that is a regular
 * file, else nothing. Results come in order of start. A signal that asks the tool to end
 * ends all trials. One thread; no target_watch beside it. */
#ifndef SSAN_CLI_TRIAL_H
#define SSAN_CLI_TRIAL_H

#include "cli/feed.h"
#include "core/engine.h"

#include "base/status.h"
#include "base/vec.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct observe_plan;
struct plan;

/* Files in the folder of a trial. Of further processes of the program, trace.2, memory.2, ... */
#define TRIAL_TRACE  "trace"  /* compressed, as `run --trace` keeps it */
#define TRIAL_MEMORY "memory" /* with CONTROL_SNAPSHOT (trace/snapshot_abi.h) */
#define TRIAL_STDOUT "stdout"
#define TRIAL_STDERR "stderr"

/* What to run. Borrowed for trials_start only. Zeroed members: none, or the default. */
struct trial {
    char **arguments;
    const char *schedule;    /* words for the trace; NULL: the plan's policy, else eager */
    const struct plan *plan; /* NULL: what `schedule` says, which is a policy then */
    const struct observe_plan *observe; /* for the GPU; NULL: everything, exactly */
    const char *const *environment;     /* further words for the program (target.h) */
    uint32_t flags;                     /* CONTROL_* */
    uint32_t devices;                   /* virtual ones */
    uint64_t snapshot_limit_bytes;
    uint64_t plan_limit_ms; /* for a plan that can't be followed */
    double limit_seconds;   /* then the program is killed */
    struct engine_options engine;
    bool documented;       /* what counts as an error finding */
    const char *directory; /* sites are resolved against it; NULL: not at all, which saves time */
};

struct trial_result {
    size_t number;           /* from 0, in order of start */
    const char *directory;   /* until trials_drop or trials_close */
    enum ssan_status status; /* SSAN_OK: the program ran; else `text` says why not */
    char text[512];
    int code;                /* exit code of the program, 128+n when a signal ended it */
    int end_signal;          /* 0: none */
    bool timed_out, flooded; /* it was killed: over its time, or its output was too long */
    bool infeasible;         /* the plan could not be followed: `infeasible_text` */
    char infeasible_text[256];
    struct feed_gates gates; /* of kernels that were held on a GPU */
    bool forced;             /* the device ran something by itself: can't be replayed */
    bool whole;              /* every trace came to its end, and with it every operation */
    uint32_t processes;      /* traces */
    uint64_t operations;
    uint64_t errors, warnings; /* findings */
    double seconds;
};

struct trial_slot;

struct trials {
    char *directory; /* of all trials */
    unsigned jobs;
    VEC(struct trial_slot *) slots; /* in order of start; NULL once given out and dropped */
    size_t next;                    /* the first that was not given out */
    size_t running;
    const char *slow; /* told once when a result takes longer than ten seconds; NULL: nothing */
    bool watches;     /* the next two are in use */
    int signals;      /* signalfd */
    sigset_t old_mask;
    int interrupted; /* the signal that asked for an end; 0: none */
    struct timespec interrupted_at;
    struct trial_result failed; /* what trials_run gives for a trial that did not start */
};

/* Makes the folder below TMPDIR (else /tmp) and takes over the signals. `jobs` trials run at once
 * (0: one for each core). SSAN_IO, SSAN_FULL, SSAN_NO_MEMORY. Needs trials_close in any case. */
enum ssan_status trials_open(struct trials *trials, unsigned jobs, struct ssan_error *err);

/* True when trials_start would not have to wait for the end of another one. */
bool trials_has_room(const struct trials *trials);

/* Starts a trial as soon as there is room. SSAN_INTERNAL once a signal has asked for an end, or
 * when no process can be started; what goes wrong later stands in the result. */
enum ssan_status trials_start(struct trials *trials, const struct trial *trial,
                              struct ssan_error *err);

/* Waits for the oldest trial whose result was not given out. NULL: there is none. Valid until
 * trials_drop or trials_close. */
const struct trial_result *trials_next(struct trials *trials);

/* One trial from start to end, none other being under way. Never NULL, also when it can't be
 * started. */
const struct trial_result *trials_run(struct trials *trials, const struct trial *trial);

/* Removes the folder of a trial that was given out, and its result. NULL is fine. */
void trials_drop(struct trials *trials, const struct trial_result *result);

/* Takes signals that wait; the one that asked the tool to end, 0: none. */
int trials_interrupted(struct trials *trials);

/* Ends what still runs, removes the folder and gives the signals back. Zeroed is fine. */
void trials_close(struct trials *trials);

#endif
