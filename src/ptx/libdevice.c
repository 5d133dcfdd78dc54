/* CUDA's device library by the host's C library and integer arithmetic: the helpers that lines of
 * libdevice.def name, and the table made of it. */
#include "ptx/libdevice.h"

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide_u;
__extension__ typedef __int128 wide_s;

typedef float f32;
typedef double f64;
typedef int32_t s32;
typedef uint32_t u32;
typedef int64_t s64;
typedef uint64_t u64;

/* lgamma of libm writes a global. */
static double lgamma_safe(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

static double sin_pi(double x)
{
    const double r = remainder(x, 2.0); /* exact */
    return r == 1.0 || r == -1.0 ? copysign(0.0, x)
           : fabs(r) <= 0.25     ? sin(M_PI * r)
           : fabs(r) >= 0.75     ? sin(M_PI * (copysign(1.0, r) - r))
                                 : copysign(cos(M_PI * (0.5 - fabs(r))), r);
}

static double cos_pi(double x)
{
    return sin_pi(0.5 - fabs(remainder(x, 2.0)));
}

/* exp(x * x) * erfc(x), by its continued fraction where erfc is close to 0. */
static double erfc_scaled(double x)
{
    if (x < 10) {
        return exp(x * x) * erfc(x);
    }
    double fraction = x;
    for (int k = 60; k > 0; k--) {
        fraction = x + (k / 2.0) / fraction;
    }
    return 1 / (sqrt(M_PI) * fraction);
}

/* Newton's method on erfc, which is accurate at both ends. */
static double erfc_inverse(double y)
{
    if (!(y >= 0 && y <= 2)) {
        return NAN;
    }
    if (y == 0 || y == 2) {
        return y == 0 ? INFINITY : -INFINITY;
    }
    const double p = y < 1 ? y : 2 - y, t = sqrt(-2 * log(p / 2));
    double x = M_SQRT1_2 * (t - (2.515517 + 0.802853 * t + 0.010328 * t * t) /
                                    (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t));
    for (int i = 0; i < 4; i++) {
        const double error = erfc(x) - p;
        x += error / (M_2_SQRTPI * exp(-x * x) - x * error);
    }
    return y < 1 ? x : -x;
}

static double erf_inverse(double y)
{
    if (fabs(y) > 0.5) {
        return y > 0 ? erfc_inverse(1 - y) : -erfc_inverse(1 + y);
    }
    double x = y * 0.886226925452758; /* sqrt(pi) / 2 */
    for (int i = 0; i < 6; i++) {
        const double error = erf(x) - y;
        x -= error / (M_2_SQRTPI * exp(-x * x) + x * error);
    }
    return x;
}

/* Modified Bessel function of order 0 or 1: its series, which has positive terms only. */
static double bessel_i(int order, double x)
{
    double term = order ? x / 2 : 1, sum = term;
    for (int k = 1; k < 2000 && fabs(term) > fabs(sum) * 1e-17; k++) {
        term *= x * x / 4 / ((double)k * (k + order));
        sum += term;
    }
    return sum;
}

static int64_t float_to_int(double value, int bits)
{
    const double limit = ldexp(1.0, bits - 1);
    const int64_t highest = bits == 32 ? INT32_MAX : INT64_MAX;
    return isnan(value)      ? 0
           : value >= limit  ? highest
           : value <= -limit ? -highest - 1
                             : (int64_t)value;
}

static uint64_t float_to_uint(double value, int bits)
{
    return !(value > 0)                ? 0
           : value >= ldexp(1.0, bits) ? (bits == 32 ? UINT32_MAX : UINT64_MAX)
                                       : (uint64_t)value;
}

static uint64_t reverse_bits(uint64_t value)
{
    uint64_t result = 0;
    for (int i = 0; i < 64; i++) {
        result |= (value >> i & 1) << (63 - i);
    }
    return result;
}

static uint32_t byte_permute(uint32_t a, uint32_t b, uint32_t selector)
{
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        result |= ((uint32_t)(bytes >> (8 * (selector >> (4 * i) & 7))) & 0xff) << (8 * i);
    }
    return result;
}

