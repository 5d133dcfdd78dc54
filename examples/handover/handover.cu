/* Two streams share one buffer: `producer` uploads and scales it, `consumer` adds to it and
 * downloads it. The event `scaled` hands the buffer over.
 *
 *     streamsan cc handover.cu -o handover && streamsan run -- ./handover               clean
 *     streamsan cc -DNO_WAIT handover.cu -o handover && streamsan run -- ./handover     one error:
 * the wait is missing
 *
 * Further faults, which contract.yaml plants: -DRECORD_EARLY (the event stands before the kernel) and
 * -DWRONG_EXPECTATION (what the program compares with is wrong). The number of elements may be given.
 *
 * Without the wait the program may still print the right numbers: nothing makes the two streams
 * start in the wrong order, and nothing keeps them from it. Exit code: 0 all elements are right, 1
 * a CUDA call failed, 2 mismatches. */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

static void check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
        std::exit(1);
    }
}

__global__ void scale(float *data, int count, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        data[i] *= factor;
    }
}

__global__ void add(float *data, int count, float summand)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        data[i] += summand;
    }
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? std::atoi(argv[1]) : 4096, threads = 256;
    const int blocks = (count + threads - 1) / threads;
    const size_t bytes = count * sizeof(float);
    float *input, *output, *buffer;
    cudaStream_t producer, consumer;
    cudaEvent_t scaled;

    /* Pinned host memory: copies of ordinary memory would make the host wait, and hide what is
     * asynchronous here. */
    check(cudaMallocHost(&input, bytes), "input");
    check(cudaMallocHost(&output, bytes), "output");
    check(cudaMalloc(&buffer, bytes), "buffer");
    check(cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking), "producer");
    check(cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking), "consumer");
    check(cudaEventCreateWithFlags(&scaled, cudaEventDisableTiming), "scaled");
    for (int i = 0; i < count; i++) {
        input[i] = (float)i;
    }

    check(cudaMemcpyAsync(buffer, input, bytes, cudaMemcpyHostToDevice, producer), "upload");
#ifdef RECORD_EARLY
    check(cudaEventRecord(scaled, producer), "record");
#endif
    scale<<<blocks, threads, 0, producer>>>(buffer, count, 2.0f);
    check(cudaGetLastError(), "scale");
#ifndef RECORD_EARLY
    check(cudaEventRecord(scaled, producer), "record");
#endif

#ifndef NO_WAIT
    check(cudaStreamWaitEvent(consumer, scaled, 0), "wait");
#endif
    add<<<blocks, threads, 0, consumer>>>(buffer, count, 1.0f);
    check(cudaGetLastError(), "add");
    check(cudaMemcpyAsync(output, buffer, bytes, cudaMemcpyDeviceToHost, consumer), "download");
    check(cudaStreamSynchronize(consumer), "synchronize");

#ifdef WRONG_EXPECTATION
    const float added = 2.0f;
#else
    const float added = 1.0f;
#endif
    int mismatches = 0;
    for (int i = 0; i < count; i++) {
        mismatches += output[i] != 2.0f * (float)i + added;
    }
    std::printf("elements=%d mismatches=%d\n", count, mismatches);

    check(cudaDeviceSynchronize(), "end of all streams"); /* before memory in use is freed */
    check(cudaEventDestroy(scaled), "scaled");
    check(cudaStreamDestroy(consumer), "consumer");
    check(cudaStreamDestroy(producer), "producer");
    check(cudaFree(buffer), "buffer");
    check(cudaFreeHost(output), "output");
    check(cudaFreeHost(input), "input");
    return mismatches ? 2 : 0;
}
