/* One trial, inside its process: files for the program's input and output, the run, and what is
 * kept of it.
 *
 * The folder of the session stands inside that of the trial, so a fault here leaves nothing that
 * the parent does not remove. */
#include "cli/trial_child.h"

#include "cli/follow.h"

#include "trace/plan.h"

#include "base/elapsed.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT_BYTES (UINT64_C(256) << 20) /* of each of the program's two outputs */

/* The program's input: a regular file from its beginning, so that each trial reads the same. */
static int open_input(void)
{
    struct stat info;
    int fd = -1;
    if (fstat(STDIN_FILENO, &info) == 0 && S_ISREG(info.st_mode)) {
        fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
    }
    return fd >= 0 ? fd : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int create(const char *directory, const char *name)
{
    struct strbuf path = {0};
    int fd = -1, error;
    strbuf_printf(&path, "%s/%s", directory, name);
    errno = ENOMEM;
    if (!path.failed) {
        fd = open(strbuf_text(&path), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    }
    error = errno;
    strbuf_finish(&path);
    errno = error;
    return fd;
}

/* Moves a descriptor above the three standard ones, which the tool may have been started without.
 */
static int lift(int fd)
{
    int lifted = fd;
    if (fd >= 0 && fd <= STDERR_FILENO) {
        lifted = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(fd);
    }
    return lifted;
}

static enum ssan_status open_files(const char *directory, int files[3], struct ssan_error *err)
{
    files[0] = lift(open_input());
    files[1] = lift(create(directory, TRIAL_STDOUT));
    files[2] = lift(create(directory, TRIAL_STDERR));
    if (files[0] < 0 || files[1] < 0 || files[2] < 0) {
        return file_fail(err, errno, "can't create the files of a trial in", directory);
    }
    return SSAN_OK;
}

/* What the device kept of memory stands beside its live trace. */
static void keep_memory(const struct feed *feed, size_t n, const char *directory)
{
    struct strbuf from = {0}, to = {0};
    strbuf_printf(&from, "%s." TRIAL_MEMORY, feed->path);
    strbuf_printf(&to, n ? "%s/" TRIAL_MEMORY ".%zu" : "%s/" TRIAL_MEMORY, directory, n + 1);
    if (!from.failed && !to.failed) {
        (void)rename(strbuf_text(&from), strbuf_text(&to)); /* fails when there is none */
    }
    strbuf_finish(&from);
    strbuf_finish(&to);
}

static void add_feed(struct trial_result *result, struct feed *feed)
{
    const struct engine_totals *totals;
    size_t i;
    feed_finish(feed);
    totals = engine_totals(feed->engine);
    result->operations += totals->operations;
    result->errors += feed_count(feed, SEVERITY_ERROR);
    result->warnings += feed_count(feed, SEVERITY_WARNING);
    result->forced |= totals->progress_forced;
    result->whole &= feed->state == FEED_WHOLE && totals->exited && totals->open_operations == 0;
    for (i = 0; i < ssan_loss_count; i++) {
        result->whole &= totals->lost[i] == 0;
    }
    if (feed->infeasible[0] && !result->infeasible) {
        result->infeasible = true;
        snprintf(result->infeasible_text, sizeof result->infeasible_text, "%s", feed->infeasible);
    }
    result->gates.told += feed->gates.told;
    result->gates.by_partner += feed->gates.by_partner;
    result->gates.by_limit += feed->gates.by_limit;
    result->gates.submitted |= feed->gates.submitted;
    if (feed->keep_error.status != SSAN_OK && result->status == SSAN_OK) {
        result->status = feed->keep_error.status;
        snprintf(result->text, sizeof result->text, "the trace could not be kept: %.450s",
                 feed->keep_error.text);
    }
}

static void fill_result(struct trial_result *result, struct follow *follow, const char *directory)
{
    size_t i;
    result->code = follow->target.code;
    result->end_signal = follow->target.end_signal;
    result->timed_out = follow->timed_out;
    result->flooded = follow->flooded;
    result->processes = (uint32_t)follow->feeds.count;
    result->whole = follow->feeds.count > 0 && follow->reasons.count == 0 && !follow->reason_lost;
    for (i = 0; i < follow->feeds.count; i++) {
        add_feed(result, &follow->feeds.items[i]);
        keep_memory(&follow->feeds.items[i], i, directory);
    }
    result->seconds = seconds_since(&follow->begun);
}

void trial_child(const struct trial *trial, const char *directory, struct trial_result *result)
{
    struct strbuf kept = {0};
    int files[3];
    struct follow_options how = {
        .arguments = trial->arguments,
        .folder = {.parent = directory,
                   .schedule = trial->schedule ? trial->schedule
                               : trial->plan   ? trial->plan->policy
                                               : "eager",
                   .plan = trial->plan,
                   .observe = trial->observe,
                   .flags = trial->flags,
                   .devices = trial->devices,
                   .snapshot_limit_bytes = trial->snapshot_limit_bytes,
                   .plan_limit_ms = trial->plan_limit_ms},
        .engine = trial->engine,
        .directory = trial->directory,
        .documented = trial->documented,
        .environment = trial->environment,
        .trial = true,
        .limit_seconds = trial->limit_seconds,
        .output_bytes = OUTPUT_BYTES,
        .files = files,
    };
    struct follow follow = {0};
    struct ssan_error err = {0};
    strbuf_printf(&kept, "%s/" TRIAL_TRACE, directory);
    how.kept = strbuf_text(&kept);
    result->status = kept.failed ? ssan_no_memory(&err) : open_files(directory, files, &err);
    if (!result->status) {
        result->status = follow_run(&follow, &how, &err);
    }
    if (result->status) {
        snprintf(result->text, sizeof result->text, "%s", err.text);
    } else {
        fill_result(result, &follow, directory);
    }
    follow_finish(&follow);
    strbuf_finish(&kept);
}