enum {
    PART_add,
    PART_add_sat,
    PART_sub,
    PART_sub_sat,
    PART_average_up,
    PART_average_down,
    PART_max,
    PART_min,
    PART_distance,
    PART_distance_sum,
    PART_abs,
    PART_abs_sat,
    PART_neg,
    PART_neg_sat,
    PART_eq,
    PART_ne,
    PART_lt,
    PART_le,
    PART_gt,
    PART_ge,
    PART_one = 0x100 /* a comparison gives 1, not all ones */
};

/* One pair of numbers, before it is cut to its width. */
static int64_t part(int64_t x, int64_t y, int what, int64_t low, int64_t high)
{
    const int64_t sum = x + y, difference = x - y, distance = x < y ? y - x : x - y;
    switch (what & ~PART_one) {
    case PART_add:
        return sum;
    case PART_add_sat:
        return sum < low ? low : sum > high ? high : sum;
    case PART_sub:
        return difference;
    case PART_sub_sat:
        return difference < low ? low : difference > high ? high : difference;
    case PART_average_up:
        return (sum + 1) >> 1;
    case PART_average_down:
        return sum >> 1;
    case PART_max:
        return x > y ? x : y;
    case PART_min:
        return x < y ? x : y;
    case PART_distance:
    case PART_distance_sum:
        return distance;
    case PART_abs:
        return x < 0 ? -x : x;
    case PART_abs_sat:
        return x == low ? high : x < 0 ? -x : x;
    case PART_neg:
        return -x;
    case PART_neg_sat:
        return x == low ? high : -x;
    default:
        break;
    }
    const bool holds = (what & ~PART_one) == PART_eq   ? x == y
                       : (what & ~PART_one) == PART_ne ? x != y
                       : (what & ~PART_one) == PART_lt ? x < y
                       : (what & ~PART_one) == PART_le ? x <= y
                       : (what & ~PART_one) == PART_gt ? x > y
                                                       : x >= y;
    return !holds ? 0 : what & PART_one ? 1 : -1;
}

static uint32_t by_parts(uint32_t a, uint32_t b, int bits, bool is_signed, int what)
{
    const int64_t top = INT64_C(1) << (bits - 1);
    const int64_t low = is_signed ? -top : 0, high = is_signed ? top - 1 : 2 * top - 1;
    const uint32_t cut = (1u << bits) - 1;
    uint32_t result = 0;
    for (int at = 0; at < 32; at += bits) {
        int64_t x = a >> at & cut, y = b >> at & cut;
        x = is_signed && x >= top ? x - 2 * top : x;
        y = is_signed && y >= top ? y - 2 * top : y;
        const int64_t value = part(x, y, what, low, high);
        result = what == PART_distance_sum ? result + (uint32_t)value
                                           : result | ((uint32_t)value & cut) << at;
    }
    return result;
}

#define TAKE(type, name, i)                                                                        \
    type name;                                                                                     \
    memcpy(&name, &in[i], sizeof name);
#define GIVE(type, expr)                                                                           \
    const type result = (type)(expr);                                                              \
    memcpy(out, &result, sizeof result);

#define E1(name, res, ta, expr)                                                                    \
    static void fn_##name(const uint64_t *in, uint64_t *out)                                       \
    {                                                                                              \
        TAKE(ta, a, 0)                                                                             \
        GIVE(res, expr)                                                                            \
    }
#define E2(name, res, ta, tb, expr)                                                                \
    static void fn_##name(const uint64_t *in, uint64_t *out)                                       \
    {                                                                                              \
        TAKE(ta, a, 0)                                                                             \
        TAKE(tb, b, 1)                                                                             \
        GIVE(res, expr)                                                                            \
    }
