/* Launches that fail and who asks for their errors; an error of work that is passed over. */
#include "capture/program/program.h"

#include "streamsan/annotate.h"

static void *device;
static cudaStream_t stream;

static void begin(void)
{
    cudaMalloc(&device, 4096);
    cudaStreamCreate(&stream);
}

/* As compilers call what stands for kernel<<<...>>>(...): it throws the launch's result away. */
static void __device_stub__scale(void *data)
{
    launch(&kernel_scale, data, NULL, stream);
}

/* Each failure is asked for, by its thread, or given to its caller. */
int scenario_asked(void)
{
    int errors = 0;
    begin();
    __device_stub__scale(device);
    errors += cudaGetLastError() != 0; /* nothing to tell */
    fake_fail(CUDA_INVALID_VALUE);
    __device_stub__scale(device);
    errors += cudaPeekAtLastError() == CUDA_INVALID_VALUE;
    errors += cudaGetLastError() == CUDA_INVALID_VALUE;
    errors += cudaGetLastError() != 0;
    fake_fail(CUDA_INVALID_VALUE);
    errors += launch(&kernel_add, device, device, stream) == CUDA_INVALID_VALUE;
    cudaStreamSynchronize(stream);
    return errors == 3 ? 0 : 3;
}

/* Nobody asks; a library that looks is nobody. */
int scenario_unasked(void)
{
    int error;
    begin();
    fake_fail(CUDA_INVALID_VALUE);
    __device_stub__scale(device);
    SSAN_USAGE(device, "use it as the library says");
    SSAN_LIBRARY_ASKS(1);
    error = cudaPeekAtLastError();
    SSAN_LIBRARY_ASKS(0);
    cudaMemsetAsync(device, 0, 64, stream);
    return error == CUDA_INVALID_VALUE ? cudaStreamSynchronize(stream) : 3;
}

/* A fault is returned by a join, and the thread goes on. */
int scenario_passed_over(void)
{
    begin();
    __device_stub__scale(device);
    fake_fault(CUDA_ILLEGAL_ADDRESS);
    cudaStreamSynchronize(stream);
    __device_stub__scale(device);
    cudaMemsetAsync(device, 0, 64, stream);
    return cudaGetLastError() == CUDA_ILLEGAL_ADDRESS ? 0 : 3;
}

/* So is an error of work that few programs ever see: it ends the context as well. */
int scenario_tensor_memory(void)
{
    const int leak = 721; /* CUDA_ERROR_TENSOR_MEMORY_LEAK */
    begin();
    __device_stub__scale(device);
    fake_fault(leak);
    return cudaStreamSynchronize(stream) == leak && cudaGetLastError() == leak ? 0 : 3;
}
