/* Line tables of Python code objects. */
#ifndef SSAN_CAPTURE_PYTHON_LINE_H
#define SSAN_CAPTURE_PYTHON_LINE_H

#include "capture/python_layout.h"

#include <stddef.h>
#include <stdint.h>

/* The line of the instruction at `offset` (in bytes) of code that begins on `first_line`; 0: it has
 * none. */
uint32_t python_line(enum python_lines form, const uint8_t *table, size_t length,
                     uint32_t first_line, uint64_t offset);

#endif
