/* The calling thread's Python frames, read from the interpreter's own objects, without its lock.
 *
 * A frame is a value 0xffff << 48 | n, told to the trace by a `frame` event when it is new. */
#ifndef SSAN_CAPTURE_STACK_PYTHON_H
#define SSAN_CAPTURE_STACK_PYTHON_H

#include "trace/sink.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Maps the tables; `sink` takes `frame` events. False: no memory. */
bool stack_python_open(struct ssan_sink *sink);
void stack_python_close(void);
void stack_python_after_fork(void);

/* Whether a loaded object is the interpreter, which is then known. One caller at a time, while the
 * object can't be unloaded. */
bool stack_python_recognise(const struct dl_phdr_info *info);

/* There is an interpreter of a version that can be read. Any thread. */
bool stack_python_is_known(void);

/* Told for each frame, innermost first; false ends the walk. */
typedef bool stack_python_visit(void *self, uint64_t frame);

/* Walks the Python frames of the calling thread; it has none outside of Python. Returns how many
 * were told. Any thread. */
uint32_t stack_python_walk(stack_python_visit *visit, void *self);

#endif
