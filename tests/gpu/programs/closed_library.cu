/* A product by a closed library on one stream, read on another; -DFIXED makes the reader wait.
 *
 * Which kernel the library takes, and whether its accesses can be seen one by one, is the library's affair. */
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <streamsan/annotate.h>
#include <vector>

static const int N = 512;

static void must(int result, const char *what)
{
    if (result) {
        std::fprintf(stderr, "%s: %d\n", what, result);
        std::exit(1);
    }
}
#define MUST(call) must((int)(call), #call)

__global__ void fill(float *p, float value)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void halve(const float *from, float *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = 0.5f * from[i];
}

int main()
{
    const size_t bytes = sizeof(float) * N * N;
    float *a, *b, *product, *half;
    cudaStream_t maker, reader;
    cudaEvent_t ready;
    cublasHandle_t handle;
    const float one = 1.0f, zero = 0.0f;
    MUST(cublasCreate(&handle));
    MUST(cudaMalloc(&a, bytes));
    MUST(cudaMalloc(&b, bytes));
    MUST(cudaMalloc(&product, bytes));
    MUST(cudaMalloc(&half, bytes));
    MUST(cudaStreamCreateWithFlags(&maker, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&reader, cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    SSAN_NAME(product, "product");
    fill<<<N * N / 256, 256>>>(a, 0.5f);
    fill<<<N * N / 256, 256>>>(b, 2.0f);
    fill<<<N * N / 256, 256>>>(product, 1.0f);
    MUST(cudaDeviceSynchronize());
    MUST(cublasSetStream(handle, maker));
    MUST(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, b, N, &zero, product, N));
#ifdef FIXED
    MUST(cudaEventRecord(ready, maker));
    MUST(cudaStreamWaitEvent(reader, ready, 0));
#endif
    halve<<<N * N / 256, 256, 0, reader>>>(product, half);
    MUST(cudaDeviceSynchronize());
    std::vector<float> host(N * N);
    MUST(cudaMemcpy(host.data(), half, bytes, cudaMemcpyDeviceToHost));
    int bad = 0;
    for (float value : host) {
        bad += value != 0.5f * N;
    }
    std::printf("elements=%d mismatches=%d\n", N * N, bad);
    return bad ? 2 : 0;
}
