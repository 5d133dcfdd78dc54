/* The cheap half of libdevice: functions that clang's CUDA headers call as __nv_*, as single
 * instructions.
 *
 * Clang's headers only declare __nv_*. What is not defined here stays an external call in the PTX,
 * which the virtual device answers with the host's libm: sin, exp, pow and their like, scalar
 * arguments only (libdevice.def lists them). Without this file every min() would be such a call.
 * Rounding suffixes: rn nearest even, rz to zero, rd down, ru up; the builtins say rm and rp for
 * the last two. */
#ifndef SSAN_CC_LIBDEVICE_H
#define SSAN_CC_LIBDEVICE_H
#pragma GCC system_header

#define SSAN_NV_ extern "C" __device__ inline

/* The result has the type of clang's declaration, which knows signedness best. */
#define SSAN_NV_FUNCTION1_(name, from, expression)                                                 \
    SSAN_NV_ __typeof__(__nv_##name((from)0)) __nv_##name(from a)                                  \
    {                                                                                              \
        return (__typeof__(__nv_##name((from)0)))(expression);                                     \
    }
#define SSAN_NV_FUNCTION2_(name, from, expression)                                                 \
    SSAN_NV_ __typeof__(__nv_##name((from)0, (from)0)) __nv_##name(from a, from b)                 \
    {                                                                                              \
        return (__typeof__(__nv_##name((from)0, (from)0)))(expression);                            \
    }
#define SSAN_NV_FUNCTION3_(name, from, expression)                                                 \
    SSAN_NV_ __typeof__(__nv_##name((from)0, (from)0, (from)0)) __nv_##name(from a, from b,        \
                                                                            from c)                \
    {                                                                                              \
        return (__typeof__(__nv_##name((from)0, (from)0, (from)0)))(expression);                   \
    }

#define SSAN_NV_CONVERT_(name, to, from, builtin)                                                  \
    SSAN_NV_ to __nv_##name##_rn(from a)                                                           \
    {                                                                                              \
        return builtin##_rn(a);                                                                    \
    }                                                                                              \
    SSAN_NV_ to __nv_##name##_rz(from a)                                                           \
    {                                                                                              \
        return builtin##_rz(a);                                                                    \
    }                                                                                              \
    SSAN_NV_ to __nv_##name##_rd(from a)                                                           \
    {                                                                                              \
        return builtin##_rm(a);                                                                    \
    }                                                                                              \
    SSAN_NV_ to __nv_##name##_ru(from a)                                                           \
    {                                                                                              \
        return builtin##_rp(a);                                                                    \
    }

SSAN_NV_CONVERT_(double2float, float, double, __nvvm_d2f)
SSAN_NV_CONVERT_(double2int, int, double, __nvvm_d2i)
SSAN_NV_CONVERT_(double2uint, unsigned int, double, __nvvm_d2ui)
SSAN_NV_CONVERT_(double2ll, long long, double, __nvvm_d2ll)
SSAN_NV_CONVERT_(double2ull, unsigned long long, double, __nvvm_d2ull)
SSAN_NV_CONVERT_(float2int, int, float, __nvvm_f2i)
SSAN_NV_CONVERT_(float2uint, unsigned int, float, __nvvm_f2ui)
SSAN_NV_CONVERT_(float2ll, long long, float, __nvvm_f2ll)
SSAN_NV_CONVERT_(float2ull, unsigned long long, float, __nvvm_f2ull)
SSAN_NV_CONVERT_(int2float, float, int, __nvvm_i2f)
SSAN_NV_CONVERT_(uint2float, float, unsigned int, __nvvm_ui2f)
SSAN_NV_CONVERT_(ll2float, float, long long, __nvvm_ll2f)
SSAN_NV_CONVERT_(ull2float, float, unsigned long long, __nvvm_ull2f)
SSAN_NV_CONVERT_(ll2double, double, long long, __nvvm_ll2d)
SSAN_NV_CONVERT_(ull2double, double, unsigned long long, __nvvm_ull2d)
#undef SSAN_NV_CONVERT_

#define SSAN_NV_ROUNDED_(name, type, suffix, mode, MODE)                                           \
    SSAN_NV_ type __nv_##name##add_##suffix(type a, type b)                                        \
    {                                                                                              \
        return __nvvm_add_##MODE(a, b);                                                            \
    }                                                                                              \
    SSAN_NV_ type __nv_##name##sub_##suffix(type a, type b)                                        \
    {                                                                                              \
        return __nvvm_add_##MODE(a, -b);                                                           \
    }                                                                                              \
    SSAN_NV_ type __nv_##name##mul_##suffix(type a, type b)                                        \
    {                                                                                              \
        return __nvvm_mul_##MODE(a, b);                                                            \
    }                                                                                              \
    SSAN_NV_ type __nv_##name##div_##suffix(type a, type b)                                        \
    {                                                                                              \
        return __nvvm_div_##MODE(a, b);                                                            \
    }                                                                                              \
    SSAN_NV_ type __nv_##name##rcp_##suffix(type a)                                                \
    {                                                                                              \
        return __nvvm_rcp_##MODE(a);                                                               \
    }                                                                                              \
    SSAN_NV_ type __nv_##name##sqrt_##suffix(type a)                                               \
    {                                                                                              \
        return __nvvm_sqrt_##MODE(a);                                                              \
    }                                                                                              \
    SSAN_NV_ type __nv_fma##mode##_##suffix(type a, type b, type c)                                \
    {                                                                                              \
        return __nvvm_fma_##MODE(a, b, c);                                                         \
    }

SSAN_NV_ROUNDED_(f, float, rn, f, rn_f)
SSAN_NV_ROUNDED_(f, float, rz, f, rz_f)
SSAN_NV_ROUNDED_(f, float, rd, f, rm_f)
SSAN_NV_ROUNDED_(f, float, ru, f, rp_f)
SSAN_NV_ROUNDED_(d, double, rn, , rn_d)
SSAN_NV_ROUNDED_(d, double, rz, , rz_d)
SSAN_NV_ROUNDED_(d, double, rd, , rm_d)
SSAN_NV_ROUNDED_(d, double, ru, , rp_d)
#undef SSAN_NV_ROUNDED_
SSAN_NV_FUNCTION3_(fmaf_ieee_rn, float, __nvvm_fma_rn_f(a, b, c))
SSAN_NV_FUNCTION3_(fmaf_ieee_rz, float, __nvvm_fma_rz_f(a, b, c))
SSAN_NV_FUNCTION3_(fmaf_ieee_rd, float, __nvvm_fma_rm_f(a, b, c))
SSAN_NV_FUNCTION3_(fmaf_ieee_ru, float, __nvvm_fma_rp_f(a, b, c))

/* Integers. */
SSAN_NV_FUNCTION1_(abs, int, a < 0 ? (int)-(unsigned int)a : a)
SSAN_NV_FUNCTION1_(llabs, long long, a < 0 ? (long long)-(unsigned long long)a : a)
SSAN_NV_FUNCTION2_(min, int, a < b ? a : b)
SSAN_NV_FUNCTION2_(max, int, a > b ? a : b)
SSAN_NV_FUNCTION2_(umin, unsigned int, a < b ? a : b)
SSAN_NV_FUNCTION2_(umax, unsigned int, a > b ? a : b)
SSAN_NV_FUNCTION2_(llmin, long long, a < b ? a : b)
SSAN_NV_FUNCTION2_(llmax, long long, a > b ? a : b)
SSAN_NV_FUNCTION2_(ullmin, unsigned long long, a < b ? a : b)
SSAN_NV_FUNCTION2_(ullmax, unsigned long long, a > b ? a : b)
SSAN_NV_FUNCTION1_(brev, int, (int)__builtin_bitreverse32((unsigned int)a))
SSAN_NV_FUNCTION1_(brevll, long long, (long long)__builtin_bitreverse64((unsigned long long)a))
SSAN_NV_FUNCTION1_(clz, int, a ? __builtin_clz((unsigned int)a) : 32)
SSAN_NV_FUNCTION1_(clzll, long long, a ? __builtin_clzll((unsigned long long)a) : 64)
SSAN_NV_FUNCTION1_(ffs, int, __builtin_ffs(a))
SSAN_NV_FUNCTION1_(ffsll, long long, __builtin_ffsll(a))
SSAN_NV_FUNCTION2_(mulhi, int, (int)((long long)a *b >> 32))
SSAN_NV_FUNCTION2_(umulhi, unsigned int, (unsigned int)((unsigned long long)a *b >> 32))
SSAN_NV_FUNCTION2_(mul64hi, long long, __nvvm_mulhi_ll(a, b))
SSAN_NV_FUNCTION2_(umul64hi, unsigned long long, __nvvm_mulhi_ull(a, b))
SSAN_NV_FUNCTION2_(mul24, int,
                   (int)((unsigned int)((int)((unsigned int)a << 8) >> 8) *
                         (unsigned int)((int)((unsigned int)b << 8) >> 8)))
SSAN_NV_FUNCTION2_(umul24, unsigned int, (a & 0xffffffu) * (b & 0xffffffu))
SSAN_NV_FUNCTION2_(hadd, int, (int)(((long long)a + b) >> 1))
SSAN_NV_FUNCTION2_(rhadd, int, (int)(((long long)a + b + 1) >> 1))
SSAN_NV_FUNCTION2_(uhadd, unsigned int, (int)(((unsigned long long)a + b) >> 1))
SSAN_NV_FUNCTION2_(urhadd, unsigned int, (int)(((unsigned long long)a + b + 1) >> 1))
SSAN_NV_FUNCTION3_(byte_perm, int, (int)__nvvm_prmt(a, b, c))
SSAN_NV_FUNCTION3_(sad, int,
                   (int)((a > b ? (unsigned int)a - (unsigned int)b
                                : (unsigned int)b - (unsigned int)a) +
                         (unsigned int)c))
SSAN_NV_FUNCTION3_(usad, unsigned int, (a > b ? a - b : b - a) + c)

/* Bits and halves. */
SSAN_NV_FUNCTION1_(float_as_int, float, __nvvm_bitcast_f2i(a))
SSAN_NV_FUNCTION1_(float_as_uint, float, (unsigned int)__nvvm_bitcast_f2i(a))
SSAN_NV_FUNCTION1_(int_as_float, int, __nvvm_bitcast_i2f(a))
SSAN_NV_FUNCTION1_(uint_as_float, unsigned int, __nvvm_bitcast_i2f((int)a))
SSAN_NV_FUNCTION1_(double_as_longlong, double, (unsigned long long)__nvvm_bitcast_d2ll(a))
SSAN_NV_FUNCTION1_(longlong_as_double, long long, __nvvm_bitcast_ll2d(a))
SSAN_NV_FUNCTION1_(double2hiint, double, (int)(__nvvm_bitcast_d2ll(a) >> 32))
SSAN_NV_FUNCTION1_(double2loint, double, (int)__nvvm_bitcast_d2ll(a))
SSAN_NV_FUNCTION2_(hiloint2double, int,
                   __nvvm_bitcast_ll2d((long long)((unsigned long long)(unsigned int)a << 32 |
                                                   (unsigned int)b)))
SSAN_NV_FUNCTION1_(int2double_rn, int, (double)a)
SSAN_NV_FUNCTION1_(uint2double_rn, unsigned int, (double)a)

/* Floating point with one instruction, or a few. */
#define SSAN_NV_FLOATING_(type, f, d)                                                              \
    SSAN_NV_FUNCTION1_(fabs##f, type, __builtin_fabs##f(a))                                        \
    SSAN_NV_FUNCTION1_(floor##f, type, __builtin_floor##f(a))                                      \
    SSAN_NV_FUNCTION1_(ceil##f, type, __builtin_ceil##f(a))                                        \
    SSAN_NV_FUNCTION1_(trunc##f, type, __builtin_trunc##f(a))                                      \
    SSAN_NV_FUNCTION1_(rint##f, type, __builtin_rint##f(a))                                        \
    SSAN_NV_FUNCTION1_(nearbyint##f, type, __builtin_rint##f(a))                                   \
    SSAN_NV_FUNCTION1_(llrint##f, type, (long long)__builtin_rint##f(a))                           \
    SSAN_NV_FUNCTION1_(sqrt##f, type, __nvvm_sqrt_rn_##d(a))                                       \
    SSAN_NV_FUNCTION2_(copysign##f, type, __builtin_copysign##f(a, b))                             \
    SSAN_NV_FUNCTION2_(fmin##f, type, __nvvm_fmin_##d(a, b))                                       \
    SSAN_NV_FUNCTION2_(fmax##f, type, __nvvm_fmax_##d(a, b))                                       \
    SSAN_NV_FUNCTION2_(fdim##f, type, a <= b ? (type)0 : a - b)                                    \
    SSAN_NV_FUNCTION3_(fma##f, type, __nvvm_fma_rn_##d(a, b, c))                                   \
    SSAN_NV_FUNCTION1_(isnan##d, type, a != a)                                                     \
    SSAN_NV_FUNCTION1_(isinf##d, type, __builtin_fabs##f(a) == __builtin_inf##f())                 \
    SSAN_NV_ type __nv_round##f(type a)                                                            \
    {                                                                                              \
        type whole = __builtin_trunc##f(a);                                                        \
        return __builtin_fabs##f(a - whole) >= (type)0.5 ? whole + __builtin_copysign##f(1, a)     \
                                                         : whole;                                  \
    }                                                                                              \
    SSAN_NV_FUNCTION1_(llround##f, type, (long long)__nv_round##f(a))                              \
    SSAN_NV_ type __nv_modf##f(type a, type *whole)                                                \
    {                                                                                              \
        *whole = __builtin_trunc##f(a);                                                            \
        return __builtin_copysign##f(a - *whole == a - *whole ? a - *whole : (type)0, a);          \
    }                                                                                              \
    SSAN_NV_ void __nv_sincos##f(type a, type *sine, type *cosine)                                 \
    {                                                                                              \
        *sine = __nv_sin##f(a);                                                                    \
        *cosine = __nv_cos##f(a);                                                                  \
    }                                                                                              \
    SSAN_NV_ type __nv_frexp##f(type a, int *exponent)                                             \
    {                                                                                              \
        int power = a == 0 || a - a != 0 ? 0 : __nv_ilogb##f(a) + 1;                               \
        *exponent = power;                                                                         \
        return power ? __nv_ldexp##f(a, -power) : a;                                               \
    }                                                                                              \
    SSAN_NV_ type __nv_remquo##f(type a, type b, int *quotient)                                    \
    {                                                                                              \
        type rest = __nv_remainder##f(a, b);                                                       \
        *quotient = (int)((long long)__builtin_rint##f((a - rest) / b) % 8);                       \
        return rest;                                                                               \
    }                                                                                              \
    SSAN_NV_ type __nv_nan##f(const signed char *)                                                 \
    {                                                                                              \
        return __builtin_nan##f("");                                                               \
    }                                                                                              \
    SSAN_NV_ type __nv_sinpi##f(type a)                                                            \
    {                                                                                              \
        type half = __builtin_rint##f(2 * a);                                                      \
        type angle = (type)3.14159265358979323846 * (a - half / 2);                                \
        int quadrant = (int)((long long)half & 3);                                                 \
        type sine = quadrant & 1 ? __nv_cos##f(angle) : __nv_sin##f(angle);                        \
        return quadrant & 2 ? -sine : sine;                                                        \
    }                                                                                              \
    SSAN_NV_FUNCTION1_(cospi##f, type, __nv_sinpi##f(a + (type)0.5))                               \
    SSAN_NV_ void __nv_sincospi##f(type a, type *sine, type *cosine)                               \
    {                                                                                              \
        *sine = __nv_sinpi##f(a);                                                                  \
        *cosine = __nv_cospi##f(a);                                                                \
    }                                                                                              \
    SSAN_NV_ type __nv_scalbn##f(type a, int b)                                                    \
    {                                                                                              \
        return __nv_ldexp##f(a, b);                                                                \
    }                                                                                              \
    SSAN_NV_ type __nv_powi##f(type a, int b)                                                      \
    {                                                                                              \
        return __nv_pow##f(a, (type)b);                                                            \
    }                                                                                              \
    SSAN_NV_FUNCTION1_(rcbrt##f, type, 1 / __nv_cbrt##f(a))                                        \
    SSAN_NV_FUNCTION2_(rhypot##f, type, 1 / __nv_hypot##f(a, b))                                   \
    SSAN_NV_FUNCTION1_(normcdf##f, type,                                                           \
                       (type)0.5 * __nv_erfc##f(a * (type)-0.70710678118654752440))                \
    SSAN_NV_FUNCTION3_(norm3d##f, type, __nv_sqrt##f(a *a + b * b + c * c))                        \
    SSAN_NV_FUNCTION3_(rnorm3d##f, type, 1 / __nv_norm3d##f(a, b, c))                              \
    SSAN_NV_ type __nv_norm4d##f(type a, type b, type c, type e)                                   \
    {                                                                                              \
        return __nv_sqrt##f(a * a + b * b + c * c + e * e);                                        \
    }                                                                                              \
    SSAN_NV_ type __nv_rnorm4d##f(type a, type b, type c, type e)                                  \
    {                                                                                              \
        return 1 / __nv_norm4d##f(a, b, c, e);                                                     \
    }                                                                                              \
    SSAN_NV_ type __nv_norm##f(int count, const type *items)                                       \
    {                                                                                              \
        type sum = 0;                                                                              \
        for (int i = 0; i < count; i++) {                                                          \
            sum += items[i] * items[i];                                                            \
        }                                                                                          \
        return __nv_sqrt##f(sum);                                                                  \
    }                                                                                              \
    SSAN_NV_ type __nv_rnorm##f(int count, const type *items)                                      \
    {                                                                                              \
        return 1 / __nv_norm##f(count, items);                                                     \
    }

SSAN_NV_FLOATING_(float, f, f)
SSAN_NV_FLOATING_(double, , d)
#undef SSAN_NV_FLOATING_

SSAN_NV_FUNCTION1_(rsqrtf, float, __nvvm_rsqrt_approx_f(a))
SSAN_NV_FUNCTION1_(rsqrt, double, 1 / __nvvm_sqrt_rn_d(a))
SSAN_NV_FUNCTION1_(frsqrt_rn, float, (float)(1 / __nvvm_sqrt_rn_d((double)a)))
SSAN_NV_FUNCTION1_(saturatef, float, __nvvm_saturate_f(a))
SSAN_NV_FUNCTION1_(finitef, float, a - a == 0)
SSAN_NV_FUNCTION1_(isfinited, double, a - a == 0)
SSAN_NV_FUNCTION1_(signbitf, float, (int)((unsigned int)__nvvm_bitcast_f2i(a) >> 31))
SSAN_NV_FUNCTION1_(signbitd, double, (int)((unsigned long long)__nvvm_bitcast_d2ll(a) >> 63))

/* The fast approximations: exponentials and logarithms go through the base 2. */
SSAN_NV_FUNCTION1_(fast_sinf, float, __nvvm_sin_approx_f(a))
SSAN_NV_FUNCTION1_(fast_cosf, float, __nvvm_cos_approx_f(a))
SSAN_NV_FUNCTION1_(fast_tanf, float, __nvvm_sin_approx_f(a) / __nvvm_cos_approx_f(a))
SSAN_NV_FUNCTION1_(fast_expf, float, __nvvm_ex2_approx_f(a * 1.44269504088896340736f))
SSAN_NV_FUNCTION1_(fast_exp10f, float, __nvvm_ex2_approx_f(a * 3.32192809488736234787f))
SSAN_NV_FUNCTION1_(fast_log2f, float, __nvvm_lg2_approx_f(a))
SSAN_NV_FUNCTION1_(fast_logf, float, __nvvm_lg2_approx_f(a) * 0.69314718055994530942f)
SSAN_NV_FUNCTION1_(fast_log10f, float, __nvvm_lg2_approx_f(a) * 0.30102999566398119521f)
SSAN_NV_FUNCTION2_(fast_powf, float, __nvvm_ex2_approx_f(b *__nvvm_lg2_approx_f(a)))
SSAN_NV_FUNCTION2_(fast_fdividef, float, __nvvm_div_approx_f(a, b))
SSAN_NV_ void __nv_fast_sincosf(float a, float *sine, float *cosine)
{
    *sine = __nvvm_sin_approx_f(a);
    *cosine = __nvvm_cos_approx_f(a);
}

#undef SSAN_NV_FUNCTION1_
#undef SSAN_NV_FUNCTION2_
#undef SSAN_NV_FUNCTION3_
#undef SSAN_NV_

#endif
