// A ring of slots, of which the event of slot 1 is never recorded. The trace has errors at the lines that the waits are for,
// so the loss of a wait adds no finding, only instances: that is no reason to let it go.
// ERRORS
// TOGETHER 1 of 1
#include "common.cuh"

#define SLOTS 3
#define TURNS 9

int main(void)
{
    cudaStream_t producer, consumer;
    cudaEvent_t full[SLOTS], empty[SLOTS];
    int *slots[SLOTS], *sum;
    CK(cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking));
    CK(cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking));
    CK(cudaMalloc((void **)&sum, BYTES));
    CK(cudaMemsetAsync(sum, 0, BYTES, consumer));
    for (int i = 0; i < SLOTS; i++) {
        CK(cudaMalloc((void **)&slots[i], BYTES));
        CK(cudaEventCreateWithFlags(&full[i], cudaEventDisableTiming));
        CK(cudaEventCreateWithFlags(&empty[i], cudaEventDisableTiming));
    }
    for (int i = 0; i < TURNS; i++) {
        int slot = i % SLOTS;
        CK(cudaStreamWaitEvent(producer, empty[slot], 0)); // @load-bearing more
        fill<<<8, 256, 0, producer>>>(slots[slot]);
        if (slot != 1) {
            CK(cudaEventRecord(full[slot], producer));
        }
        CK(cudaStreamWaitEvent(consumer, full[slot], 0)); // @load-bearing more
        add<<<8, 256, 0, consumer>>>(slots[slot], sum);
        if (slot != 1) {
            CK(cudaEventRecord(empty[slot], consumer));
        }
    }
    CK(cudaStreamSynchronize(consumer)); // @redundant
    return 0;
}
