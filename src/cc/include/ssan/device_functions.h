/* Device functions that clang's own headers lack: sleep, warp reductions;
 * and for host code of .cu files the few functions that CUDA adds to its mathematics.
 *
 * Each names its PTX instruction. Warp reductions are exchanges among the lanes of the mask, as the
 * virtual device has no instruction for them. */
#ifndef SSAN_CC_DEVICE_FUNCTIONS_H
#define SSAN_CC_DEVICE_FUNCTIONS_H
#pragma GCC system_header

#define SSAN_DEVICE_ static __device__ __inline__ __attribute__((always_inline))

SSAN_DEVICE_ void __nanosleep(unsigned int ns)
{
    __asm__ volatile("nanosleep.u32 %0;" ::"r"(ns));
}

/* Every lane of the mask gets the value over all its lanes; each reads the others one after
 * another. */
#define SSAN_WARP_REDUCE_(name, type, expression)                                                  \
    SSAN_DEVICE_ type name(unsigned int mask, type value)                                          \
    {                                                                                              \
        unsigned int rest = mask & (mask - 1);                                                     \
        type a = __shfl_sync(mask, value, __ffs((int)mask) - 1);                                   \
        for (; rest; rest &= rest - 1) {                                                           \
            type b = __shfl_sync(mask, value, __ffs((int)rest) - 1);                               \
            a = expression;                                                                        \
        }                                                                                          \
        return a;                                                                                  \
    }
SSAN_WARP_REDUCE_(__reduce_add_sync, unsigned int, a + b)
SSAN_WARP_REDUCE_(__reduce_add_sync, int, (int)((unsigned int)a + (unsigned int)b))
SSAN_WARP_REDUCE_(__reduce_min_sync, unsigned int, a < b ? a : b)
SSAN_WARP_REDUCE_(__reduce_min_sync, int, a < b ? a : b)
SSAN_WARP_REDUCE_(__reduce_max_sync, unsigned int, a > b ? a : b)
SSAN_WARP_REDUCE_(__reduce_max_sync, int, a > b ? a : b)
SSAN_WARP_REDUCE_(__reduce_and_sync, unsigned int, a &b)
SSAN_WARP_REDUCE_(__reduce_or_sync, unsigned int, a | b)
SSAN_WARP_REDUCE_(__reduce_xor_sync, unsigned int, a ^ b)
#undef SSAN_WARP_REDUCE_

