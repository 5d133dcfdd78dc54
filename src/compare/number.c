/* Elements as numbers, and the one comparison that must not round.
 *
 * number_within adds up abs + rel * max - |a - b| in a fixed-point number wide enough for every
 * double times every double: 68 words whose lowest bit is 2^-2176. It is the naive form, and slow
 * (about 0.2 us); compare.c asks it only where doubles leave the answer open. */
#include "compare/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NB1: the smallest product is 2^-1074 * 2^-1074 = 2^-2148, the largest below 2^1024 * 2^1024; with
 * the sum of four such terms and a sign, bits -2176 .. 2175 hold all: 4352 = 68 * 64. */
#define WORDS       68
#define LOWEST_BIT  (-2176)
#define DOUBLE_BIAS 1075 /* of a double read as a whole number times a power of two */

static const struct number_type types[] = {
#define TYPE(suffix, name, short_name, size, form, fraction, exponent)                             \
    [SSAN_COMPARE_##suffix] = {name, short_name, size, FORM_##form, fraction, exponent},
#include "compare/types.def"
#undef TYPE
};

const struct number_type *number_type(enum ssan_compare_type type)
{
    const size_t at = (size_t)type;
    return at < sizeof types / sizeof *types && types[at].name ? &types[at] : NULL;
}

size_t ssan_compare_size(enum ssan_compare_type type)
{
    const struct number_type *found = number_type(type);
    return found ? found->size_bytes : 0;
}

const char *ssan_compare_type_name(enum ssan_compare_type type)
{
    const struct number_type *found = number_type(type);
    return found ? found->name : NULL;
}

bool ssan_compare_type_find(const char *name, enum ssan_compare_type *type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].name &&
            (strcmp(types[i].name, name) == 0 || strcmp(types[i].short_name, name) == 0)) {
            *type = (enum ssan_compare_type)i;
            return true;
        }
    }
    return false;
}

static struct number read_float(const struct number_type *type, uint64_t bits)
{
    const unsigned top = (1u << type->exponent_bits) - 1;
    const uint64_t hidden = UINT64_C(1) << type->fraction_bits;
    const uint64_t fraction = bits & (hidden - 1);
    const unsigned exponent = (unsigned)(bits >> type->fraction_bits) & top;
    struct number number = {.negative = bits >> (type->fraction_bits + type->exponent_bits) & 1};
    if (exponent == top) {
        number.kind = fraction ? NUMBER_NAN : NUMBER_INF;
    } else {
        number.magnitude = exponent ? fraction | hidden : fraction;
        number.exponent =
            (int)(exponent ? exponent : 1) - (int)(top >> 1) - (int)type->fraction_bits;
    }
    return number;
}

struct number number_read(const struct number_type *type, uint64_t bits)
{
    const unsigned sign_bit = 8 * type->size_bytes - 1;
    if (type->form == FORM_FLOAT) {
        return read_float(type, bits);
    }
    if (type->form == FORM_SIGNED && bits >> sign_bit & 1) {
        /* All bits above the element set, then negated: right for the least number too. */
        const uint64_t above = sign_bit == 63 ? 0 : ~UINT64_C(0) << (sign_bit + 1);
        return (struct number){.negative = true, .magnitude = 0 - (bits | above)};
    }
    return (struct number){.magnitude = bits};
}

/* 2^exponent, which must be a normal double. */
static double power_of_two(int exponent)
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double number_double(const struct number *number)
{
    /* Elements of floats are doubles, so the product is exact; ldexp is several times slower. */
    const double magnitude = (double)number->magnitude;
    const double value = number->exponent > -1022 ? magnitude * power_of_two(number->exponent)
                                                  : ldexp(magnitude, number->exponent);
    return number->negative ? -value : value;
}

const struct number *number_larger(const struct number *a, const struct number *b)
{
    /* Of one type: a larger power of two goes with a magnitude that has its hidden bit. */
    if (a->exponent != b->exponent) {
        return a->exponent > b->exponent ? a : b;
    }
    return a->magnitude >= b->magnitude ? a : b;
}

