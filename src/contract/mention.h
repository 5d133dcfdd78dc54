/* Whether a planted macro can plant anything. */
#ifndef SSAN_CONTRACT_MENTION_H
#define SSAN_CONTRACT_MENTION_H

#include "contract/spec.h"

/* A macro of the list that is a word of no source or file of the build, as they were copied to the
 * work folder; NULL: each is one, or that is not known: something else builds, or a file can't be
 * read. It stands in the list, with its value. */
const char *mention_missing(const char *work, const struct spec_build *build,
                            const struct spec_list *macros);

#endif
