/* The attributes of CUDA's functions and variables; nothing in a compiler that doesn't compile
 * CUDA.
 *
 * Included by every header here, first. __noinline__ is a macro because programs use it as a word;
 * headers of libstdc++ that use it inside __attribute__ are wrapped (bits/). */
#ifndef SSAN_CC_HOST_DEFINES_H
#define SSAN_CC_HOST_DEFINES_H
#pragma GCC system_header
#define __HOST_DEFINES_H__

#if defined(__CUDA__) && defined(__clang__)
#define __host__     __attribute__((host))
#define __device__   __attribute__((device))
#define __global__   __attribute__((global))
#define __shared__   __attribute__((shared))
#define __constant__ __attribute__((constant))
/* Nothing on the virtual device is shared with the host. */
#define __managed__                                                                                \
    _Pragma("GCC error \"__managed__: streamsan cc does not support managed variables\"")          \
        __attribute__((device))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__        __inline__ __attribute__((always_inline))
#define __noinline__           __attribute__((noinline))
#define __grid_constant__
#define __cluster_dims__(...)
#define __maxnreg__(...)
#else
#ifndef __host__
#define __host__
#endif
#ifndef __device__
#define __device__
#endif
#endif

#ifndef __align__
#define __align__(n) __attribute__((aligned(n)))
#endif
#ifndef __builtin_align__
#define __builtin_align__(n) __align__(n)
#endif
#ifndef CUDARTAPI
#define CUDARTAPI
#endif
#ifndef CUDART_CB
#define CUDART_CB
#endif
#ifndef CUDA_CB
#define CUDA_CB
#endif

/* A default argument: only C++ has them. */
#ifdef __cplusplus
#define SSAN_DEFAULT(value) = value
#else
#define SSAN_DEFAULT(value)
#endif

#endif
