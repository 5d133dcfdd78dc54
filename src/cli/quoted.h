/* Splits STREAMSAN_OPTIONS into words as a shell would. */
#ifndef SSAN_CLI_QUOTED_H
#define SSAN_CLI_QUOTED_H

#include "base/arena.h"
#include "base/status.h"

#include <stddef.h>

/* Words are separated by spaces; '...' keeps everything, "..." and \ work as in sh; nothing is
 * expanded. `words` gets an array of `*count` strings and a NULL, in the arena. SSAN_USAGE: a quote
 * that does not end. */
enum ssan_status quoted_split(const char *text, struct arena *arena, char ***words, size_t *count,
                              struct ssan_error *err);

#endif
