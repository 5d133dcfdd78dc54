/* Any bytes as a file: the reader gives events, then one of its ends, twice the same. */
#include "trace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_WAITS = 3 };

static enum ssan_next read_all(struct reader *reader, uint64_t *events)
{
    struct ssan_event event;
    struct ssan_error err;
    enum ssan_next got;
    int waits = 0;
    *events = 0;
    do {
        got = ssan_next(reader_source(reader), &event, &err);
        *events += got == SSAN_NEXT_EVENT;
        waits += got == SSAN_NEXT_WAIT; /* the bytes may name a process that lives */
    } while (got == SSAN_NEXT_EVENT || (got == SSAN_NEXT_WAIT && waits < MOST_WAITS));
    return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[40];
    struct reader *reader;
    struct ssan_error err = {0};
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || (size && write(fd, data, size) != (ssize_t)size)) {
        abort();
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (reader_open(&reader, path, &err) == SSAN_OK) {
        uint64_t first_events, second_events;
        enum ssan_next first = read_all(reader, &first_events);
        if (reader_source(reader)->rewind(reader_source(reader)) &&
            (read_all(reader, &second_events) != first || second_events != first_events)) {
            abort();
        }
        reader_release(reader);
        reader_close(reader);
    } else if (err.text[0] == '\0') {
        abort();
    }
    close(fd);
    return 0;
}
