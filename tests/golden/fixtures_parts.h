/* What reports made by hand are made of; for fixtures*.c only. Memory is the report's arena. */
#ifndef SSAN_TESTS_GOLDEN_FIXTURES_PARTS_H
#define SSAN_TESTS_GOLDEN_FIXTURES_PARTS_H

#include "golden/fixtures.h"

#include <stddef.h>
#include <stdint.h>

#define FILE_NAME "handover.cu"

void *fixtures_make(struct report *report, size_t bytes);
/* A finding at the end of the list between two places in the table of operations, -1: none. */
struct finding *fixtures_add_finding(struct report *report, const char *id, enum check check,
                                     int first, int then);
/* Its buffer, with `count` ranges of `bytes` bytes, 64 bytes apart. */
void fixtures_add_ranges(struct report *report, struct finding *finding, int buffer, uint64_t bytes,
                         size_t count);

#endif
