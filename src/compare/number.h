/* One element as a number: from its bits to sign, magnitude and power of two, exactly. Nothing here
 * rounds but number_double of integers above 2^53. */
#ifndef SSAN_COMPARE_NUMBER_H
#define SSAN_COMPARE_NUMBER_H

#include "streamsan/compare.h"

enum number_form { FORM_FLOAT, FORM_SIGNED, FORM_UNSIGNED };

/* How the elements of a type are laid out. */
struct number_type {
    const char *name, *short_name;
    unsigned size_bytes;
    enum number_form form;
    unsigned fraction_bits, exponent_bits; /* of a float */
};

enum number_kind { NUMBER_FINITE, NUMBER_INF, NUMBER_NAN };

/* magnitude * 2^exponent, negated where `negative`; a zero keeps its sign. */
struct number {
    enum number_kind kind;
    bool negative;
    uint64_t magnitude;
    int exponent;
};

/* NULL for no type. */
const struct number_type *number_type(enum ssan_compare_type type);

/* The element of `bits` (those above its size are 0). */
struct number number_read(const struct number_type *type, uint64_t bits);

/* The value of a finite number; exact for floats, else the nearest double. */
double number_double(const struct number *number);

/* The larger of |a| and |b|, of one type. */
const struct number *number_larger(const struct number *a, const struct number *b);

/* Whether |a - b| <= abs + rel * max(|a|, |b|) for finite a and b of one type, without rounding;
 * abs and rel are finite and not negative. */
bool number_within(const struct number *a, const struct number *b, double abs, double rel);

/* Shortest decimal text that names this element among those of its type: "0.1", "-0", "inf",
 * "nan", "18446744073709551615". `text` has room for NUMBER_TEXT_ROOM bytes. */
#define NUMBER_TEXT_ROOM 40
void number_text(char *text, const struct number_type *type, uint64_t bits);

#endif
