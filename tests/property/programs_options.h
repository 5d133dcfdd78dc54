/* Options of the tests that go through random programs, and the seed, which is printed. */
#ifndef SSAN_TESTS_PROGRAMS_OPTIONS_H
#define SSAN_TESTS_PROGRAMS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct programs_options {
    uint64_t seed, programs, first;
    bool is_one; /* --program: that one only */
};

/* Overwrites the defaults that stand in `options`. False, with the usage on stderr: another word.
 */
static inline bool programs_options_read(struct programs_options *options, int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t value = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--seed") == 0) {
            options->seed = value;
        } else if (strcmp(argv[i], "--programs") == 0) {
            options->programs = value;
        } else if (strcmp(argv[i], "--program") == 0) {
            options->first = value;
            options->programs = 1;
            options->is_one = true;
        } else {
            fprintf(stderr, "usage: %s [--seed N] [--programs N] [--program K]\n", argv[0]);
            return false;
        }
    }
    printf("seed %llu\n", (unsigned long long)options->seed);
    return true;
}

#endif
