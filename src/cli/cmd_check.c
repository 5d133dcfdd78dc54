/* `streamsan check TRACE...`: the verdict again, from kept traces or listings. */
#include "cli/commands.h"
#include "cli/feed.h"
#include "cli/judge.h"
#include "cli/output.h"

#include "base/mem.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

static int check(const struct options *options, const struct timespec *begun)
{
    struct judge judge = {.options = options, .verb = "check", .begun = *begun};
    size_t count = (size_t)options->argument_count, i;
    struct feed *feeds = mem_zalloc(count, sizeof *feeds);
    struct ssan_error err = {.status = SSAN_NO_MEMORY, .text = "out of memory"};
    enum ssan_status status = feeds ? output_probe(options->output, &err) : SSAN_NO_MEMORY;
    int code = status ? command_fail("check", &err) : 0;
    for (i = 0; i < count && status == SSAN_OK; i++) {
        if (judge_read(&feeds[i], options->arguments[i], options, &err)) {
            int failed = command_fail("check", &err); /* all of them are named, the first counts */
            code = code ? code : failed;
        }
    }
    code = code ? code : judge_print(&judge, feeds, count);
    for (i = 0; feeds && i < count; i++) {
        feed_close(&feeds[i]);
    }
    mem_free(feeds);
    return code;
}

int cmd_check(int argc, char **argv)
{
    struct options options;
    struct timespec begun;
    struct ssan_error err = {0};
    int code;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    signal(SIGPIPE, SIG_IGN); /* a reader that goes does not change the exit code */
    if (options_read(&options, VERB_CHECK, argc, argv, getenv("STREAMSAN_OPTIONS"), &err)) {
        code = command_usage("check", &err);
    } else if (options.help) {
        code = command_help("check");
    } else if (options.argument_count == 0) {
        ssan_fail(&err, SSAN_USAGE, 0, "a trace is missing");
        code = command_usage("check", &err);
    } else {
        code = check(&options, &begun);
    }
    options_finish(&options);
    return code;
}
