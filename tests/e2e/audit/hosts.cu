// The host waits before it reads and before it refills; a helper that waits is one place however often it is called.
#include "common.cuh"

static void wait_for(cudaEvent_t event)
{
    CK(cudaEventSynchronize(event));     // @load-bearing
}

int main(void)
{
    cudaStream_t x;
    cudaEvent_t sent;
    int *a, *in, *out;
    CK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking));
    CK(cudaEventCreateWithFlags(&sent, cudaEventDisableTiming));
    CK(cudaMalloc((void **)&a, BYTES));
    CK(cudaMallocHost((void **)&in, BYTES));
    CK(cudaMallocHost((void **)&out, BYTES));
    for (int batch = 0; batch < 4; batch++) {
        if (batch > 0) {
            wait_for(sent);
        }
        for (int i = 0; i < N; i++) in[i] = i + batch;
        SSAN_HOST_WRITE(in, BYTES);
        CK(cudaMemcpyAsync(a, in, BYTES, cudaMemcpyHostToDevice, x));
        CK(cudaEventRecord(sent, x));
        CK(cudaStreamWaitEvent(x, sent, 0)); // @redundant covered stream
        twice<<<8, 256, 0, x>>>(a);
    }
    CK(cudaMemcpyAsync(out, a, BYTES, cudaMemcpyDeviceToHost, x));
    CK(cudaStreamSynchronize(x));        // @load-bearing
    SSAN_HOST_READ(out, BYTES);
    CK(cudaStreamSynchronize(x));        // @redundant
    printf("%d\n", out[5]);
    return 0;
}
