/* Removes a folder when the tool dies of a fault of its own. One folder a process. */
#ifndef SSAN_CLI_RESCUE_H
#define SSAN_CLI_RESCUE_H

/* From here on SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT remove what is in `directory` and
 * the folder itself, then do what they did before. A path that is too long is left alone. */
void rescue_begin(const char *directory);

/* The signals do what they did before. Nothing to do without rescue_begin. */
void rescue_end(void);

#endif
