/* What the references in ptx_cases.def are written with: plain, slow, and independent of src/ptx.
 */
#ifndef SSAN_TESTS_UNIT_PTX_REFERENCE_H
#define SSAN_TESTS_UNIT_PTX_REFERENCE_H

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;

static inline s64 clamp(s64 value, s64 low, s64 high)
{
    return value < low ? low : value > high ? high : value;
}

static inline s64 floor_div(s64 value, s64 by)
{
    return value / by - (value % by < 0 ? 1 : 0);
}

static inline f32 in_mode(int mode, f32 x, f32 y, char op)
{
    volatile f32 a = x, b = y, result;
    fesetround(mode);
    result = op == '+' ? a + b : a * b;
    fesetround(FE_TONEAREST);
    return result;
}

static inline f32 narrow_in(int mode, f64 x)
{
    volatile f64 a = x;
    fesetround(mode);
    volatile f32 result = (f32)a;
    fesetround(FE_TONEAREST);
    return result;
}

static inline f32 toward_zero(s32 x)
{
    volatile s32 a = x;
    fesetround(FE_TOWARDZERO);
    volatile f32 result = (f32)a;
    fesetround(FE_TONEAREST);
    return result;
}

static inline f32 flush(f32 x)
{
    return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

static inline f32 saturate(f32 x)
{
    return isnan(x) || x <= 0 ? 0 : x > 1 ? 1 : x;
}

static inline u64 high_product(u64 a, u64 b)
{
    const u64 al = a & UINT32_MAX, ah = a >> 32, bl = b & UINT32_MAX, bh = b >> 32;
    const u64 middle = ah * bl + (al * bl >> 32), other = al * bh + (middle & UINT32_MAX);
    return ah * bh + (middle >> 32) + (other >> 32);
}

static inline s64 signed_24(u32 x)
{
    const s64 value = x & 0xffffff;
    return value >= 0x800000 ? value - 0x1000000 : value;
}

/* Minimum as PTX has it: numbers before NaN, -0 before +0. */
static inline f64 least(f64 a, f64 b)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) ? b : a;
    }
    return a < b || (a == b && signbit(a)) ? a : b;
}

static inline u64 carry_of(u64 a, u64 b, bool carry)
{
    return a + b < a || (carry && a + b == UINT64_MAX);
}

static inline u32 dot4(u32 a, u32 b, bool a_signed, bool b_signed)
{
    u32 sum = 0;
    for (int i = 0; i < 4; i++) {
        const s32 x = a_signed ? (s8)(a >> 8 * i) : (u8)(a >> 8 * i),
                  y = b_signed ? (s8)(b >> 8 * i) : (u8)(b >> 8 * i);
        sum += (u32)(x * y);
    }
    return sum;
}

static inline u32 count_bits(u64 x)
{
    u32 count = 0;
    for (; x; x >>= 1) {
        count += x & 1;
    }
    return count;
}

static inline u32 top_bit(u64 x)
{
    u32 top = UINT32_MAX;
    for (u32 i = 0; i < 64; i++) {
        top = x >> i & 1 ? i : top;
    }
    return top;
}

static inline u64 mirror(u64 x, int width)
{
    u64 result = 0;
    for (int i = 0; i < width; i++) {
        result = result << 1 | (x >> i & 1);
    }
    return result;
}

/* PTX ISA, bfe: its pseudo code. */
static inline u64 field(u64 a, u32 width, u32 pos, u32 len, bool is_signed)
{
    const u32 msb = width - 1;
    const u32 at = pos + len - 1 < msb ? pos + len - 1 : msb;
    const u64 sbit = !is_signed || len == 0 ? 0 : a >> at & 1;
    u64 d = 0;
    for (u32 i = 0; i <= msb; i++) {
        const u64 bit = i < len && pos + i <= msb ? a >> (pos + i) & 1 : sbit;
        d |= bit << i;
    }
    return d;
}

/* PTX ISA, bfi: its pseudo code. */
static inline u64 inserted(u64 a, u64 b, u32 width, u32 pos, u32 len)
{
    u64 f = b;
    for (u32 i = 0; i < len && pos + i < width; i++) {
        f = (f & ~((u64)1 << (pos + i))) | (a >> i & 1) << (pos + i);
    }
    return f;
}

static inline u32 nth_from(u32 mask, u32 base, int n)
{
    for (u32 i = base; i < 32; i++) {
        n -= mask >> i & 1;
        if (n == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

static inline u32 picked(u32 a, u32 b, u32 selector)
{
    u32 result = 0;
    for (int i = 0; i < 4; i++) {
        const u32 n = selector >> 4 * i & 15, k = n & 7;
        u32 byte = (k < 4 ? a >> 8 * k : b >> 8 * (k - 4)) & 255;
        byte = n & 8 ? (byte & 128 ? 255 : 0) : byte;
        result |= byte << 8 * i;
    }
    return result;
}

static inline s64 to_int(f64 x, f64 (*round_it)(f64), s64 low, s64 high)
{
    if (isnan(x)) {
        return 0;
    }
    const f64 r = round_it(x);
    return r <= (f64)low ? low : r >= (f64)high ? high : (s64)r;
}

static inline u64 to_unsigned(f64 x)
{
    return !(x >= 1) ? 0 : x >= 18446744073709551616.0 ? UINT64_MAX : (u64)x;
}

static inline f32 half_value(u16 h)
{
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    const f64 size = exponent == 31 ? (fraction ? NAN : INFINITY)
                     : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                    : ldexp(fraction, -24);
    return (f32)(h >> 15 ? -size : size);
}

/* The nearest half, ties to even, by search over all of them. */
static inline u16 half_of(f64 x)
{
    if (isnan(x)) {
        return 0x7fff;
    }
    const u16 sign = signbit(x) ? 0x8000 : 0;
    const f64 size = fabs(x);
    if (size >= 65520) {
        return sign | 0x7c00;
    }
    u16 low = 0, high = 0x7c00; /* value(low) <= size < value(high), infinity counts as 65536 */
    while (high - low > 1) {
        const u16 middle = (u16)((low + high) / 2);
        if ((f64)half_value(middle) <= size) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const f64 below = size - (f64)half_value(low);
    const f64 above = (high == 0x7c00 ? 65536.0 : (f64)half_value(high)) - size;
    return sign | (below < above || (below == above && low % 2 == 0) ? low : high);
}

/* redux over the lanes in `there`; the operands of the warp begin at in[base]. */
static inline u32 reduced(char op, u32 there, const u64 *in, u32 base)
{
    u32 sum = 0;
    bool is_first = true;
    for (u32 i = 0; i < 32; i++) {
        const u32 x = (u32)in[base + i];
        if (there >> i & 1) {
            sum = is_first            ? x
                  : op == '+'         ? sum + x
                  : op == '^'         ? sum ^ x
                  : (s32)x > (s32)sum ? x
                                      : sum;
            is_first = false;
        }
    }
    return sum;
}

#endif
