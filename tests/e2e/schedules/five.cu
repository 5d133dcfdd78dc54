// Five items without an edge between the streams, one host thread.
#include <cstdio>
#include <cuda_runtime.h>
__global__ void scale(float *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        d[i] *= 2.0f;
    }
}
__global__ void add(float *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        d[i] += 1.0f;
    }
}
int main()
{
    const int n = 1024;
    float *in, *out, *dev;
    cudaStream_t a, b;
    cudaEvent_t ready;
    cudaMallocHost(&in, n * sizeof *in);
    cudaMallocHost(&out, n * sizeof *out);
    cudaMalloc(&dev, n * sizeof *dev);
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    for (int i = 0; i < n; i++) {
        in[i] = (float)i;
    }
    cudaMemcpyAsync(dev, in, n * sizeof *in, cudaMemcpyHostToDevice, a);
    scale<<<n / 64, 64, 0, a>>>(dev, n);
    cudaEventRecord(ready, a);
#ifdef WAIT
    cudaStreamWaitEvent(b, ready, 0);
#endif
    add<<<n / 64, 64, 0, b>>>(dev, n);
    cudaMemcpyAsync(out, dev, n * sizeof *out, cudaMemcpyDeviceToHost, b);
    printf("%s\n", out[1] == 3.0f ? "early" : "late");
    cudaStreamSynchronize(b);
    int right = 0;
    for (int i = 0; i < n; i++) {
        right += out[i] == 2.0f * (float)i + 1.0f;
    }
    printf("right=%d\n", right);
    return 0;
}
