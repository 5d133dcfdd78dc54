/* Error state and its words (R-ERR-*). */
#include "vcuda/device.h"

#include "vcuda/emit.h"

cudaError_t cudaGetLastError(void)
{
    return call_last_error(true);
}

cudaError_t cudaPeekAtLastError(void)
{
    return call_last_error(false);
}

const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define CUDA_ERROR(name, value, text)                                                              \
    case name:                                                                                     \
        return #name;
#include "ssan/cuda_errors.def"
#undef CUDA_ERROR
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
#define CUDA_ERROR(name, value, text)                                                              \
    case name:                                                                                     \
        return text;
#include "ssan/cuda_errors.def"
#undef CUDA_ERROR
    }
    return "unrecognized error code";
}
