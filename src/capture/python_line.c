/* The three forms of line tables, each a list of steps from the first instruction and line on.
 *
 * Invariant: nothing outside of the table is read. Cost: linear in the code before the instruction,
 * once for each place of a call. */
#include "capture/python_line.h"

#include <stdbool.h>

#define NO_LINE INT64_MIN

static uint32_t as_line(int64_t line)
{
    return line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
}

/* Pairs of bytes: so far on in the code, then so many lines on. */
static int64_t by_pairs(const uint8_t *table, size_t length, int64_t line, uint64_t offset)
{
    uint64_t at = 0;
    for (size_t i = 0; i + 1 < length; i += 2) {
        at += table[i];
        if (at > offset) {
            break;
        }
        line += (int8_t)table[i + 1];
    }
    return line;
}

/* Pairs of bytes: the size of a range of code, and its line less that of the range before. */
static int64_t by_ranges(const uint8_t *table, size_t length, int64_t line, uint64_t offset)
{
    uint64_t end = 0;
    for (size_t i = 0; i + 1 < length; i += 2) {
        int8_t by = (int8_t)table[i + 1];
        end += table[i];
        line += by == INT8_MIN ? 0 : by;
        if (end > offset) {
            return by == INT8_MIN ? NO_LINE : line;
        }
    }
    return NO_LINE;
}

/* A number in pieces of six bits, its lowest bit the sign. */
static int64_t read_signed(const uint8_t *table, size_t length, size_t at)
{
    uint64_t value = 0;
    for (unsigned shift = 0; at < length && shift < 60; at++, shift += 6) {
        value |= (uint64_t)(table[at] & 63) << shift;
        if (!(table[at] & 64)) {
            break;
        }
    }
    return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* Entries of one byte with the highest bit set, kind and size of the range, and others behind it.
 */
static int64_t by_locations(const uint8_t *table, size_t length, int64_t line, uint64_t offset)
{
    uint64_t end = 0;
    for (size_t i = 0; i < length;) {
        unsigned kind = table[i] >> 3 & 15;
        end += ((table[i] & 7u) + 1) * 2;
        if (kind == 13 || kind == 14) {
            line += read_signed(table, length, i + 1);
        } else if (kind >= 10 && kind <= 12) {
            line += kind - 10;
        }
        if (end > offset) {
            return kind == 15 ? NO_LINE : line;
        }
        do {
            i++;
        } while (i < length && !(table[i] & 0x80));
    }
    return NO_LINE;
}

uint32_t python_line(enum python_lines form, const uint8_t *table, size_t length,
                     uint32_t first_line, uint64_t offset)
{
    switch (form) {
    case PYTHON_LINES_PAIRS:
        return as_line(by_pairs(table, length, first_line, offset));
    case PYTHON_LINES_RANGES:
        return as_line(by_ranges(table, length, first_line, offset));
    case PYTHON_LINES_LOCATIONS:
        return as_line(by_locations(table, length, first_line, offset));
    }
    return 0;
}
