/* Running the compiler, and temporary files that vanish whatever happens.
 *
 * While a session is open, SIGINT, SIGTERM, SIGHUP and SIGQUIT of the calling thread are blocked
 * and taken in turn with the children's ends: a signal goes on to the running child, the temporary
 * folder is removed, and the signal then does to this process what it would have done. No handler
 * is installed. One session a process at a time; single-threaded. */
#ifndef SSAN_CC_PROCESS_H
#define SSAN_CC_PROCESS_H

#include "base/status.h"
#include "cc/words.h"

#include <signal.h>
#include <stdbool.h>

struct session {
    char *folder;     /* temporary files live here; NULL until one is asked for */
    sigset_t old_set; /* the caller's mask */
    int caught;       /* the signal that ends the session; 0: none */
    bool verbose;     /* print commands to stderr */
    bool open;
};

void session_open(struct session *session, bool verbose);
/* Removes the temporary files and restores the mask; a caught signal is then raised, and by default
 * doesn't return. */
void session_close(struct session *session);

/* Name of a new temporary file in the arena, such as ".../3-scale.ptx"; NULL and `err` on failure.
 */
char *session_file(struct session *session, struct arena *arena, const char *stem,
                   const char *suffix, struct ssan_error *err);

/* Runs the command, whose first word is looked up in PATH, and waits. `exit_code` is its own, or
 * 128 plus its signal. SSAN_OK also when the command failed; SSAN_MISSING when it can't be started.
 */
enum ssan_status session_run(struct session *session, struct words *command, int *exit_code,
                             struct ssan_error *err);

/* Runs the command and keeps the first `size_bytes` - 1 bytes of what it says on standard output
 * and standard error, NUL-terminated. False when it can't be started or fails. */
bool session_ask(struct session *session, const char *const *command, char *answer,
                 size_t size_bytes);

#endif
