/* One list, and what is done with all of it. */
#include "base/ending_signals.h"

#include <stddef.h>

const int ending_signals[ENDING_SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

void ending_signals_watched(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < ENDING_SIGNALS; i++) {
        sigaddset(set, ending_signals[i]);
    }
    sigaddset(set, SIGCHLD);
}

void ending_signals_block(sigset_t *old)
{
    sigset_t set;
    ending_signals_watched(&set);
    sigprocmask(SIG_BLOCK, &set, old);
}

int ending_signals_take(const struct timespec *timeout)
{
    sigset_t set;
    ending_signals_watched(&set);
    const int number = timeout ? sigtimedwait(&set, NULL, timeout) : sigwaitinfo(&set, NULL);
    return number > 0 && number != SIGCHLD ? number : 0;
}
