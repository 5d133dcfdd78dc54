/* What kernels access, by the device patches: the bytes, when they are known, what they prove. */
#include "capture/program/program.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static char *device, *second;
static cudaStream_t stream, other;

static void begin(void)
{
    cudaMalloc((void **)&device, 4096);
    cudaMalloc((void **)&second, 4096);
    cudaStreamCreateWithFlags(&stream, CUDA_STREAM_NON_BLOCKING);
    cudaStreamCreateWithFlags(&other, CUDA_STREAM_NON_BLOCKING);
}

/* Reads and writes, atomics, single bytes; through a freed and a living block. */
int scenario_accesses(void)
{
    begin();
    launch(&kernel_scale, device, NULL, stream);
    cudaStreamSynchronize(stream);
    launch(&kernel_add, device, second, stream);
    cudaStreamSynchronize(stream);
    launch(&kernel_bytes, device + 1000, NULL, stream);
    cudaStreamSynchronize(stream);
    launch(&kernel_scale, NULL, NULL, stream); /* nothing */
    return cudaStreamSynchronize(stream);
}

/* The same of launches that are large enough for windows, up to the end of a block. */
static void launch_large(const struct fake_kernel *kernel, void *first, void *second_operand,
                         cudaStream_t on)
{
    void *arguments[] = {&first, &second_operand};
    cudaLaunchKernel(kernel, (struct cuda_dim3){512, 1, 1}, (struct cuda_dim3){64, 2, 1}, arguments,
                     0, on);
}

int scenario_large(void)
{
    begin();
    launch_large(&kernel_scale, device, NULL, stream);
    launch_large(&kernel_add, second, device + 2048, other);
    launch_large(&kernel_bytes, device + 4000, NULL, other);
    cudaDeviceSynchronize();
    launch_large(&kernel_scale, device + 4096 - 128, NULL, stream);
    int result = cudaDeviceSynchronize();
    return fake_windows() >= 4 ? result : 3; /* blocks may share one */
}

/* Neighbouring halves of one block: no conflict; the same half: one. */
int scenario_disjoint(void)
{
    begin();
    launch(&kernel_scale, device, NULL, stream);
    launch(&kernel_scale, device + 128, NULL, other);
    launch(&kernel_bytes, device + 256, NULL, stream);
    launch(&kernel_bytes, device + 257, NULL, other);
    return cudaDeviceSynchronize();
}

int scenario_overlapping(void)
{
    begin();
    launch(&kernel_scale, device, NULL, stream);
    launch(&kernel_scale, device + 124, NULL, other);
    return cudaDeviceSynchronize();
}

/* Two that only update atomically may meet. */
int scenario_atomics(void)
{
    begin();
    launch(&kernel_add, device, second, stream);
    launch(&kernel_add, device, second, other);
    return cudaDeviceSynchronize();
}

/* A kernel whose accesses no patch can see: its operands, as may accesses. */
int scenario_unseen(void)
{
    begin();
    cudaMemsetAsync(device, 0, 64, stream);
    launch(&kernel_tensor, device, second, other);
    return cudaDeviceSynchronize();
}

/* More launches than there are records, in both streams and a thread of its own. */
static void *many(void *unused)
{
    for (int i = 0; i < 1000; i++) {
        launch(&kernel_scale, second, NULL, other);
    }
    cudaStreamSynchronize(other);
    return NULL;
}

int scenario_many_launches(void)
{
    begin();
    for (int i = 0; i < 1000; i++) {
        launch(&kernel_scale, device, NULL, stream);
    }
    run_thread(many);
    return cudaDeviceSynchronize();
}

/* Nobody waits: what has run is known all the same. It ends as by a handler of a signal that has
 * interrupted malloc. */
int scenario_unfinished(void)
{
    begin();
    launch(&kernel_scale, device, NULL, stream);
    cudaStreamSynchronize(stream);
    fake_hold();
    launch(&kernel_scale, device, NULL, stream);
    forbid_malloc();
    _exit(0);
}

static pthread_barrier_t all_there;

static void *leave(void *at_once)
{
    pthread_barrier_wait(&all_there);
    if (at_once) {
        _exit(2);
    }
    exit(2);
}

/* Threads that all end the process, while one of them asks for what has run. */
int scenario_ended_by_all(void)
{
    pthread_t thread;
    begin();
    for (int i = 0; i < 50; i++) {
        launch_large(&kernel_scale, device, NULL, stream);
    }
    cudaStreamSynchronize(stream);
    pthread_barrier_init(&all_there, NULL, 6);
    for (int i = 0; i < 5; i++) {
        pthread_create(&thread, NULL, leave, i % 2 ? device : NULL);
    }
    leave(NULL);
    return 0;
}

/* A kernel that is to be held until one of another stream is done (`--gate s1.1:s2.1`). */
int scenario_held(void)
{
    begin();
    fake_hold();
    launch(&kernel_scale, device, NULL, stream);
    launch(&kernel_scale, device, NULL, other);
    cudaStreamSynchronize(other);
    fake_release();
    return cudaDeviceSynchronize();
}

int scenario_held_observed(void)
{
    return scenario_held();
}

/* What it is held for is never submitted. */
int scenario_held_for_nothing(void)
{
    return scenario_held();
}
