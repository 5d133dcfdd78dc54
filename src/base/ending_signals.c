/* One list. */
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
