/* Error state and its words (R-ERR-*). */
#include "vcuda/device.h"

#include "vcuda/emit.h"
#include "vcuda/site.h"
#include "vcuda/threads.h"

/* The program wants to know which error there was; of a library's own question it learns nothing.
 */
static void asks(const char *name, const void *frame, cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady && !threads_library_asks() &&
        emit_is_on()) {
        emit_asked(name, (uint32_t)error, threads_self(), site_capture(frame));
    }
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = call_last_error(true);
    asks("cudaGetLastError", __builtin_frame_address(0), error);
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    cudaError_t error = call_last_error(false);
    asks("cudaPeekAtLastError", __builtin_frame_address(0), error);
    return error;
}

/* An error that ended the context is known to whoever has it put into words. */
static void puts_into_words(const char *name, const void *frame, cudaError_t error)
{
    if (error != cudaSuccess && error == __atomic_load_n(&device.sticky, __ATOMIC_RELAXED)) {
        asks(name, frame, error);
    }
}

const char *cudaGetErrorName(cudaError_t error)
{
    puts_into_words("cudaGetErrorName", __builtin_frame_address(0), error);
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
    puts_into_words("cudaGetErrorString", __builtin_frame_address(0), error);
    switch (error) {
#define CUDA_ERROR(name, value, text)                                                              \
    case name:                                                                                     \
        return text;
#include "ssan/cuda_errors.def"
#undef CUDA_ERROR
    }
    return "unrecognized error code";
}
