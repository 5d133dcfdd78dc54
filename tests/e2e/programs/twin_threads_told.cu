// RUN: --threads strict
// VERDICT: clean
// EXIT: 0
// RUN: --threads observed
// VERDICT: clean
// EXIT: 0
// SAYS: host threads as observed
/* One host thread records, another waits; the hand-over between them is told. */
#include "common.h"

#include <atomic>
#include <thread>

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    cudaEvent_t ready = new_event();
    int *d = new_device(BYTES), *out = new_device(BYTES);
    std::atomic<int> recorded{0};
    std::thread producer([&] {
        fill<<<GRID, 256, 0, a>>>(d, 7);
        CK(cudaEventRecord(ready, a));
        SSAN_HAPPENS_BEFORE(&recorded);
        recorded.store(1, std::memory_order_release);
    });
    while (!recorded.load(std::memory_order_acquire)) {
        std::this_thread::yield();
    }
    SSAN_HAPPENS_AFTER(&recorded);
    CK(cudaStreamWaitEvent(b, ready, 0));
    take<<<GRID, 256, 0, b>>>(d, out);
    CK(cudaStreamSynchronize(b));
    producer.join();
    return 0;
}
