/* What every file that claims to be a trace is held to: the reader refuses it with a message, or
 * gives events and then one of its ends, and the same again when it is rewound. Aborts, as a
 * fuzzer's check does, when it is not so. */
#ifndef SSAN_TESTS_FUZZ_READ_TWICE_H
#define SSAN_TESTS_FUZZ_READ_TWICE_H

#include "trace/reader.h"

#include <stdio.h>
#include <stdlib.h>

/* The bytes may name a process that lives: such a trace never ends. */
#define READ_MOST_WAITS 3

static enum ssan_next read_all(struct reader *reader, uint64_t *events)
{
    struct ssan_event event;
    struct ssan_error err = {0};
    enum ssan_next got;
    int waits = 0;
    *events = 0;
    do {
        got = ssan_next(reader_source(reader), &event, &err);
        *events += got == SSAN_NEXT_EVENT;
        waits += got == SSAN_NEXT_WAIT;
    } while (got == SSAN_NEXT_EVENT || (got == SSAN_NEXT_WAIT && waits < READ_MOST_WAITS));
    if (got == SSAN_NEXT_ERROR && !err.text[0]) {
        abort();
    }
    return got;
}

static void read_twice(int fd)
{
    char path[40];
    struct reader *reader;
    struct ssan_error err = {0};
    uint64_t first_events, second_events;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (reader_open(&reader, path, &err) != SSAN_OK) {
        if (!err.text[0]) {
            abort();
        }
        return;
    }
    const enum ssan_next first = read_all(reader, &first_events);
    if (reader_source(reader)->rewind(reader_source(reader)) &&
        (read_all(reader, &second_events) != first || second_events != first_events)) {
        abort();
    }
    reader_release(reader);
    reader_close(reader);
}

#endif
