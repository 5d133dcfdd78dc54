/* The signals by which a user, a terminal or whoever manages processes asks one to end. */
#ifndef SSAN_BASE_ENDING_SIGNALS_H
#define SSAN_BASE_ENDING_SIGNALS_H

#include <signal.h>

#define ENDING_SIGNALS 4

/* SIGINT, SIGTERM, SIGHUP, SIGQUIT */
extern const int ending_signals[ENDING_SIGNALS];

/* Fills in the set that a process blocks while it waits for its children, to take them in turn:
 * these, and SIGCHLD. A blocked signal is kept for sigwaitinfo even where its action is to be
 * ignored, as SIGCHLD's is. */
void ending_signals_watched(sigset_t *set);

/* Blocks that set in the calling thread; `old`: the mask before. */
void ending_signals_block(sigset_t *old);

/* Waits for one of that set, which is blocked, at most `timeout` (NULL: no limit): the signal that
 * asks to end; 0: the end of a child, or the time is over. */
int ending_signals_take(const struct timespec *timeout);

#endif
