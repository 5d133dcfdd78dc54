/* Time that has passed, and waits, by the clock that nobody sets. */
#ifndef SSAN_BASE_ELAPSED_H
#define SSAN_BASE_ELAPSED_H

#include <pthread.h>
#include <time.h>

/* Seconds from `begun`, which clock_gettime(CLOCK_MONOTONIC) gave, to now. */
static inline double seconds_since(const struct timespec *begun)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begun->tv_sec) + (double)(now.tv_nsec - begun->tv_nsec) / 1e9;
}

/* The time in so many milliseconds, for waits by the same clock. */
static inline struct timespec time_in_ms(unsigned milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return until;
}

/* Makes a condition whose pthread_cond_timedwait takes such a time. */
static inline void condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &clock);
    pthread_condattr_destroy(&clock);
}

#endif
