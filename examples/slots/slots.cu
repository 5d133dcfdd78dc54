/* Batches pass through two slots: while one batch is computed, the next is uploaded into the other
 * slot.
 *
 *     host fills slot -> `upload` copies it -> event `filled` -> `compute` works on it -> event
 * `emptied` -> host again
 *
 * A slot is host memory and device memory with two events. `filled` lets the kernel start;
 * `emptied` gives the whole slot back. The host waits for `emptied` before it writes the slot's
 * host memory, and by that the next upload, which the host submits after the wait, comes after the
 * kernel that read the device memory.
 *
 *     streamsan cc slots.cu -o slots && streamsan run -- ./slots             clean
 *     streamsan cc -DNO_WAIT slots.cu -o slots && streamsan run -- ./slots   the slot is refilled
 * while it is in use
 *
 * annotate.h tells streamsan what the host writes and reads, and names what reports speak of;
 * without streamsan it costs nothing. Exit code: 0 all elements are right, 1 a CUDA call failed, 2
 * mismatches. */
#include <cuda_runtime.h>
#include <streamsan/annotate.h>

#include <cstdio>
#include <cstdlib>

enum { SLOTS = 2, BATCHES = 8, COUNT = 1024 };
static const size_t BYTES = COUNT * sizeof(int);

struct slot {
    int *host, *device;
    cudaEvent_t filled, emptied;
};

static void check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
        std::exit(1);
    }
}

__global__ void square(const int *in, int *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        out[i] = in[i] * in[i];
    }
}

static void open_slot(slot *s)
{
    check(cudaMallocHost(&s->host, BYTES), "host memory");
    check(cudaMalloc(&s->device, BYTES), "device memory");
    check(cudaEventCreateWithFlags(&s->filled, cudaEventDisableTiming), "filled");
    check(cudaEventCreateWithFlags(&s->emptied, cudaEventDisableTiming), "emptied");
    SSAN_NAME(s->filled, "filled");
    SSAN_NAME(s->emptied, "emptied");
}

static void close_slot(slot *s)
{
    check(cudaEventDestroy(s->emptied), "emptied");
    check(cudaEventDestroy(s->filled), "filled");
    check(cudaFree(s->device), "device memory");
    check(cudaFreeHost(s->host), "host memory");
}

static void fill(slot *s, int batch)
{
#ifndef NO_WAIT
    if (batch >= SLOTS) {
        check(cudaEventSynchronize(s->emptied), "wait for the slot");
    }
#endif
    for (int i = 0; i < COUNT; i++) {
        s->host[i] = batch + i;
    }
    SSAN_HOST_WRITE(s->host, BYTES);
}

int main()
{
    slot slots[SLOTS];
    cudaStream_t upload, compute;
    int *results, *output, mismatches = 0;
    check(cudaStreamCreateWithFlags(&upload, cudaStreamNonBlocking), "upload");
    check(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking), "compute");
    check(cudaMalloc(&results, BATCHES * BYTES), "results");
    check(cudaMallocHost(&output, BATCHES * BYTES), "output");
    for (slot &s : slots) {
        open_slot(&s);
    }

    for (int batch = 0; batch < BATCHES; batch++) {
        slot *s = &slots[batch % SLOTS];
        fill(s, batch);
        check(cudaMemcpyAsync(s->device, s->host, BYTES, cudaMemcpyHostToDevice, upload), "copy");
        check(cudaEventRecord(s->filled, upload), "record filled");
        check(cudaStreamWaitEvent(compute, s->filled), "wait for filled");
        square<<<COUNT / 256, 256, 0, compute>>>(s->device, results + batch * COUNT, COUNT);
        check(cudaGetLastError(), "square");
        check(cudaEventRecord(s->emptied, compute), "record emptied");
    }
    check(cudaMemcpyAsync(output, results, BATCHES * BYTES, cudaMemcpyDeviceToHost, compute),
          "copy back");
    check(cudaStreamSynchronize(compute), "synchronize");

    SSAN_HOST_READ(output, BATCHES * BYTES);
    for (int i = 0; i < BATCHES * COUNT; i++) {
        int value = i / COUNT + i % COUNT;
        mismatches += output[i] != value * value;
    }
    std::printf("elements=%d mismatches=%d\n", BATCHES * COUNT, mismatches);

    check(cudaDeviceSynchronize(), "end of all streams");
    for (slot &s : slots) {
        close_slot(&s);
    }
    check(cudaFreeHost(output), "output");
    check(cudaFree(results), "results");
    check(cudaStreamDestroy(compute), "compute");
    check(cudaStreamDestroy(upload), "upload");
    return mismatches ? 2 : 0;
}
