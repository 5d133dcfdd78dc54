// The host waits outside of CUDA, for a host function or for pinned memory: a list that holds up what it waits for must
// be given up.
#include <condition_variable>
#include <cstdio>
#include <cuda_runtime.h>
#include <mutex>
#include <streamsan/annotate.h>
#include <unistd.h>
static std::mutex lock;
static std::condition_variable changed;
static bool done;
__global__ void set(int *p, int value)
{
    *p = value;
}
static void tell(void *)
{
    std::lock_guard<std::mutex> hold(lock);
    done = true;
    changed.notify_all();
}
int main(int count, char **words)
{
    int *x, *pinned;
    cudaStream_t a, b;
    cudaMalloc(&x, 16);
    cudaMallocHost(&pinned, 4);
    *pinned = -1;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    set<<<1, 1, 0, a>>>(x, 1);
    if (count > 1 && words[1][1] == 'w') { // another stream copies, behind the kernel
        cudaEvent_t ready;
        cudaEventCreate(&ready);
        cudaEventRecord(ready, a);
        cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
        cudaStreamWaitEvent(a, ready, 0);
    }
    if (count > 1 && words[1][0] == 'p') {
        cudaMemcpyAsync(pinned, x, 4, cudaMemcpyDeviceToHost, a);
        while (*(volatile int *)pinned < 0) {
            if (words[1][1] == 'a') { // each look is announced
                SSAN_HOST_READ(pinned, sizeof *pinned);
            }
            usleep(words[1][1] ? 1000 : 0);
        }
    } else {
        cudaLaunchHostFunc(a, tell, nullptr);
        std::unique_lock<std::mutex> hold(lock);
        changed.wait(hold, [] { return done; });
    }
    set<<<1, 1, 0, b>>>(x + 1, 2);
    cudaDeviceSynchronize();
    puts("done");
    return 0;
}
