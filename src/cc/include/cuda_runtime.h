/* The CUDA runtime for programs that streamsan checks: API, vector types, and in .cu files the
 * device side.
 *
 * `streamsan cc` includes this file before everything else in a .cu file, as CUDA compilers do. In
 * C and C++ files of the program it is the host API alone. */
#ifndef SSAN_CC_CUDA_RUNTIME_H
#define SSAN_CC_CUDA_RUNTIME_H
#pragma GCC system_header
#define __CUDA_RUNTIME_H__

#include "host_defines.h"

#if defined(__CUDA__) && defined(__clang__)
#include "ssan/device.h"
#endif

#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "vector_functions.h"

#if defined(__CUDA__) && defined(__clang__)
/* Clang turns kernel<<<grid, block, shared, stream>>>(...) into a call of this function and, when
 * that returns 0, of the kernel's host stub. Launches of a translation unit with the per-thread
 * default stream call another symbol. */
extern "C" unsigned int __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim,
                                                    size_t sharedMem = 0, cudaStream_t stream = 0)
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
    __asm__("__cudaPushCallConfiguration_ptsz")
#endif
        ;
#include "ssan/register_early.h"
#endif

#ifdef __cplusplus
#include "ssan/runtime_templates.h"
#endif

#endif
