/* One fault for each way in which a search for a witness may end; the macro names it. */
#include "../programs/common.h"

#include <errno.h>
#include <string.h>
#include <string>
#include <thread>
#include <unistd.h>

#define BLOCKS 64

/* Alone it leaves 0 in both; another one between its blocks is seen. */
static __global__ void tagged(int *tag, int *torn, int value)
{
    if (blockIdx.x == 0) {
        *tag = value;
    }
    if (*tag != value) {
        *torn = 1;
    }
    if (blockIdx.x == BLOCKS - 1) {
        *tag = 0;
    }
}

/* Shows the host that it is done: whoever has seen that reads behind it. */
static __global__ void give(int *to, volatile int *done)
{
    *to = 1;
    __threadfence_system();
    *done = 1;
}

/* Counts the runs in a file beside the program, which is not there any more after so many. */
static void leave(void)
{
#ifdef GONE_AFTER
    FILE *runs = fopen((std::string(program_invocation_name) + ".runs").c_str(), "a");
    fputc('.', runs);
    if (ftell(runs) == GONE_AFTER) {
        remove(program_invocation_name);
    }
    fclose(runs);
#endif
}

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    int *d = new_device(BYTES), *e = new_device(BYTES), *out = new_pinned(BYTES);
    memset(out, 0, BYTES);
    volatile int *seen = out;
    (void)e, (void)seen, (void)leave;
#if defined(ALWAYS)
    CK(cudaFree(d));
    fill<<<GRID, 256, 0, a>>>(d, 1);
    cudaStreamSynchronize(a);
#elif defined(DIVERGED)
    fill<<<GRID, 256, 0, a>>>(out, 1);
    if (*seen == 1) {
        take<<<GRID, 256, 0, b>>>(out, e);
    } else {
        fill<<<GRID, 256, 0, b>>>(out, 2);
    }
#elif defined(INFEASIBLE)
    fill<<<GRID, 256, 0, a>>>(out, 1);
    if (*seen != 1) {
        CK(cudaStreamSynchronize(a));
    }
    take<<<GRID, 256, 0, b>>>(out, e);
#elif defined(CALL)
    int *mine = (int *)aligned_alloc(4096, BYTES);
    CK(cudaHostRegister(mine, BYTES, cudaHostRegisterDefault));
    fill<<<GRID, 256, 0, a>>>(mine, 1);
    CK(cudaHostUnregister(mine));
#elif defined(TORN)
    tagged<<<BLOCKS, 1, 0, a>>>(d, e, 1);
    tagged<<<BLOCKS, 1, 0, b>>>(d, e, 2);
#elif defined(SEEN)
    out[1] = 0;
    give<<<1, 1, 0, a>>>(out, out + 1);
    while (seen[1] == 0) {
    }
    SSAN_HOST_READ(out, 4);
#elif defined(SLEEPS)
    fill<<<GRID, 256, 0, a>>>(out, 1);
    usleep(300000);
    SSAN_HOST_READ(out, BYTES);
    printf("%d\n", out[0]);
#elif defined(POLLS)
    cudaEvent_t other = new_event();
    fill<<<GRID, 256, 0, a>>>(out, 1);
    CK(cudaEventRecord(other, b));
    for (int i = 0; i < 50; i++) {
        (void)cudaEventQuery(other);
    }
    SSAN_HOST_WRITE(out, BYTES);
    out[0] = 3;
#elif defined(THREADS)
    int *other = new_pinned(BYTES);
    CK(cudaLaunchHostFunc(a, [](void *word) { SSAN_HOST_WRITE(word, 4); }, other));
    fill<<<GRID, 256, 0, a>>>(d, 5);
    usleep(100000); /* the function has run here, or with another schedule not */
    std::thread([&] { fill<<<GRID, 256, 0, b>>>(d, 6); }).join();
#elif defined(LEGEND)
    cudaStream_t copies = new_stream(cudaStreamNonBlocking);
    for (int i = 0; i < 6; i++) {
        CK(cudaMemsetAsync(e, i, BYTES, copies));
        CK(cudaMemsetAsync(e, i, BYTES, copies));
    }
    fill<<<GRID, 256, 0, a>>>(d, 5);
    fill<<<GRID, 256, 0, b>>>(d, 6);
#elif defined(GONE_AFTER)
    fill<<<GRID, 256, 0, a>>>(d, 5);
    fill<<<GRID, 256, 0, b>>>(d, 6);
    leave();
#elif defined(RESET)
    fill<<<GRID, 256, 0, a>>>(d, 5);
    fill<<<GRID, 256, 0, b>>>(d, 6);
#endif
    (void)cudaDeviceSynchronize();
#ifdef RESET
    CK(cudaDeviceReset());
#endif
    return 0;
}
