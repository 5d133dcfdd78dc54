/* Test code stops at once on what must not happen: out of memory, a broken fixture. */
#ifndef SSAN_TESTS_SUPPORT_MUST_H
#define SSAN_TESTS_SUPPORT_MUST_H

#include <stdio.h>
#include <stdlib.h>

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: must hold: %s\n", __FILE__, __LINE__, #condition);             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
