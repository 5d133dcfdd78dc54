// Four threads allocate in turn, in an order that the program fixes: which allocation fails is counted over all of them.
#include <atomic>
#include <cstdio>
#include <thread>

int main()
{
    std::atomic<int> turn{0};
    bool failed[8] = {};
    auto body = [&](int self) {
        for (int lap = 0; lap < 2; lap++) {
            while (turn.load() != lap * 4 + self) {
                std::this_thread::yield();
            }
            void *block = nullptr;
            failed[lap * 4 + self] = cudaMalloc(&block, 256) != cudaSuccess && cudaGetLastError() == cudaErrorMemoryAllocation;
            turn++;
        }
    };
    std::thread threads[4];
    for (int i = 0; i < 4; i++) {
        threads[i] = std::thread(body, i);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    cudaMemset(nullptr, 0, 0);
    for (int i = 0; i < 8; i++) {
        printf("%d", failed[i]);
    }
    printf("\n");
    return 0;
}
