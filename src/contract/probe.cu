/* What the CUDA runtime says of itself and of its devices: KEY=VALUE, a line each. Evidence of a
 * contract builds it as the contract's own program is built, and keeps what it prints. */
#include <cuda_runtime.h>

#include <stdio.h>

int main()
{
    int runtime = 0, driver = 0, count = 0;
    cudaError_t error = cudaRuntimeGetVersion(&runtime);
    if (error == cudaSuccess) {
        printf("runtime=%d\n", runtime);
    }
    if (error == cudaSuccess && (error = cudaDriverGetVersion(&driver)) == cudaSuccess) {
        printf("driver_api=%d\n", driver);
    }
    if (error == cudaSuccess && (error = cudaGetDeviceCount(&count)) == cudaSuccess) {
        printf("devices=%d\n", count);
    }
    for (int i = 0; i < count && error == cudaSuccess; i++) {
        cudaDeviceProp prop;
        error = cudaGetDeviceProperties(&prop, i);
        if (error == cudaSuccess) {
            printf("device%d.name=%s\n", i, prop.name);
            printf("device%d.compute=%d.%d\n", i, prop.major, prop.minor);
            printf("device%d.memory_bytes=%llu\n", i, (unsigned long long)prop.totalGlobalMem);
            printf("device%d.multiprocessors=%d\n", i, prop.multiProcessorCount);
        }
    }
    if (error != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
        return 1;
    }
    return 0;
}
