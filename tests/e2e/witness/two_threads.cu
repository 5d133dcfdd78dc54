/* One host thread produces, another one consumes; the wait between their streams is missing unless
 * -DFIXED. The threads themselves hand over. */
#include "../programs/common.h"

#include <condition_variable>
#include <mutex>
#include <thread>

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    cudaEvent_t ready = new_event();
    int *d = new_device(BYTES), *e = new_device(BYTES), *out = new_pinned(BYTES), wrong = 0;
    std::mutex lock;
    std::condition_variable changed;
    bool submitted = false;
    std::thread producer([&] {
        for (int round = 1; round <= 3; round++) {
            fill<<<GRID, 256, 0, a>>>(d, round);
        }
        CK(cudaEventRecord(ready, a));
        std::lock_guard<std::mutex> held(lock);
        submitted = true;
        changed.notify_one();
    });
    std::thread consumer([&] {
        std::unique_lock<std::mutex> held(lock);
        changed.wait(held, [&] { return submitted; });
#ifdef FIXED
        CK(cudaStreamWaitEvent(b, ready, 0));
#endif
        take<<<GRID, 256, 0, b>>>(d, e);
        CK(cudaMemcpyAsync(out, e, BYTES, cudaMemcpyDeviceToHost, b));
        CK(cudaStreamSynchronize(b));
    });
    producer.join();
    consumer.join();
    for (int i = 0; i < COUNT; i++) {
        wrong += out[i] != 4;
    }
    printf("wrong %d\n", wrong);
    return wrong != 0;
}
