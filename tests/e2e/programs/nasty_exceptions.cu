// BUILD:
// VERDICT: clean
// EXIT: 0
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
// BUILD: -DRACY
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' [0,32768) fix=checked
// RUN: --schedule random:11
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' [0,32768)
/* An exception thrown between two launches skips the record of the event; the kernels are
 * templates over lambdas. */
#include "common.h"

#include <stdexcept>

template <typename T, typename F> static __global__ void each(T *data, F f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = f(data[i], i);
}

struct add_index {
    double scale;
    __device__ double operator()(double value, int i) const
    {
        return value + scale * i;
    }
};

static void produce(double *data, cudaStream_t stream, cudaEvent_t ready)
{
    each<<<GRID, 256, 0, stream>>>(data, add_index{2.0});
#ifdef RACY
    throw std::runtime_error("the record below is skipped");
#endif
    CK(cudaEventRecord(ready, stream));
}

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    cudaEvent_t ready = new_event();
    double *data = (double *)new_device(2 * BYTES);
    CK(cudaEventRecord(ready, a));
    try {
        produce(data, a, ready);
    } catch (const std::exception &) {
        fprintf(stderr, "caught\n");
    }
    CK(cudaStreamWaitEvent(b, ready, 0));
    each<<<GRID, 256, 0, b>>>(data, [] __device__(double value, int) { return value * 2; });
    CK(cudaDeviceSynchronize());
    return 0;
}
