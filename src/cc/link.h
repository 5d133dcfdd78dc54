/* Objects to a program that carries the virtual device. */
#ifndef SSAN_CC_LINK_H
#define SSAN_CC_LINK_H

#include "cc/compile.h"

/* Links the job's objects and words in their order, then `lib_dir`/device.o and the note. A shared
 * library gets no device of its own: it uses the one of the program that loads it. */
enum ssan_status link_program(const struct compiler *compiler, const char *lib_dir, int *exit_code,
                              struct ssan_error *err);

#endif