/* Adds magnitude * 2^exponent to the sum, or takes it away. */
static void sum_add(uint64_t sum[WORDS], uint64_t magnitude, int exponent, bool negative)
{
    const unsigned at = (unsigned)(exponent - LOWEST_BIT), shift = at % 64;
    uint64_t parts[2] = {magnitude << shift, shift ? magnitude >> (64 - shift) : 0};
    unsigned carry = 0;
    for (unsigned i = at / 64, k = 0; i < WORDS && (k < 2 || carry); i++, k++) {
        const uint64_t part = k < 2 ? parts[k] : 0, before = sum[i];
        if (negative) {
            sum[i] = before - part - carry;
            carry = before < part || (carry && before == part);
        } else {
            sum[i] = before + part + carry;
            carry = sum[i] < before || (carry && sum[i] == before);
        }
    }
}

static void sum_product(uint64_t sum[WORDS], const struct number *a, const struct number *b)
{
    const uint64_t low = a->magnitude & 0xffffffff, high = a->magnitude >> 32;
    const uint64_t b_low = b->magnitude & 0xffffffff, b_high = b->magnitude >> 32;
    const int exponent = a->exponent + b->exponent;
    sum_add(sum, low * b_low, exponent, false);
    sum_add(sum, low * b_high, exponent + 32, false);
    sum_add(sum, high * b_low, exponent + 32, false);
    sum_add(sum, high * b_high, exponent + 64, false);
}

static bool sum_is_negative(const uint64_t sum[WORDS])
{
    return sum[WORDS - 1] >> 63;
}

static struct number from_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return number_read(&types[SSAN_COMPARE_FLOAT64], bits);
}

bool number_within(const struct number *a, const struct number *b, double abs, double rel)
{
    const struct number abs_number = from_double(abs), rel_number = from_double(rel);
    uint64_t above[WORDS] = {0}, below[WORDS];
    sum_add(above, abs_number.magnitude, abs_number.exponent, false);
    sum_product(above, &rel_number, number_larger(a, b));
    memcpy(below, above, sizeof below);
    sum_add(above, a->magnitude, a->exponent, !a->negative); /* - a + b */
    sum_add(above, b->magnitude, b->exponent, b->negative);
    sum_add(below, a->magnitude, a->exponent, a->negative); /* + a - b */
    sum_add(below, b->magnitude, b->exponent, !b->negative);
    return !sum_is_negative(above) && !sum_is_negative(below);
}

/* Whether the text names this float, read as a number of its type. A type of 16 bits is read by
 * way of the distance: no other element of it may be as near. */
static bool names(const char *text, const struct number_type *type, double value)
{
    if (type->size_bytes == 8) {
        return strtod(text, NULL) == value;
    }
    if (type->size_bytes == 4) {
        return strtof(text, NULL) == (float)value;
    }
    /* Half a step of the type at this value; below the smallest normal number steps are equal. */
    int exponent;
    (void)frexp(value, &exponent);
    const int least = 2 - (1 << (type->exponent_bits - 1)) - (int)type->fraction_bits;
    const int step = exponent - 1 - (int)type->fraction_bits;
    return fabs(strtod(text, NULL) - value) < ldexp(1, (step > least ? step : least) - 2);
}

void number_text(char *text, const struct number_type *type, uint64_t bits)
{
    const struct number number = number_read(type, bits);
    const char *sign = number.negative ? "-" : "";
    if (number.kind != NUMBER_FINITE) {
        snprintf(text, NUMBER_TEXT_ROOM, "%s%s", sign, number.kind == NUMBER_NAN ? "nan" : "inf");
    } else if (type->form != FORM_FLOAT) {
        snprintf(text, NUMBER_TEXT_ROOM, "%s%" PRIu64, sign, number.magnitude);
    } else {
        const double value = number_double(&number);
        for (int digits = 1; digits <= 17; digits++) {
            snprintf(text, NUMBER_TEXT_ROOM, "%.*g", digits, value);
            if (names(text, type, value)) {
                break;
            }
        }
    }
}
