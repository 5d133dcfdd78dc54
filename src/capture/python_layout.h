/* Where CPython 3.9 to 3.13 keep what a stack of Python frames takes: offsets into their objects,
 * in bytes. */
#ifndef SSAN_CAPTURE_PYTHON_LAYOUT_H
#define SSAN_CAPTURE_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define PYTHON_NONE UINT16_MAX

enum python_lines {
    PYTHON_LINES_PAIRS,     /* 3.9: co_lnotab */
    PYTHON_LINES_RANGES,    /* 3.10 */
    PYTHON_LINES_LOCATIONS, /* from 3.11 on */
};

struct python_layout {
    /* thread state: the innermost frame, or a record that holds it at `in_record` */
    uint16_t state_frame, in_record;
    /* frame */
    uint16_t code, previous;
    uint16_t instruction; /* a pointer into the code's instructions, or an index of them */
    uint16_t owner;       /* a byte; 3: a frame of the interpreter itself */
    bool is_index;
    uint8_t index_bytes; /* of the code, one step of the index is */
    /* code object */
    uint16_t file, name, qualified_name, lines, first_line, instructions;
    enum python_lines lines_form;
    /* other objects */
    uint16_t type;                     /* of any object */
    uint16_t text_length, text_state;  /* str */
    uint16_t ascii_bytes, other_bytes; /* sizes of the two heads of str */
    uint16_t bytes_length, bytes_data; /* bytes */
};

/* The layout of a version; NULL: not known. `offsets` (may be 0): the table of offsets that 3.13
 * has at the begin of its _PyRuntime, which then decides. */
const struct python_layout *python_layout(unsigned major, unsigned minor, uint64_t offsets);

#endif
