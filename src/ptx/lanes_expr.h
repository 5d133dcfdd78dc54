/* Helpers of the expressions in lanes.def, for lanes.c only: one lane each, exact PTX semantics. */
#ifndef SSAN_PTX_LANES_EXPR_H
#define SSAN_PTX_LANES_EXPR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NAN_32 0x7fffffffu
#define EXP_64 0x7ff0000000000000u
#define ABS_64 0x7fffffffffffffffu

static inline int32_t clamp_s32(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

static inline int64_t sign24(uint32_t value)
{
    return (int64_t)((int32_t)(value << 8) >> 8);
}

static inline uint64_t funnel(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

static inline uint32_t reverse_32(uint32_t v)
{
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    v = (v >> 8 & 0x00ff00ffu) | (v & 0x00ff00ffu) << 8;
    return v >> 16 | v << 16;
}

/* Highest bit that is set, all ones when none is. */
static inline uint32_t find_top(uint64_t value)
{
    return value ? 63 - (uint32_t)__builtin_clzll(value) : UINT32_MAX;
}

/* bfe: `length` bits from bit `start`; the sign is that of the field's top bit, or of the value's
 * when the field ends outside. Only the low eight bits of start and length count. */
static inline uint64_t extract(uint64_t value, uint32_t width, bool is_signed, uint32_t start,
                               uint32_t length)
{
    start &= 0xff;
    length &= 0xff;
    if (length == 0) {
        return 0;
    }
    const uint32_t top = start + length - 1 < width - 1 ? start + length - 1 : width - 1;
    const uint64_t sign = is_signed && (value >> top & 1) ? UINT64_MAX : 0;
    const uint32_t have = start >= width ? 0 : width - start;
    uint64_t field = start >= width ? 0 : value >> start;
    const uint32_t kept = length < have ? length : have;
    if (kept < 64) {
        const uint64_t inside = (UINT64_C(1) << kept) - 1;
        field = (field & inside) | (sign & ~inside);
    }
    return field;
}

static inline uint64_t insert(uint64_t field, uint64_t value, uint32_t width, uint32_t start,
                              uint32_t length)
{
    start &= 0xff;
    length &= 0xff;
    if (start >= width || length == 0) {
        return value;
    }
    const uint32_t kept = length < width - start ? length : width - start;
    const uint64_t inside = (kept < 64 ? (UINT64_C(1) << kept) - 1 : UINT64_MAX) << start;
    return (value & ~inside) | (field << start & inside);
}

/* prmt: mode 0 is the general form, else f4e b4e rc8 ecl ecr rc16 from 1. */
static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selector, int64_t mode)
{
    static const uint16_t special[7][4] = {{0},
                                           {0x3210, 0x4321, 0x5432, 0x6543},
                                           {0x5670, 0x6701, 0x7012, 0x0123},
                                           {0x0000, 0x1111, 0x2222, 0x3333},
                                           {0x3210, 0x3211, 0x3222, 0x3333},
                                           {0x0000, 0x1110, 0x2210, 0x3210},
                                           {0x1010, 0x3232, 0x1010, 0x3232}};
    const uint64_t bytes = (uint64_t)b << 32 | a;
    const uint32_t chosen = mode ? special[mode][selector & 3] : selector;
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t nibble = chosen >> (4 * i) & 0xf;
        uint32_t byte = (uint32_t)(bytes >> (8 * (nibble & 7))) & 0xff;
        if (nibble & 8) {
            byte = byte & 0x80 ? 0xff : 0;
        }
        result |= byte << (8 * i);
    }
    return result;
}

static inline uint32_t logic3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t result = 0;
    result |= table & 0x01 ? ~a & ~b & ~c : 0;
    result |= table & 0x02 ? ~a & ~b & c : 0;
    result |= table & 0x04 ? ~a & b & ~c : 0;
    result |= table & 0x08 ? ~a & b & c : 0;
    result |= table & 0x10 ? a & ~b & ~c : 0;
    result |= table & 0x20 ? a & ~b & c : 0;
    result |= table & 0x40 ? a & b & ~c : 0;
    result |= table & 0x80 ? a & b & c : 0;
    return result;
}

/* dp4a and dp2a. Bit 0 of form: a is signed; 1: b is signed; 2: two products of 16-bit halves with
 * bytes; 3: of the upper two bytes. */
static inline uint32_t dot_product(uint32_t a, uint32_t b, uint32_t c, uint32_t form)
{
    const uint32_t count = form & 4 ? 2 : 4, bits = form & 4 ? 16 : 8, first = form & 8 ? 2 : 0;
    uint32_t sum = c;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t raw_a = a >> (bits * i) & ((1u << bits) - 1),
                       raw_b = b >> (8 * (i + first)) & 0xff;
        const int32_t va =
            form & 1 && raw_a >> (bits - 1) ? (int32_t)raw_a - (1 << bits) : (int32_t)raw_a;
        const int32_t vb = form & 2 && raw_b >> 7 ? (int32_t)raw_b - 256 : (int32_t)raw_b;
        sum += (uint32_t)(va * vb);
    }
    return sum;
}

static inline uint32_t bit_mask(uint32_t start, uint32_t length, bool clamp)
{
    start = clamp ? start : start & 31;
    length = clamp ? length : length & 31;
    if (start >= 32 || length == 0) {
        return 0;
    }
    const uint32_t ones = length >= 32 ? UINT32_MAX : (1u << length) - 1;
    return ones << start;
}

/* fns: position of the |nth| set bit from `base` upward (nth > 0), downward (< 0), or base itself
 * (0). */
