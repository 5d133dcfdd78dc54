/* `streamsan dump TRACE`: the listing of a trace, which `check` reads back. The source line of each
 * event stands behind it as a comment. */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/remarks.h"

#include "trace/listing.h"
#include "trace/reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FLUSH_BYTES (1u << 16)

/* Prints what has gathered; false when it can't be written. */
static bool flush(FILE *out, struct strbuf *text)
{
    bool good = !text->failed && fwrite(strbuf_text(text), 1, text->length, out) == text->length;
    strbuf_clear(text);
    return good;
}

/* Lists all events; the state in which the source ended, SSAN_NEXT_WAIT for a trace that still
 * grows. */
static enum ssan_next list(FILE *out, struct ssan_source *source, bool *written,
                           struct ssan_error *err)
{
    struct remarks remarks = {0};
    struct strbuf text = {0};
    struct ssan_event event;
    enum ssan_next next = SSAN_NEXT_ERROR;
    const bool read = remarks_read(&remarks, source, err) == SSAN_OK;
    strbuf_puts(&text, read ? LISTING_FIRST_LINE "\n" : "");
    *written = true;
    while (read && *written && (next = ssan_next(source, &event, err)) == SSAN_NEXT_EVENT) {
        listing_print(&text, &event);
        text.length -= text.length > 0; /* the comment stands in front of the newline */
        remarks_comment(&text, &remarks, &event);
        strbuf_puts(&text, "\n");
        if (text.length > FLUSH_BYTES || text.failed) {
            *written = flush(out, &text);
        }
    }
    *written = *written && flush(out, &text);
    strbuf_finish(&text);
    remarks_finish(&remarks);
    return *written ? next : SSAN_NEXT_ERROR;
}

static int finish(enum ssan_next next, const char *path, struct ssan_error *err)
{
    switch (next) {
    case SSAN_NEXT_ERROR:
        return command_fail("dump", err);
    case SSAN_NEXT_CUT:
        ssan_fail(err, SSAN_TRUNCATED, 0, "%s is cut off: what is whole was listed", path);
        return command_fail("dump", err);
    case SSAN_NEXT_WAIT:
        ssan_fail(err, SSAN_TRUNCATED, 0, "%s is still being written: listed so far", path);
        return command_fail("dump", err);
    case SSAN_NEXT_EVENT:
    case SSAN_NEXT_END:
        break;
    }
    return 0;
}

static int dump(const struct options *options)
{
    struct reader *reader = NULL;
    struct ssan_error err = {0};
    const char *path = options->arguments[0];
    FILE *out = stdout;
    bool written = true;
    enum ssan_next next;
    if (reader_open(&reader, path, &err) != SSAN_OK) {
        return command_fail("dump", &err);
    }
    if (options->output) {
        out = fopen(options->output, "we");
    }
    next = out ? list(out, reader_source(reader), &written, &err) : SSAN_NEXT_ERROR;
    if (!out || !written || fflush(out) != 0 || (out != stdout && fclose(out) != 0)) {
        int error = errno;
        ssan_fail(&err, error == ENOSPC ? SSAN_FULL : SSAN_IO, 0, "can't write %s: %s",
                  options->output ? options->output : "standard output", strerror(error));
        next = SSAN_NEXT_ERROR;
    }
    reader_close(reader);
    return finish(next, path, &err);
}

int cmd_dump(int argc, char **argv)
{
    const struct command command = {
        .verb = "dump",
        .mask = VERB_DUMP,
        .wants = WANTS_TRACE,
        .act = dump,
    };
    return command_run(&command, argc, argv);
}
