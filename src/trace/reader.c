/* Opens a trace of any form and keeps what the forms share: how it ended, and the error that
 * sticks. */
#include "trace/reader.h"

#include "trace/listing.h"
#include "trace/reader_form.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_STEP = 1 << 16 };

static enum ssan_next next(struct ssan_source *source, struct ssan_event *event,
                           struct ssan_error *err)
{
    struct reader *reader = (struct reader *)source;
    if (reader->ended == SSAN_NEXT_EVENT) {
        enum ssan_next got = reader->form->next(reader, event, &reader->error);
        if (got == SSAN_NEXT_EVENT || got == SSAN_NEXT_WAIT) {
            return got;
        }
        reader->ended = got;
    }
    if (reader->ended == SSAN_NEXT_ERROR && err) {
        *err = reader->error;
    }
    return reader->ended;
}

static bool go_back(struct ssan_source *source)
{
    struct reader *reader = (struct reader *)source;
    if (!reader->form->rewind(reader)) {
        return false;
    }
    reader->ended = SSAN_NEXT_EVENT;
    reader->position = 0;
    return true;
}

ssize_t read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t got = offset + done > INT64_MAX
                          ? 0
                          : pread(fd, (char *)to + done, bytes - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -1;
        }
        if (got == 0) {
            break;
        }
        done += (size_t)got;
    }
    return (ssize_t)done;
}

enum ssan_status version_check(const char *path, uint32_t version, uint64_t vocabulary,
                               struct ssan_error *err)
{
    if (version != SSAN_TRACE_VERSION) {
        return ssan_fail(err, SSAN_VERSION, 0,
                         "%s is a trace of version %u, this streamsan reads version %u: record it "
                         "again, or read it with the %s streamsan that wrote it",
                         path, version, SSAN_TRACE_VERSION,
                         version < SSAN_TRACE_VERSION ? "older" : "newer");
    }
    if (vocabulary != record_vocabulary()) {
        return ssan_fail(err, SSAN_VERSION, 0,
                         "%s was written by another build of streamsan with other events: record "
                         "it again, or read it with the build that wrote it",
                         path);
    }
    return SSAN_OK;
}

enum ssan_status fault_fail(struct ssan_error *err, const char *path, uint64_t position,
                            const struct record_fault *fault)
{
    return ssan_fail(err, SSAN_FORMAT, position, "%s is damaged at byte %llu: event %s%s%s: %s",
                     path, (unsigned long long)position, fault->event, fault->field ? ", " : "",
                     fault->field ? fault->field : "", fault->what);
}

/* The rest of `fd` as memory of our own. */
static enum ssan_status read_text(const char *path, int fd, char **text, size_t *length,
                                  struct ssan_error *err)
{
    char *all = NULL;
    size_t room = 0, used = 0;
    for (;;) {
        if (used == room) {
            char *more = mem_resize(all, room ? room * 2 : TEXT_STEP, 1);
            if (!more) {
                mem_free(all);
                return ssan_fail(err, SSAN_NO_MEMORY, 0, "%s: out of memory", path);
            }
            all = more;
            room = room ? room * 2 : TEXT_STEP;
        }
        ssize_t got = read(fd, all + used, room - used);
        if (got < 0 && errno != EINTR) {
            mem_free(all);
            return ssan_fail(err, SSAN_IO, used, "%s: %s", path, strerror(errno));
        }
        if (got == 0) {
            break;
        }
        used += got > 0 ? (size_t)got : 0;
    }
    *text = all;
    *length = used;
    return SSAN_OK;
}

static enum ssan_status open_text(struct reader **reader, const char *path, int fd,
                                  struct ssan_error *err)
{
    char *text = NULL;
    size_t length = 0;
    enum ssan_status status = read_text(path, fd, &text, &length, err);
    if (status != SSAN_OK) {
        return status;
    }
    status = listing_open(reader, path, text, length, true, err);
    if (status != SSAN_OK) {
        mem_free(text);
    }
    return status;
}

static bool is_text(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)bytes[i] < ' ' && !strchr("\t\n\v\f\r", bytes[i])) {
            return false;
        }
    }
    return length > 0;
}

/* Tells the forms apart by the first bytes. */
static enum ssan_status open_file(struct reader **reader, const char *path, int fd,
                                  struct ssan_error *err)
{
    static const char text_mark[] = "streamsan-listing";
    char first[sizeof text_mark - 1] = {0};
    uint64_t magic = 0;
    struct stat at;
    if (fstat(fd, &at) == 0 && S_ISDIR(at.st_mode)) {
        return ssan_fail(err, SSAN_IO, 0, "%s is a directory, not a trace", path);
    }
    ssize_t got = read_at(fd, first, sizeof first, 0);
    if (got < 0) {
        return ssan_fail(err, SSAN_IO, 0, "%s: %s", path, strerror(errno));
    }
    memcpy(&magic, first, sizeof magic);
    if (magic == LIVE_MAGIC || magic == KEPT_MAGIC) {
        return magic == LIVE_MAGIC ? live_open(reader, path, fd, err)
                                   : kept_open(reader, path, fd, err);
    }
    if (got == sizeof first && memcmp(first, text_mark, sizeof first) == 0) {
        enum ssan_status status = open_text(reader, path, fd, err);
        if (status == SSAN_OK) {
            close(fd);
        }
        return status;
    }
    if (got == 0) {
        return ssan_fail(err, SSAN_FORMAT, 0, "%s is empty, not a trace", path);
    }
    if ((size_t)got < sizeof magic && (memcmp(first, "SSANLVE1", (size_t)got) == 0 ||
                                       memcmp(first, "SSANKPE1", (size_t)got) == 0)) {
        return ssan_fail(err, SSAN_TRUNCATED, (uint64_t)got, "%s is cut off within its header",
                         path);
    }
    return ssan_fail(err, SSAN_FORMAT, 0,
                     is_text(first, (size_t)got)
                         ? "%s is not a trace; a listing begins with the line `" LISTING_FIRST_LINE
                           "`"
                         : "%s is not a trace of streamsan",
                     path);
}

enum ssan_status reader_open(struct reader **reader, const char *path, struct ssan_error *err)
{
    bool is_input = strcmp(path, "-") == 0;
    int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return ssan_fail(err, SSAN_IO, 0, "%s: %s", path, strerror(errno));
    }
    enum ssan_status status =
        is_input ? open_text(reader, "standard input", fd, err) : open_file(reader, path, fd, err);
    if (status == SSAN_OK) {
        (*reader)->source = (struct ssan_source){next, go_back};
    } else if (!is_input) {
        close(fd);
    }
    return status;
}

enum ssan_status reader_open_listing(struct reader **reader, const char *name, const char *text,
                                     size_t length, struct ssan_error *err)
{
    enum ssan_status status = listing_open(reader, name, (char *)text, length, false, err);
    if (status == SSAN_OK) {
        (*reader)->source = (struct ssan_source){next, go_back};
    }
    return status;
}

struct ssan_source *reader_source(struct reader *reader)
{
    return &reader->source;
}

uint64_t reader_position(const struct reader *reader)
{
    return reader->position;
}

uint64_t reader_bytes(const struct reader *reader)
{
    return reader->form->bytes(reader);
}

void reader_release(struct reader *reader)
{
    if (reader->form->release) {
        reader->form->release(reader);
    }
}

void reader_close(struct reader *reader)
{
    if (reader) {
        reader->form->close(reader);
    }
}