/* Four products of bytes, or two of 16 bits with one half of the other's bytes, and a sum. */
#define SSAN_DOT_(name, instruction, type)                                                         \
    SSAN_DEVICE_ type name(type a, type b, type c)                                                 \
    {                                                                                              \
        type sum;                                                                                  \
        __asm__(instruction " %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));              \
        return sum;                                                                                \
    }
SSAN_DOT_(__dp4a, "dp4a.s32.s32", int)
SSAN_DOT_(__dp4a, "dp4a.u32.u32", unsigned int)
SSAN_DOT_(__dp2a_lo, "dp2a.lo.s32.s32", int)
SSAN_DOT_(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int)
SSAN_DOT_(__dp2a_hi, "dp2a.hi.s32.s32", int)
SSAN_DOT_(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int)
#undef SSAN_DOT_

/* Loads with a cache hint read the same bytes; the hint is for hardware. */
#define SSAN_CACHED_(name)                                                                         \
    template <class T> SSAN_DEVICE_ T name(const T *address)                                       \
    {                                                                                              \
        return *address;                                                                           \
    }
SSAN_CACHED_(__ldca)
SSAN_CACHED_(__ldcg)
SSAN_CACHED_(__ldcs)
SSAN_CACHED_(__ldlu)
SSAN_CACHED_(__ldcv)
#undef SSAN_CACHED_
#define SSAN_CACHED_(name)                                                                         \
    template <class T> SSAN_DEVICE_ void name(T *address, T value)                                 \
    {                                                                                              \
        *address = value;                                                                          \
    }
SSAN_CACHED_(__stwb)
SSAN_CACHED_(__stcg)
SSAN_CACHED_(__stcs)
SSAN_CACHED_(__stwt)
#undef SSAN_CACHED_

/* Overloads for float that the standard library names and clang's headers only declare, or that
 * CUDA adds. */
#define SSAN_FLOAT1_(type, name)                                                                   \
    SSAN_DEVICE_ type name(float a)                                                                \
    {                                                                                              \
        return name##f(a);                                                                         \
    }
#define SSAN_FLOAT2_(name)                                                                         \
    SSAN_DEVICE_ float name(float a, float b)                                                      \
    {                                                                                              \
        return name##f(a, b);                                                                      \
    }
SSAN_FLOAT1_(float, acosh)
SSAN_FLOAT1_(float, asinh)
SSAN_FLOAT1_(float, atanh)
SSAN_FLOAT1_(float, cbrt)
SSAN_FLOAT1_(float, erfc)
SSAN_FLOAT1_(float, erf)
SSAN_FLOAT1_(float, exp2)
SSAN_FLOAT1_(float, expm1)
SSAN_FLOAT1_(float, lgamma)
SSAN_FLOAT1_(float, log1p)
SSAN_FLOAT1_(float, log2)
SSAN_FLOAT1_(float, logb)
SSAN_FLOAT1_(float, nearbyint)
SSAN_FLOAT1_(float, rint)
SSAN_FLOAT1_(float, round)
SSAN_FLOAT1_(float, tgamma)
SSAN_FLOAT1_(float, trunc)
SSAN_FLOAT1_(float, rsqrt)
SSAN_FLOAT1_(float, rcbrt)
SSAN_FLOAT1_(float, sinpi)
SSAN_FLOAT1_(float, cospi)
SSAN_FLOAT1_(float, exp10)
SSAN_FLOAT1_(float, normcdf)
SSAN_FLOAT1_(float, normcdfinv)
SSAN_FLOAT1_(float, erfcinv)
SSAN_FLOAT1_(float, erfcx)
SSAN_FLOAT1_(float, erfinv)
SSAN_FLOAT1_(int, ilogb)
SSAN_FLOAT1_(long, lrint)
SSAN_FLOAT1_(long, lround)
SSAN_FLOAT1_(long long, llrint)
SSAN_FLOAT2_(copysign)
SSAN_FLOAT2_(fdim)
SSAN_FLOAT2_(fmax)
SSAN_FLOAT2_(fmin)
SSAN_FLOAT2_(hypot)
SSAN_FLOAT2_(nextafter)
SSAN_FLOAT2_(remainder)
#undef SSAN_FLOAT1_
#undef SSAN_FLOAT2_
SSAN_DEVICE_ float fma(float a, float b, float c)
{
    return fmaf(a, b, c);
}
SSAN_DEVICE_ float remquo(float a, float b, int *quotient)
{
    return remquof(a, b, quotient);
}
SSAN_DEVICE_ float scalbn(float a, int power)
{
    return scalbnf(a, power);
}
SSAN_DEVICE_ float scalbln(float a, long power)
{
    return scalblnf(a, power);
}
SSAN_DEVICE_ double nan(const char *)
{
    return __builtin_nan("");
}
SSAN_DEVICE_ float nanf(const char *)
{
    return __builtin_nanf("");
}
SSAN_DEVICE_ void sincos(float a, float *sine, float *cosine)
{
    sincosf(a, sine, cosine);
}
SSAN_DEVICE_ void sincospi(float a, float *sine, float *cosine)
{
    sincospif(a, sine, cosine);
}
#undef SSAN_DEVICE_

/* Host side. */
#define SSAN_HOST_ static __host__ __inline__ __attribute__((unused))
SSAN_HOST_ float rsqrtf(float a)
{
    return 1 / ::sqrtf(a);
}
SSAN_HOST_ double rsqrt(double a)
{
    return 1 / ::sqrt(a);
}
#undef SSAN_HOST_

#endif
