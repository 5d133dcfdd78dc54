/* CUDA's vector types and dim3, as plain structs of C11 and C++.
 *
 * Sizes and alignments are those that the CUDA C++ Programming Guide tabulates (two and four
 * elements are aligned to the whole vector, to 16 bytes at most; one and three to the element).
 * dim3 has constructors in C++ and travels to functions exactly like the C struct. */
#ifndef SSAN_CC_VECTOR_TYPES_H
#define SSAN_CC_VECTOR_TYPES_H
#pragma GCC system_header
#define __VECTOR_TYPES_H__

#include "host_defines.h"

#define SSAN_VECTOR_(name, type, align, members)                                                   \
    struct __attribute__((aligned(align))) name {                                                  \
        type members;                                                                              \
    };                                                                                             \
    typedef struct name name;
#define SSAN_VECTORS_(name, type, align1, align2, align4)                                          \
    SSAN_VECTOR_(name##1, type, align1, x)                                                         \
    SSAN_VECTOR_(name##2, type, align2, SSAN_XY_)                                                  \
    SSAN_VECTOR_(name##3, type, align1, SSAN_XYZ_)                                                 \
    SSAN_VECTOR_(name##4, type, align4, SSAN_XYZW_)
#define SSAN_XY_   x, y
#define SSAN_XYZ_  x, y, z
#define SSAN_XYZW_ x, y, z, w

SSAN_VECTORS_(char, signed char, 1, 2, 4)
SSAN_VECTORS_(uchar, unsigned char, 1, 2, 4)
SSAN_VECTORS_(short, short, 2, 4, 8)
SSAN_VECTORS_(ushort, unsigned short, 2, 4, 8)
SSAN_VECTORS_(int, int, 4, 8, 16)
SSAN_VECTORS_(uint, unsigned int, 4, 8, 16)
SSAN_VECTORS_(long, long int, 8, 16, 16)
SSAN_VECTORS_(ulong, unsigned long int, 8, 16, 16)
SSAN_VECTORS_(longlong, long long int, 8, 16, 16)
SSAN_VECTORS_(ulonglong, unsigned long long int, 8, 16, 16)
SSAN_VECTORS_(float, float, 4, 8, 16)
SSAN_VECTORS_(double, double, 8, 16, 16)

#undef SSAN_VECTOR_
#undef SSAN_VECTORS_
#undef SSAN_XY_
#undef SSAN_XYZ_
#undef SSAN_XYZW_

struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
#if __cplusplus >= 201103L
    __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1,
                                       unsigned int vz = 1)
        : x(vx), y(vy), z(vz)
    {
    }
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    __host__ __device__ constexpr operator uint3() const
    {
        return uint3{x, y, z};
    }
#else
    __host__ __device__ dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
        : x(vx), y(vy), z(vz)
    {
    }
#endif
#endif
};
typedef struct dim3 dim3;

#endif
