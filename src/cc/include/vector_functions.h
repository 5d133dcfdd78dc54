/* make_int2 and its like: a vector of each type from its elements. C11, C++ and device code. */
#ifndef SSAN_CC_VECTOR_FUNCTIONS_H
#define SSAN_CC_VECTOR_FUNCTIONS_H
#pragma GCC system_header
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#ifdef __clang__
#define SSAN_MAKE_ static __inline__ __host__ __device__ __attribute__((unused, nodebug))
#else
#define SSAN_MAKE_ static __inline__ __host__ __device__ __attribute__((unused))
#endif
#define SSAN_MAKE_VECTORS_(name, type)                                                             \
    SSAN_MAKE_ name##1 make_##name##1(type x)                                                      \
    {                                                                                              \
        name##1 v = {x};                                                                           \
        return v;                                                                                  \
    }                                                                                              \
    SSAN_MAKE_ name##2 make_##name##2(type x, type y)                                              \
    {                                                                                              \
        name##2 v = {x, y};                                                                        \
        return v;                                                                                  \
    }                                                                                              \
    SSAN_MAKE_ name##3 make_##name##3(type x, type y, type z)                                      \
    {                                                                                              \
        name##3 v = {x, y, z};                                                                     \
        return v;                                                                                  \
    }                                                                                              \
    SSAN_MAKE_ name##4 make_##name##4(type x, type y, type z, type w)                              \
    {                                                                                              \
        name##4 v = {x, y, z, w};                                                                  \
        return v;                                                                                  \
    }

SSAN_MAKE_VECTORS_(char, signed char)
SSAN_MAKE_VECTORS_(uchar, unsigned char)
SSAN_MAKE_VECTORS_(short, short)
SSAN_MAKE_VECTORS_(ushort, unsigned short)
SSAN_MAKE_VECTORS_(int, int)
SSAN_MAKE_VECTORS_(uint, unsigned int)
SSAN_MAKE_VECTORS_(long, long int)
SSAN_MAKE_VECTORS_(ulong, unsigned long int)
SSAN_MAKE_VECTORS_(longlong, long long int)
SSAN_MAKE_VECTORS_(ulonglong, unsigned long long int)
SSAN_MAKE_VECTORS_(float, float)
SSAN_MAKE_VECTORS_(double, double)

#undef SSAN_MAKE_VECTORS_
#undef SSAN_MAKE_

#endif
