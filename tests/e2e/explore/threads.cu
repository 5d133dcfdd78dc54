/* Two host threads, a stream each: the second one's kernel needs the first one's. FIXED: it waits for the event. */
#include <condition_variable>
#include <cstdio>
#include <cuda_runtime.h>
#include <mutex>
#include <thread>

constexpr int COUNT = 64;

__global__ void twice(int *d) { d[threadIdx.x] *= 2; }
__global__ void plus(int *d) { d[threadIdx.x] += 1; }

static int *in, *out, *d;
static cudaStream_t streams[2];
static cudaEvent_t ready;
static std::mutex mutex;
static std::condition_variable changed;
static bool recorded;

static void produce() {
    cudaMemcpyAsync(d, in, COUNT * sizeof *d, cudaMemcpyHostToDevice, streams[0]);
    twice<<<1, COUNT, 0, streams[0]>>>(d);
    cudaEventRecord(ready, streams[0]);
    std::lock_guard<std::mutex> lock(mutex);
    recorded = true;
    changed.notify_one();
}

static void consume() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [] { return recorded; });
#ifdef FIXED
    cudaStreamWaitEvent(streams[1], ready, 0);
#endif
    plus<<<1, COUNT, 0, streams[1]>>>(d);
    cudaMemcpyAsync(out, d, COUNT * sizeof *d, cudaMemcpyDeviceToHost, streams[1]);
    cudaStreamSynchronize(streams[1]);
}

int main() {
    cudaMallocHost(&in, COUNT * sizeof *in);
    cudaMallocHost(&out, COUNT * sizeof *out);
    cudaMalloc(&d, COUNT * sizeof *d);
    cudaStreamCreateWithFlags(&streams[0], cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking);
    cudaEventCreate(&ready);
    for (int i = 0; i < COUNT; i++) {
        in[i] = i;
        out[i] = -1;
    }
    std::thread first(produce), second(consume);
    first.join();
    second.join();
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        wrong += out[i] != 2 * i + 1;
    }
    std::printf("mismatches=%d\n", wrong);
    return wrong ? 2 : 0;
}
