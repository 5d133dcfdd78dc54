/* Events to the bytes of a record and back. No malloc; any thread.
 *
 * The fields follow the head in the order of event.def: U32 and ENUM as 4 bytes at a multiple of 4,
 * U64 and X64 as 8 bytes at a multiple of 8, STR as its length (4 bytes) and its bytes, RUNS and
 * U64S as their count (4 bytes) and, from the next multiple of 8 on, their elements. Gaps and the
 * rest up to a multiple of 8 are zero. */
#ifndef SSAN_TRACE_RECORD_H
#define SSAN_TRACE_RECORD_H

#include "trace/format.h"

#include <stdbool.h>

/* Bytes of head and fields, a multiple of 8; 0 for a kind that does not exist. */
size_t record_bytes(const struct ssan_event *event);

/* Writes the head with `size` (the record's whole size) and the fields: record_bytes(event) bytes
 * at `to`, a multiple of 8. */
void record_write(void *to, uint32_t size, const struct ssan_event *event);

/* A number made from event.def and enums.def: names, types, words and their order. */
uint64_t record_vocabulary(void);

/* What is wrong with a record or an event. Names are constant; `field` may be NULL. */
struct record_fault {
    const char *event, *field, *what;
};

/* Reads the fields of a record of `kind`: `bytes` bytes at `from` (a multiple of 8), behind the
 * head and before any commit word. Strings and arrays of *event point into them. False with *fault
 * set when they are no such event. */
bool record_read(const void *from, size_t bytes, uint32_t kind, struct ssan_event *event,
                 struct record_fault *fault);

/* Checks what the types can't say: runs as event.h demands, ranges inside the address space, whole
 * leaves. */
bool record_check(const struct ssan_event *event, struct record_fault *fault);

#endif
