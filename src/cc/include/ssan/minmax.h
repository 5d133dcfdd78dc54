/* min() and max() of every type, for both sides.
 *
 * Clang has those of int for the device alone: with others its arguments would silently become int.
 * One of a signed and an unsigned type is in the unsigned one, of float and double in double. */
#ifndef SSAN_CC_MINMAX_H
#define SSAN_CC_MINMAX_H
#pragma GCC system_header

#define SSAN_MINMAX_INT_(side, type)                                                               \
    static side __inline__ __attribute__((unused)) type min(type a, type b)                        \
    {                                                                                              \
        return b < a ? b : a;                                                                      \
    }                                                                                              \
    static side __inline__ __attribute__((unused)) type max(type a, type b)                        \
    {                                                                                              \
        return a < b ? b : a;                                                                      \
    }
#define SSAN_MINMAX_AS_(side, name, type, first, second)                                           \
    static side __inline__ __attribute__((unused)) type name(first a, second b)                    \
    {                                                                                              \
        return name((type)a, (type)b);                                                             \
    }
#define SSAN_MINMAX_MIXED_(side, type, first, second)                                              \
    SSAN_MINMAX_AS_(side, min, type, first, second)                                                \
    SSAN_MINMAX_AS_(side, max, type, first, second)                                                \
    SSAN_MINMAX_AS_(side, min, type, second, first)                                                \
    SSAN_MINMAX_AS_(side, max, type, second, first)
#define SSAN_MINMAX_FLOAT_(side, type, least, most)                                                \
    static side __inline__ __attribute__((unused)) type min(type a, type b)                        \
    {                                                                                              \
        return ::least(a, b);                                                                      \
    }                                                                                              \
    static side __inline__ __attribute__((unused)) type max(type a, type b)                        \
    {                                                                                              \
        return ::most(a, b);                                                                       \
    }
#define SSAN_MINMAX_(side)                                                                         \
    SSAN_MINMAX_INT_(side, unsigned int)                                                           \
    SSAN_MINMAX_INT_(side, long)                                                                   \
    SSAN_MINMAX_INT_(side, unsigned long)                                                          \
    SSAN_MINMAX_INT_(side, long long)                                                              \
    SSAN_MINMAX_INT_(side, unsigned long long)                                                     \
    SSAN_MINMAX_FLOAT_(side, float, fminf, fmaxf)                                                  \
    SSAN_MINMAX_FLOAT_(side, double, fmin, fmax)                                                   \
    SSAN_MINMAX_MIXED_(side, unsigned int, int, unsigned int)                                      \
    SSAN_MINMAX_MIXED_(side, unsigned long, long, unsigned long)                                   \
    SSAN_MINMAX_MIXED_(side, unsigned long long, long long, unsigned long long)                    \
    SSAN_MINMAX_MIXED_(side, double, float, double)

SSAN_MINMAX_INT_(__host__, int)
SSAN_MINMAX_(__host__)
SSAN_MINMAX_(__device__)

#undef SSAN_MINMAX_
#undef SSAN_MINMAX_FLOAT_
#undef SSAN_MINMAX_MIXED_
#undef SSAN_MINMAX_AS_
#undef SSAN_MINMAX_INT_

#endif
