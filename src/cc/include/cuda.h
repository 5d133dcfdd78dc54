/* What programs of the runtime API expect from <cuda.h>: the version and a few handle types. The
 * driver API itself is not offered: its functions are not declared, so that using one is a compile
 * error and not a surprise at run time. */
#ifndef SSAN_CC_CUDA_H
#define SSAN_CC_CUDA_H
#pragma GCC system_header
#define __cuda_cuda_h__

#include <stddef.h>
#include <stdint.h>

#ifndef CUDA_VERSION
#define CUDA_VERSION 12040
#endif

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;
typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

#endif
