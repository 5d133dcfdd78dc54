/* Offsets of the versions that have no table of their own, and the reading of that of 3.13.
 *
 * Invariant: a layout is used only for its own minor version, whose objects do not change between
 * patch releases; tests compare each with the headers of an installed Python. */
#include "capture/python_layout.h"

#include <string.h>

/* 3.9 and 3.10 have frame objects, from 3.11 on frames lie in a stack of the interpreter's own. */
static const struct python_layout layouts[] = {
    [9] = {.state_frame = 24,
           .in_record = PYTHON_NONE,
           .code = 32,
           .previous = 24,
           .instruction = 104,
           .owner = PYTHON_NONE,
           .is_index = true,
           .index_bytes = 1,
           .file = 104,
           .name = 112,
           .qualified_name = 112,
           .lines = 120,
           .first_line = 40,
           .instructions = PYTHON_NONE,
           .lines_form = PYTHON_LINES_PAIRS,
           .type = 8,
           .text_length = 16,
           .text_state = 32,
           .ascii_bytes = 48,
           .other_bytes = 72,
           .bytes_length = 16,
           .bytes_data = 32},
    [10] = {.state_frame = 24,
            .in_record = PYTHON_NONE,
            .code = 32,
            .previous = 24,
            .instruction = 96,
            .owner = PYTHON_NONE,
            .is_index = true,
            .index_bytes = 2,
            .file = 104,
            .name = 112,
            .qualified_name = 112,
            .lines = 120,
            .first_line = 40,
            .instructions = PYTHON_NONE,
            .lines_form = PYTHON_LINES_RANGES,
            .type = 8,
            .text_length = 16,
            .text_state = 32,
            .ascii_bytes = 48,
            .other_bytes = 72,
            .bytes_length = 16,
            .bytes_data = 32},
    [11] = {.state_frame = 56,
            .in_record = 8,
            .code = 32,
            .previous = 48,
            .instruction = 56,
            .owner = 69,
            .file = 112,
            .name = 120,
            .qualified_name = 128,
            .lines = 136,
            .first_line = 72,
            .instructions = 184,
            .lines_form = PYTHON_LINES_LOCATIONS,
            .type = 8,
            .text_length = 16,
            .text_state = 32,
            .ascii_bytes = 48,
            .other_bytes = 72,
            .bytes_length = 16,
            .bytes_data = 32},
    [12] = {.state_frame = 56,
            .in_record = 0,
            .code = 0,
            .previous = 8,
            .instruction = 56,
            .owner = 70,
            .file = 112,
            .name = 120,
            .qualified_name = 128,
            .lines = 136,
            .first_line = 68,
            .instructions = 192,
            .lines_form = PYTHON_LINES_LOCATIONS,
            .type = 8,
            .text_length = 16,
            .text_state = 32,
            .ascii_bytes = 40,
            .other_bytes = 56,
            .bytes_length = 16,
            .bytes_data = 32},
};

/* The table of 3.13, in words from its begin. */
enum word {
    WORD_VERSION = 1,
    WORD_STATE_FRAME = 23,
    WORD_FRAME_PREVIOUS = 29,
    WORD_FRAME_CODE = 30,
    WORD_FRAME_INSTRUCTION = 31,
    WORD_FRAME_OWNER = 33,
    WORD_CODE_FILE = 35,
    WORD_CODE_NAME = 36,
    WORD_CODE_QUALIFIED_NAME = 37,
    WORD_CODE_LINES = 38,
    WORD_CODE_FIRST_LINE = 39,
    WORD_CODE_INSTRUCTIONS = 43,
    WORD_TYPE = 45,
    WORD_BYTES_LENGTH = 65,
    WORD_BYTES_DATA = 66,
    WORD_TEXT_STATE = 68,
    WORD_TEXT_LENGTH = 69,
    WORD_ASCII_BYTES = 70,
};

static const struct python_layout *read_table(uint64_t address)
{
    static struct python_layout layout;
    const uint64_t *words = (const uint64_t *)(uintptr_t)address;
    if (memcmp(words, "xdebugpy", 8) != 0 || words[WORD_VERSION] >> 16 != 0x030d) {
        return NULL;
    }
    layout = (struct python_layout){.state_frame = (uint16_t)words[WORD_STATE_FRAME],
                                    .in_record = PYTHON_NONE,
                                    .code = (uint16_t)words[WORD_FRAME_CODE],
                                    .previous = (uint16_t)words[WORD_FRAME_PREVIOUS],
                                    .instruction = (uint16_t)words[WORD_FRAME_INSTRUCTION],
                                    .owner = (uint16_t)words[WORD_FRAME_OWNER],
                                    .file = (uint16_t)words[WORD_CODE_FILE],
                                    .name = (uint16_t)words[WORD_CODE_NAME],
                                    .qualified_name = (uint16_t)words[WORD_CODE_QUALIFIED_NAME],
                                    .lines = (uint16_t)words[WORD_CODE_LINES],
                                    .first_line = (uint16_t)words[WORD_CODE_FIRST_LINE],
                                    .instructions = (uint16_t)words[WORD_CODE_INSTRUCTIONS],
                                    .lines_form = PYTHON_LINES_LOCATIONS,
                                    .type = (uint16_t)words[WORD_TYPE],
                                    .text_length = (uint16_t)words[WORD_TEXT_LENGTH],
                                    .text_state = (uint16_t)words[WORD_TEXT_STATE],
                                    .ascii_bytes = (uint16_t)words[WORD_ASCII_BYTES],
                                    .other_bytes = (uint16_t)(words[WORD_ASCII_BYTES] + 16),
                                    .bytes_length = (uint16_t)words[WORD_BYTES_LENGTH],
                                    .bytes_data = (uint16_t)words[WORD_BYTES_DATA]};
    return &layout;
}

const struct python_layout *python_layout(unsigned major, unsigned minor, uint64_t offsets)
{
    if (major == 3 && minor == 13) {
        return offsets ? read_table(offsets) : NULL;
    }
    return major == 3 && minor >= 9 && minor <= 12 ? &layouts[minor] : NULL;
}
