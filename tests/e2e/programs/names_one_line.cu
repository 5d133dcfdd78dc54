// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'tmp' [0,1024) first=kernel:fill then=kernel:take
// FINDING: error SSAN-RAW 'held' [0,1024) first=kernel:fill then=kernel:take
// FINDING: error SSAN-RAW 's.out' [0,1024) first=kernel:fill then=kernel:take
// MAY: advice SSAN-EVENT-UNRECORDED
// Several calls that make objects stand on one line; each object has the name of its own call.
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if ((call) != cudaSuccess) {                                                               \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

struct slot {
    float *in, *out;
};

__global__ void fill(float *p)
{
    p[threadIdx.x] = 1;
}

__global__ void take(const float *p, float *q)
{
    q[threadIdx.x] = p[threadIdx.x];
}

int main()
{
    // clang-format off
    cudaStream_t s1, s2, s3; cudaStreamCreate(&s1); cudaStreamCreate(&s2); CHECK(cudaStreamCreate(&s3));
    cudaEvent_t ea, eb; cudaEventCreate(&ea); cudaEventCreate(&eb);
    float *src, *tmp, *dst; cudaMalloc(&src, 1024); cudaMalloc(&tmp, 1024); cudaMalloc(&dst, 1024);
    float *host, *held; cudaMallocHost(&host, 1024); CHECK(cudaMalloc(&held, 1024));
    slot s; CHECK(cudaMalloc(&s.in, 1024)); CHECK(cudaMalloc(&s.out, 1024));
    // clang-format on
    fill<<<1, 256, 0, s1>>>(tmp);
    cudaEventRecord(ea, s1);
    cudaStreamWaitEvent(s2, eb, 0);
    take<<<1, 256, 0, s2>>>(tmp, dst);
    cudaDeviceSynchronize();
    fill<<<1, 256, 0, s1>>>(held);
    take<<<1, 256, 0, s3>>>(held, src);
    cudaDeviceSynchronize();
    fill<<<1, 256, 0, s3>>>(s.out);
    take<<<1, 256, 0, s2>>>(s.out, s.in);
    cudaDeviceSynchronize();
    return 0;
}
