/* What the three forms of a trace have in common inside the reader. Private to the reader's files.
 */
#ifndef SSAN_TRACE_READER_FORM_H
#define SSAN_TRACE_READER_FORM_H

#include "trace/reader.h"
#include "trace/record.h"

#include <sys/types.h>

struct reader_form {
    /* Never called again behind an end or an error, until a rewind. */
    enum ssan_next (*next)(struct reader *reader, struct ssan_event *event, struct ssan_error *err);
    bool (*rewind)(struct reader *reader);
    uint64_t (*bytes)(const struct reader *reader);
    void (*release)(struct reader *reader); /* may be NULL: nothing to give back */
    void (*close)(struct reader *reader);   /* frees the reader too */
};

struct reader {
    struct ssan_source source; /* first, so that a source is its reader */
    const struct reader_form *form;
    uint64_t position;
    enum ssan_next ended; /* SSAN_NEXT_EVENT while it goes on */
    struct ssan_error error;
};

/* Each takes `fd` over on success. `path` is for messages and borrowed for the call (live: until
 * closed, see there). */
enum ssan_status live_open(struct reader **reader, const char *path, int fd,
                           struct ssan_error *err);
enum ssan_status kept_open(struct reader **reader, const char *path, int fd,
                           struct ssan_error *err);
/* Takes the text (mem_free) on success when `owned`. */
enum ssan_status listing_open(struct reader **reader, const char *name, char *text, size_t length,
                              bool owned, struct ssan_error *err);

/* Reads up to `bytes` at `offset`, less only at the end of the file; -1 on an error (errno). */
ssize_t read_at(int fd, void *to, size_t bytes, uint64_t offset);

/* SSAN_VERSION unless version and vocabulary are ours. */
enum ssan_status version_check(const char *path, uint32_t version, uint64_t vocabulary,
                               struct ssan_error *err);

/* Turns a fault into an error at `position`. */
enum ssan_status fault_fail(struct ssan_error *err, const char *path, uint64_t position,
                            const struct record_fault *fault);

#endif