#define E3(name, res, ta, tb, tc, expr)                                                            \
    static void fn_##name(const uint64_t *in, uint64_t *out)                                       \
    {                                                                                              \
        TAKE(ta, a, 0)                                                                             \
        TAKE(tb, b, 1)                                                                             \
        TAKE(tc, c, 2)                                                                             \
        GIVE(res, expr)                                                                            \
    }
#define E4(name, res, ta, tb, tc, td, expr)                                                        \
    static void fn_##name(const uint64_t *in, uint64_t *out)                                       \
    {                                                                                              \
        TAKE(ta, a, 0)                                                                             \
        TAKE(tb, b, 1)                                                                             \
        TAKE(tc, c, 2)                                                                             \
        TAKE(td, d, 3)                                                                             \
        GIVE(res, expr)                                                                            \
    }
/* The plain form is a function of its own, called under each mode; volatile keeps the operation
 * between the changes. */
#define MODE(name, suffix, mode)                                                                   \
    static void fn_##name##suffix(const uint64_t *in, uint64_t *out)                               \
    {                                                                                              \
        const int before = fegetround();                                                           \
        libdevice_fn *volatile plain = fn_plain_##name;                                            \
        fesetround(mode);                                                                          \
        plain(in, out);                                                                            \
        fesetround(before);                                                                        \
    }
#define MODES(name)                                                                                \
    MODE(name, _rn, FE_TONEAREST)                                                                  \
    MODE(name, _rz, FE_TOWARDZERO)                                                                 \
    MODE(name, _rd, FE_DOWNWARD)                                                                   \
    MODE(name, _ru, FE_UPWARD)
#define R1(name, res, ta, expr)         E1(plain_##name, res, ta, expr) MODES(name)
#define R2(name, res, ta, tb, expr)     E2(plain_##name, res, ta, tb, expr) MODES(name)
#define R3(name, res, ta, tb, tc, expr) E3(plain_##name, res, ta, tb, tc, expr) MODES(name)
#include "ptx/libdevice.def"
#undef E1
#undef E2
#undef E3
#undef E4
#undef R1
#undef R2
#undef R3

#define E1(name, res, ta, expr)     {#name, fn_##name, sizeof(res), 1, {sizeof(ta)}},
#define E2(name, res, ta, tb, expr) {#name, fn_##name, sizeof(res), 2, {sizeof(ta), sizeof(tb)}},
#define E3(name, res, ta, tb, tc, expr)                                                            \
    {#name, fn_##name, sizeof(res), 3, {sizeof(ta), sizeof(tb), sizeof(tc)}},
#define E4(name, res, ta, tb, tc, td, expr)                                                        \
    {#name, fn_##name, sizeof(res), 4, {sizeof(ta), sizeof(tb), sizeof(tc), sizeof(td)}},
#define R1(name, res, ta, expr)                                                                    \
    E1(name##_rn, res, ta, )                                                                       \
    E1(name##_rz, res, ta, ) E1(name##_rd, res, ta, ) E1(name##_ru, res, ta, )
#define R2(name, res, ta, tb, expr)                                                                \
    E2(name##_rn, res, ta, tb, )                                                                   \
    E2(name##_rz, res, ta, tb, ) E2(name##_rd, res, ta, tb, ) E2(name##_ru, res, ta, tb, )
#define R3(name, res, ta, tb, tc, expr)                                                            \
    E3(name##_rn, res, ta, tb, tc, )                                                               \
    E3(name##_rz, res, ta, tb, tc, )                                                               \
    E3(name##_rd, res, ta, tb, tc, ) E3(name##_ru, res, ta, tb, tc, )
const struct libdevice_entry libdevice_entries[] = {
#include "ptx/libdevice.def"
};
const size_t libdevice_count = sizeof libdevice_entries / sizeof *libdevice_entries;
