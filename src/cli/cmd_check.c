/* `streamsan check TRACE...`: the verdict again, from kept traces or listings. */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/feed.h"
#include "cli/judge.h"
#include "cli/output.h"

#include "base/mem.h"

#include <stdlib.h>
#include <time.h>

static int check(const struct options *options)
{
    struct judge judge = {.options = options, .verb = "check"};
    size_t count = (size_t)options->argument_count, i;
    struct feed *feeds = mem_zalloc(count, sizeof *feeds);
    struct ssan_error err = {.status = SSAN_NO_MEMORY, .text = "out of memory"};
    enum ssan_status status = feeds ? output_probe(options->output, &err) : SSAN_NO_MEMORY;
    int code = status ? command_fail("check", &err) : 0;
    clock_gettime(CLOCK_MONOTONIC, &judge.begun);
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
