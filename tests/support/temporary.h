/* Names for mkstemp and mkdtemp where temporary files belong: TMPDIR, else /tmp. */
#ifndef SSAN_TESTS_SUPPORT_TEMPORARY_H
#define SSAN_TESTS_SUPPORT_TEMPORARY_H

#include <stdio.h>
#include <stdlib.h>

#define TEMPORARY_ROOM 4096

/* Fills `path` (TEMPORARY_ROOM bytes) with <folder>/<name>-XXXXXX. */
static inline void temporary_name(char *path, const char *name)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, TEMPORARY_ROOM, "%s/%s-XXXXXX", folder && *folder ? folder : "/tmp", name);
}

#endif
