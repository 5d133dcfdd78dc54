// BUILD:
// VERDICT: clean
// EXIT: 0
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
// BUILD: -DRACY
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAR 'weights' [4096,8192) then=kernel:update
// RUN: --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAR 'weights' [4096,8192) then=kernel:update
/* A kernel reads through __restrict__ and __ldg what another stream updates through a second
 * pointer into the same buffer; two readers without order are no race. */
#include "common.h"

struct view {
    const int *base;
    long long offset;
};

static __global__ void forward(const int *__restrict__ weights, int *__restrict__ out)
{
    out[threadIdx.x] = __ldg(&weights[threadIdx.x]);
}

static __global__ void gather(view v, int *out)
{
    const int4 *wide = reinterpret_cast<const int4 *>(v.base + v.offset);
    int4 four = wide[threadIdx.x];
    out[threadIdx.x] = four.x + four.y + four.z + four.w;
}

static __global__ void update(int *weights)
{
    weights[threadIdx.x] += 1;
}

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    int *weights = new_device(BYTES), *out = new_device(BYTES), *out2 = new_device(BYTES);
    forward<<<1, 1024, 0, a>>>(weights + 1024, out);
    gather<<<1, 256, 0, b>>>(view{weights + 2048, -1024}, out2);
    gather<<<1, 256, 0, a>>>(view{weights + 2048, -1024}, out + 1024);
#ifndef RACY
    CK(cudaStreamSynchronize(a));
#endif
    update<<<1, 1024, 0, b>>>(weights + 1024);
    CK(cudaDeviceSynchronize());
    return 0;
}
