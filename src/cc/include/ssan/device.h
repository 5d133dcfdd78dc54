/* Device side of cuda_runtime.h: brings clang's own CUDA headers (in its resource folder) into the
 * state in which they compile without an NVIDIA toolkit, and adds what they expect from one.
 *
 * The order of the includes is the content of this file:
 *  1. forward declarations of device mathematics come before <cmath>, which pulls them into std;
 *  2. the C headers come before device overloads of malloc, free and the like;
 *  3. __float128 of GNU modes must not be used by libstdc++, as the device has none;
 *  4. the cheap __nv_* are defined after their declarations and before their users. */
#ifndef SSAN_CC_DEVICE_H
#define SSAN_CC_DEVICE_H
#pragma GCC system_header

#if !defined(__CUDA__) || !defined(__clang__)
#error "only for clang compiling CUDA"
#endif
#if __clang_major__ < 14
#error "streamsan needs clang 14 or newer"
#endif

#include <__clang_cuda_math_forward_declares.h>

#define __CUDACC__ 1
#include <cstddef>
#undef _GLIBCXX_USE_FLOAT128
#include <cmath>
#include <cstdlib>
#include <stdlib.h>
#include <math.h>
#include <string.h>
#include <cstdio>
#include <cassert>
#include <climits>
#include <limits>

#include "../cuda.h"
#include "../vector_functions.h"

/* What is inlined from here on has the line of its call in the program. */
#pragma push_macro("__device__")
#undef __device__
#define __device__ __attribute__((device, nodebug))

#include "spaces.h"

#include <__clang_cuda_builtin_vars.h>
#define __DEVICE_LAUNCH_PARAMETERS_H__

#define SSAN_BUILTIN_VARIABLE_(type)                                                               \
    __device__ inline type::operator dim3() const                                                  \
    {                                                                                              \
        return dim3(x, y, z);                                                                      \
    }                                                                                              \
    __device__ inline type::operator uint3() const                                                 \
    {                                                                                              \
        uint3 all = {x, y, z};                                                                     \
        return all;                                                                                \
    }
SSAN_BUILTIN_VARIABLE_(__cuda_builtin_threadIdx_t)
SSAN_BUILTIN_VARIABLE_(__cuda_builtin_blockIdx_t)
SSAN_BUILTIN_VARIABLE_(__cuda_builtin_blockDim_t)
SSAN_BUILTIN_VARIABLE_(__cuda_builtin_gridDim_t)
#undef SSAN_BUILTIN_VARIABLE_

#pragma push_macro("__THROW")
#undef __THROW
#define __THROW

#include <__clang_cuda_libdevice_declares.h>
#include "libdevice.h"
/* Their parameter's sign differs between clang's versions; a macro fits all. */
#define __nv_popc(bits)   __builtin_popcount((unsigned int)(bits))
#define __nv_popcll(bits) __builtin_popcountll((unsigned long long)(bits))
/* In warp_functions.h and barriers.h. */
#define __all                ssan_unused_all
#define __any                ssan_unused_any
#define __ballot             ssan_unused_ballot
#define __syncthreads_and    ssan_clang_syncthreads_and
#define __syncthreads_or     ssan_clang_syncthreads_or
#define __syncthreads_count  ssan_clang_syncthreads_count
#define __threadfence        ssan_clang_threadfence
#define __threadfence_block  ssan_clang_threadfence_block
#define __threadfence_system ssan_clang_threadfence_system
#include <__clang_cuda_device_functions.h>
#undef __nv_popc
#undef __nv_popcll
#undef __all
#undef __any
#undef __ballot
#undef __syncthreads_and
#undef __syncthreads_or
#undef __syncthreads_count
#undef __threadfence
#undef __threadfence_block
#undef __threadfence_system
#include <__clang_cuda_math.h>

extern "C" {
__device__ int vprintf(const char *format, const char *arguments);
__device__ int printf(const char *format, ...);
__device__ void *malloc(size_t size) __attribute__((nothrow, malloc));
__device__ void free(void *ptr) __attribute__((nothrow));
__device__ void __assertfail(const char *message, const char *file, unsigned int line,
                             const char *function, size_t char_size);
/* Inlined, so that a failed assertion has the line of the program. */
__device__ static inline __attribute__((always_inline)) void
__assert_fail(const char *message, const char *file, unsigned int line, const char *function)
{
    __assertfail(message, file, line, function, sizeof(char));
}
}

namespace std {
__device__ static inline void *malloc(size_t size)
{
    return ::malloc(size);
}
__device__ static inline void free(void *ptr)
{
    ::free(ptr);
}
} // namespace std

#include <__clang_cuda_cmath.h>
/* warp_functions.h has the shuffles. Newer versions have the others as instructions of sm_80; ours
 * work on every device. */
#define __reduce_add_sync    ssan_unused_reduce_add_sync
#define __reduce_min_sync    ssan_unused_reduce_min_sync
#define __reduce_max_sync    ssan_unused_reduce_max_sync
#define __reduce_and_sync    ssan_unused_reduce_and_sync
#define __reduce_or_sync     ssan_unused_reduce_or_sync
#define __reduce_xor_sync    ssan_unused_reduce_xor_sync
#define __shfl               ssan_unused_shfl
#define __shfl_up            ssan_unused_shfl_up
#define __shfl_down          ssan_unused_shfl_down
#define __shfl_xor           ssan_unused_shfl_xor
#define __shfl_sync          ssan_unused_shfl_sync
#define __shfl_up_sync       ssan_unused_shfl_up_sync
#define __shfl_down_sync     ssan_unused_shfl_down_sync
#define __shfl_xor_sync      ssan_unused_shfl_xor_sync
#define __syncwarp           ssan_clang_syncwarp
#define __barrier_sync       ssan_clang_barrier_sync
#define __barrier_sync_count ssan_clang_barrier_sync_count
#include <__clang_cuda_intrinsics.h>
#undef __syncwarp
#undef __barrier_sync
#undef __barrier_sync_count
#undef __reduce_add_sync
#undef __reduce_min_sync
#undef __reduce_max_sync
#undef __reduce_and_sync
#undef __reduce_or_sync
#undef __reduce_xor_sync
#undef __shfl
#undef __shfl_up
#undef __shfl_down
#undef __shfl_xor
#undef __shfl_sync
#undef __shfl_up_sync
#undef __shfl_down_sync
#undef __shfl_xor_sync
#include <__clang_cuda_complex_builtins.h>

#pragma pop_macro("__THROW")

#include "atomics.h"
#include "barriers.h"
#include "warp_functions.h"

#include "device_functions.h"
#include "minmax.h"
#include "unsupported.h"

#pragma pop_macro("__device__")

#endif
