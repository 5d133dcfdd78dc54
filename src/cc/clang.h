/* Which clang builds: $STREAMSAN_CLANG, else the newest of the known names that has the NVPTX back
 * end.
 *
 * Any stock clang from version 14 on will do. The search order is part of what `doctor` prints. */
#ifndef SSAN_CC_CLANG_H
#define SSAN_CC_CLANG_H

#include "base/status.h"
#include "cc/process.h"

#define CLANG_OLDEST  14
#define CLANG_REFUSED 1 /* exit code for a source with errors; above: clang has failed itself */

struct clang {
    char path[256]; /* a name for PATH, or a path */
    int version;    /* major */
};

/* SSAN_MISSING with the command that installs one when there is none. */
enum ssan_status clang_find(struct session *session, struct clang *found, struct ssan_error *err);

#endif
