/* What the child process of a trial does. */
#ifndef SSAN_CLI_TRIAL_CHILD_H
#define SSAN_CLI_TRIAL_CHILD_H

#include "cli/trial.h"

/* Runs the program once and fills the members of `result` behind `directory`, where the files go.
 * In a process of its own whose signals are those that the program is to get. result->status:
 * SSAN_IO, SSAN_FULL, SSAN_INTERNAL, SSAN_NO_MEMORY. */
void trial_child(const struct trial *trial, const char *directory, struct trial_result *result);

#endif
