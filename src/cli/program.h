/* What kind of file a program is. */
#ifndef SSAN_CLI_PROGRAM_H
#define SSAN_CLI_PROGRAM_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum program_kind {
    PROGRAM_OURS,  /* carries the note of `streamsan cc` */
    PROGRAM_CUDA,  /* needs libcuda or libcudart, or holds device code, and was not built by
                      `streamsan cc` */
    PROGRAM_OTHER, /* a script, or a program without CUDA: run and followed */
};

/* Where execvp would find `name`: into `path`. False when nowhere. */
bool program_find(const char *name, char *path, size_t room);

enum program_kind program_kind(const char *path);

/* Where runs are repeated each begins at the beginning of its input, so what a pipe or socket holds
 * is read by none: says so when there is something in it. */
void program_tell_input(const char *verb);

#endif