static inline uint32_t find_nth_set(uint32_t value, uint32_t base, int32_t nth)
{
    if (nth == 0) {
        return base < 32 && value >> base & 1 ? base : UINT32_MAX;
    }
    int32_t left = nth;
    for (uint32_t at = base; at<32; at = nth> 0 ? at + 1 : at - 1) {
        if (value >> at & 1) {
            left += nth > 0 ? -1 : 1;
            if (left == 0) {
                return at;
            }
        }
    }
    return UINT32_MAX;
}

static inline bool is_nan_32(uint32_t bits)
{
    return (bits & 0x7fffffffu) > 0x7f800000u;
}

/* Orders floats as integers: -0 below +0. */
static inline int32_t order_f32(uint32_t bits)
{
    return (int32_t)(bits >> 31 ? bits ^ 0x7fffffffu : bits);
}

static inline uint32_t min_bits_f32(uint32_t a, uint32_t b)
{
    const uint32_t least = order_f32(a) < order_f32(b) ? a : b;
    const uint32_t from_a = is_nan_32(a) ? NAN_32 : a;
    return is_nan_32(a) ? (is_nan_32(b) ? NAN_32 : b) : is_nan_32(b) ? from_a : least;
}

static inline uint32_t max_bits_f32(uint32_t a, uint32_t b)
{
    const uint32_t most = order_f32(a) > order_f32(b) ? a : b;
    return is_nan_32(a) ? (is_nan_32(b) ? NAN_32 : b) : is_nan_32(b) ? a : most;
}

static inline int64_t order_f64(uint64_t bits)
{
    return (int64_t)(bits >> 63 ? bits ^ ABS_64 : bits);
}

static inline uint64_t min_bits_f64(uint64_t a, uint64_t b)
{
    const bool nan_a = (a & ABS_64) > EXP_64, nan_b = (b & ABS_64) > EXP_64;
    const uint64_t least = order_f64(a) < order_f64(b) ? a : b;
    return nan_a ? b : nan_b ? a : least;
}

static inline uint64_t max_bits_f64(uint64_t a, uint64_t b)
{
    const bool nan_a = (a & ABS_64) > EXP_64, nan_b = (b & ABS_64) > EXP_64;
    const uint64_t most = order_f64(a) > order_f64(b) ? a : b;
    return nan_a ? b : nan_b ? a : most;
}

/* Toward zero, clamped to the range of the result, NaN is 0. Every float is a double, so one form
 * serves both. */
static inline int32_t to_s32(double value)
{
    const double low =
        value > -2147483648.0 ? value : -2147483648.0; /* NaN becomes low, and is put right below */
    const double in = low < 2147483647.0 ? low : 2147483647.0;
    return value == value ? (int32_t)in : 0;
}

static inline uint32_t to_u32(double value)
{
    const double low = value > 0.0 ? value : 0.0;
    const double in = low < 4294967295.0 ? low : 4294967295.0;
    return (uint32_t)(int64_t)in;
}

static inline int64_t to_s64(double value)
{
    if (value != value) {
        return 0;
    }
    return value >= 9223372036854775808.0    ? INT64_MAX
           : value <= -9223372036854775808.0 ? INT64_MIN
                                             : (int64_t)value;
}

static inline uint64_t to_u64(double value)
{
    if (!(value > 0)) {
        return 0;
    }
    return value >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)value;
}

static inline uint32_t half_to_float(uint32_t half)
{
    const uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 0x1f,
                   fraction = half & 0x3ff;
    if (exponent == 0x1f) {
        return sign | 0x7f800000u | fraction << 13;
    }
    if (exponent != 0) {
        return sign | (exponent + 112) << 23 | fraction << 13;
    }
    if (fraction == 0) {
        return sign;
    }
    const uint32_t top = find_top(fraction); /* a subnormal half is a normal float */
    return sign | (top + 103) << 23 | ((fraction << (23 - top)) & 0x7fffffu);
}

/* Rounds once; mode: 0 nearest even, 1 toward zero, 2 down, 3 up. */
static inline uint32_t double_to_half(double value, int64_t mode)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = (uint32_t)(bits >> 48) & 0x8000u;
    const int32_t exponent = (int32_t)(bits >> 52 & 0x7ff) - 1023;
    const uint64_t fraction = bits & UINT64_C(0xfffffffffffff);
    if (exponent == 1024) {
        return fraction ? 0x7fffu : sign | 0x7c00u;
    }
    if (exponent < -1022) {
        const bool up = (mode == 3 && !sign) || (mode == 2 && sign);
        return sign | (up && fraction ? 1u : 0u);
    }
    const uint64_t whole = fraction | UINT64_C(1) << 52;
    const int32_t drop = exponent < -14 ? 42 + (-14 - exponent) : 42;
    const uint32_t shift = drop > 63 ? 63 : (uint32_t)drop;
    const uint64_t kept = whole >> shift, rest = whole & ((UINT64_C(1) << shift) - 1);
    const uint64_t half = UINT64_C(1) << (shift - 1);
    const bool up = mode == 0   ? rest > half || (rest == half && (kept & 1))
                    : mode == 2 ? sign && rest
                    : mode == 3 ? !sign && rest
                                : false;
    uint32_t result = (uint32_t)kept + (up ? 1 : 0);
    if (exponent >= -14) {
        result += (uint32_t)(exponent + 14) << 10;
    }
    if (exponent > 15 || result >= 0x7c00u) {
        const bool to_infinity = mode == 0 || (mode == 2 && sign) || (mode == 3 && !sign);
        return sign | (to_infinity ? 0x7c00u : 0x7bffu);
    }
    return sign | result;
}

#endif
