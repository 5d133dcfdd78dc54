/* cudaProfilerStart and cudaProfilerStop; declared with the rest of the runtime API. */
#ifndef SSAN_CC_CUDA_PROFILER_API_H
#define SSAN_CC_CUDA_PROFILER_API_H
#pragma GCC system_header

#include "cuda_runtime_api.h"

#endif
