/* Processes of a session beside the program itself: signals for them, and words about them. */
#ifndef SSAN_CLI_FOLLOWED_H
#define SSAN_CLI_FOLLOWED_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define FOLLOWED_NAMED 4 /* in words; the rest is counted */

struct followed {
    pid_t pids[64];
    size_t count;
};

/* Adds a process once; what is beyond the room is left out. */
void followed_add(struct followed *followed, pid_t pid);

/* Adds the children of this process, which as the reaper has those that nobody else waits for. */
void followed_add_children(struct followed *followed);

/* Sends the signal to each that lives and has `session` in its environment, so that a number which
 * was used again or belongs to another namespace is not hit. `by_terminal`: those in our process
 * group have it already. */
void followed_signal(const struct followed *followed, const char *session, int number,
                     bool by_terminal);

/* Appends "process 12 (name), process 13 (other) and 2 more"; "processes" when none is known. */
void followed_words(const struct followed *followed, struct strbuf *out);

#endif
