/* Time that has passed, by the clock that nobody sets. */
#ifndef SSAN_BASE_ELAPSED_H
#define SSAN_BASE_ELAPSED_H

#include <time.h>

/* Seconds from `begun`, which clock_gettime(CLOCK_MONOTONIC) gave, to now. */
static inline double seconds_since(const struct timespec *begun)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begun->tv_sec) + (double)(now.tv_nsec - begun->tv_nsec) / 1e9;
}

#endif
