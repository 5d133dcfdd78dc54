/* Two queries that are right while they agree: each alone may answer either way, mixed answers are the fault. */
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(int *d, int value) { d[threadIdx.x] = value; }

int main() {
    int *a, *b;
    cudaStream_t first, second;
    cudaEvent_t one, two;
    cudaMalloc(&a, 32 * sizeof *a);
    cudaMalloc(&b, 32 * sizeof *b);
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreate(&one);
    cudaEventCreate(&two);
    fill<<<1, 32, 0, first>>>(a, 1);
    cudaEventRecord(one, first);
    fill<<<1, 32, 0, second>>>(b, 2);
    cudaEventRecord(two, second);
    bool mixed = (cudaEventQuery(one) == cudaSuccess) != (cudaEventQuery(two) == cudaSuccess);
    cudaDeviceSynchronize();
    std::printf("%s\n", mixed ? "mixed" : "agreed");
    return 0;
}
