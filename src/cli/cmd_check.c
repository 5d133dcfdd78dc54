/* `streamsan check TRACE...`: the verdict again, from kept traces or listings. */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/feed.h"
#include "cli/judge.h"
#include "cli/output.h"

#include "base/arena.h"
#include "base/mem.h"

#include <stdlib.h>
#include <time.h>

/* What was read. A trace that ends within its header holds nothing, as one that ends behind it may:
 * it has no feed, and is a reason why the verdict is incomplete. */
struct traces {
    struct feed *feeds;
    const char **cut; /* what is said of such traces */
    size_t count, cut_count;
    struct arena arena; /* of these words */
};

/* Returns 0, or the exit code of what is wrong, which was told. */
static int read_trace(struct traces *traces, const char *path, const struct options *options)
{
    struct ssan_error err = {0};
    struct feed *feed = &traces->feeds[traces->count];
    const enum ssan_status status = judge_read(feed, path, options, &err);
    if (status != SSAN_TRUNCATED) {
        traces->count++;
        return status ? command_fail("check", &err) : 0;
    }
    feed_close(feed);
    traces->cut[traces->cut_count] = arena_strdup(&traces->arena, err.text);
    if (!traces->cut[traces->cut_count]) {
        ssan_no_memory(&err);
        return command_fail("check", &err);
    }
    traces->cut_count++;
    return 0;
}

static int check(const struct options *options)
{
    struct judge judge = {.options = options, .verb = "check"};
    const size_t count = (size_t)options->argument_count;
    struct traces traces = {.feeds = mem_zalloc(count, sizeof *traces.feeds),
                            .cut = mem_zalloc(count, sizeof *traces.cut)};
    struct ssan_error err = {.status = SSAN_NO_MEMORY, .text = "out of memory"};
    const bool has_room = traces.feeds && traces.cut;
    enum ssan_status status = has_room ? output_probe(options->output, &err) : SSAN_NO_MEMORY;
    int code = status ? command_fail("check", &err) : 0;
    clock_gettime(CLOCK_MONOTONIC, &judge.begun);
    for (size_t i = 0; i < count && status == SSAN_OK; i++) {
        int failed = read_trace(&traces, options->arguments[i], options);
        code = code ? code : failed; /* all of them are named, the first counts */
    }
    judge.reasons = traces.cut;
    judge.reason_count = traces.cut_count;
    code = code ? code : judge_print(&judge, traces.feeds, traces.count);
    for (size_t i = 0; i < traces.count; i++) {
        feed_close(&traces.feeds[i]);
    }
    mem_free(traces.feeds);
    mem_free(traces.cut);
    arena_finish(&traces.arena);
    return code;
}

int cmd_check(int argc, char **argv)
{
    const struct command command = {
        .verb = "check",
        .mask = VERB_CHECK,
        .wants = WANTS_TRACES,
        .has_defaults = true,
        .ignores_pipe = true,
        .act = check,
    };
    return command_run(&command, argc, argv);
}
