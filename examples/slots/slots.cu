/* Batches pass through a ring of slots: while one is computed, the next is uploaded and the last one
 * downloaded.
 *
 *     host fills slot -> `upload` -> event `filled` -> `compute` -> event `computed` -> `download`
 *          ^                                                                               |
 *          +------------------- event `emptied`: the whole slot may be used again <--------+
 *
 * A slot is host memory and device memory, in and out, with three events. Each is needed; built with
 * one of these, a program that lacks it (docs/tutorial.md tells what streamsan says of each):
 *
 *     -DNO_FILLED       the kernel does not wait for the upload
 *     -DFILLED_EARLY    the event stands before the upload
 *     -DNO_COMPUTED     the download does not wait for the kernel
 *     -DNO_WAIT         the host does not wait for `emptied` before it uses the slot again
 *     -DWRONG_RECLAIM   it waits for `computed` instead
 *     -DSHARED_SLOT     two slots of the ring have one slot's memory
 *     -DNO_ANSWER       the host reads the last results without waiting
 *     -DWRONG_EXPECTATION  what the program compares with is wrong (contract.yaml plants all of these)
 *
 *     streamsan cc slots.cu -o slots && streamsan run -- ./slots             clean
 *
 * -DCOUNT, -DSLOTS, -DBATCHES set elements of a batch, slots, batches. annotate.h tells streamsan
 * what the host writes and reads; without streamsan it costs nothing. Exit code: 0 all elements are
 * right, 1 a CUDA call failed, 2 mismatches. */
#include <cuda_runtime.h>
#include <streamsan/annotate.h>

#include <cstdio>
#include <cstdlib>

#ifndef COUNT
#define COUNT 1024
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef BATCHES
#define BATCHES 8
#endif
static const size_t BYTES = COUNT * sizeof(int);

struct slot {
    int *input, *in, *out, *output; /* host, device, device, host */
    cudaEvent_t filled, computed, emptied;
    int batch; /* that is under way; -1: none */
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

static cudaEvent_t new_event(const char *name)
{
    cudaEvent_t event;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), name);
    SSAN_NAME(event, name);
    return event;
}

static void open_slot(slot *s)
{
    check(cudaMallocHost(&s->input, BYTES), "input");
    check(cudaMalloc(&s->in, BYTES), "in");
    check(cudaMalloc(&s->out, BYTES), "out");
    check(cudaMallocHost(&s->output, BYTES), "output");
    s->filled = new_event("filled");
    s->computed = new_event("computed");
    s->emptied = new_event("emptied");
    s->batch = -1;
}

static void close_slot(slot *s)
{
    check(cudaEventDestroy(s->emptied), "emptied");
    check(cudaEventDestroy(s->computed), "computed");
    check(cudaEventDestroy(s->filled), "filled");
    check(cudaFreeHost(s->output), "output");
    check(cudaFree(s->out), "out");
    check(cudaFree(s->in), "in");
    check(cudaFreeHost(s->input), "input");
}

/* Takes the results of the batch that is under way; what remains is a slot without one. */
static int empty(slot *s, bool last)
{
    int mismatches = 0, batch = s->batch;
    (void)last;
    s->batch = -1;
    if (batch < 0) {
        return 0;
    }
#if defined(WRONG_RECLAIM)
    check(cudaEventSynchronize(s->computed), "wait for the slot");
#elif !defined(NO_WAIT)
#ifdef NO_ANSWER
    if (!last)
#endif
        check(cudaEventSynchronize(s->emptied), "wait for the slot");
#endif
    SSAN_HOST_READ(s->output, BYTES);
    for (int i = 0; i < COUNT; i++) {
#ifdef WRONG_EXPECTATION
        int value = batch + i % 1000 + 1;
#else
        int value = batch + i % 1000;
#endif
        mismatches += s->output[i] != value * value;
    }
    return mismatches;
}

static void fill(slot *s, int batch)
{
    for (int i = 0; i < COUNT; i++) {
        s->input[i] = batch + i % 1000;
    }
    SSAN_HOST_WRITE(s->input, BYTES);
    s->batch = batch;
}

int main()
{
    slot slots[SLOTS];
    cudaStream_t upload, compute, download;
    int mismatches = 0;
    check(cudaStreamCreateWithFlags(&upload, cudaStreamNonBlocking), "upload");
    check(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking), "compute");
    check(cudaStreamCreateWithFlags(&download, cudaStreamNonBlocking), "download");
    for (slot &s : slots) {
        open_slot(&s);
    }

    for (int batch = 0; batch < BATCHES; batch++) {
        slot *s = &slots[batch % SLOTS];
#ifdef SHARED_SLOT
        int *in = slots[0].in;
#else
        int *in = s->in;
#endif
        mismatches += empty(s, false);
        fill(s, batch);

#ifdef FILLED_EARLY
        check(cudaEventRecord(s->filled, upload), "record filled");
#endif
        check(cudaMemcpyAsync(in, s->input, BYTES, cudaMemcpyHostToDevice, upload), "upload");
#ifndef FILLED_EARLY
        check(cudaEventRecord(s->filled, upload), "record filled");
#endif
#ifndef NO_FILLED
        check(cudaStreamWaitEvent(compute, s->filled, 0), "wait for filled");
#endif
        square<<<(COUNT + 255) / 256, 256, 0, compute>>>(in, s->out, COUNT);
        check(cudaGetLastError(), "square");
        check(cudaEventRecord(s->computed, compute), "record computed");
#ifndef NO_COMPUTED
        check(cudaStreamWaitEvent(download, s->computed, 0), "wait for computed");
#endif
        check(cudaMemcpyAsync(s->output, s->out, BYTES, cudaMemcpyDeviceToHost, download),
              "download");
        check(cudaEventRecord(s->emptied, download), "record emptied");
    }
    for (slot &s : slots) {
        mismatches += empty(&s, true);
    }
    std::printf("elements=%d mismatches=%d\n", BATCHES * COUNT, mismatches);

    check(cudaDeviceSynchronize(), "end of all streams");
    for (slot &s : slots) {
        close_slot(&s);
    }
    check(cudaStreamDestroy(download), "download");
    check(cudaStreamDestroy(compute), "compute");
    check(cudaStreamDestroy(upload), "upload");
    return mismatches ? 2 : 0;
}
