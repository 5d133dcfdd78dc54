/* Threads that get into each other's way: what one is in the middle of, the other ends. With little
 * memory of the device (`--device-memory 4M`) launches wait for room, and the library puts marks
 * into the streams of all threads. */
#include "capture/program/program.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

/* Times in ms; the library waits 2 s for a stream that it has borrowed. */
enum { ROUNDS = 10, MOMENT_MS = 200, PATIENCE_MS = 2000, YIELDS = 200 };

static void *device, *second;
static cudaStream_t stream, other;
static atomic_bool is_over;
static cudaStream_t _Atomic brief; /* what the main thread is about to end; NULL: nothing */
static sem_t come;

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void begin(void)
{
    cudaMalloc(&device, 4096);
    cudaMalloc(&second, 4096);
    cudaStreamCreateWithFlags(&stream, CUDA_STREAM_NON_BLOCKING);
    cudaStreamCreateWithFlags(&other, CUDA_STREAM_NON_BLOCKING);
}

/* In the middle of putting a mark there, the main thread may do what it is about to. */
static void let_go_on(CUstream into)
{
    if (into && atomic_load(&brief) == into) {
        sem_post(&come);
        for (double until = now_ms() + MOMENT_MS;
             now_ms() < until && atomic_load(&brief) == into;) {
            sched_yield();
        }
    }
}

static void *launch_always(void *unused)
{
    while (!atomic_load(&is_over)) {
        launch(&kernel_scale, device, NULL, stream);
    }
    return NULL;
}

/* Beside a thread that launches as much as it can. */
static int beside(int (*round)(void))
{
    pthread_t thread;
    int failed = 0;
    begin();
    sem_init(&come, 0, 0);
    fake_on_copy(let_go_on);
    if (pthread_create(&thread, NULL, launch_always, NULL) != 0) {
        return 3;
    }
    for (int i = 0; i < ROUNDS && !failed; i++) {
        failed = round();
    }
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    return failed ? 3 : cudaDeviceSynchronize();
}

/* Launches there, and waits for the library, if it is there, to put a mark behind. */
static int launch_and_wait(cudaStream_t into)
{
    double until = now_ms() + (getenv("CUDA_INJECTION64_PATH") ? PATIENCE_MS : 0);
    atomic_store(&brief, into);
    int failed = launch(&kernel_scale, NULL, NULL, into);
    while (!failed && now_ms() < until && sem_trywait(&come) != 0) {
        sched_yield();
    }
    return failed;
}

static int short_stream(void)
{
    cudaStream_t made;
    int failed = cudaStreamCreateWithFlags(&made, CUDA_STREAM_NON_BLOCKING) ||
                 launch_and_wait(made) || cudaStreamDestroy(made);
    atomic_store(&brief, NULL);
    for (int i = 0; i < YIELDS; i++) {
        sched_yield(); /* before its place is used again */
    }
    return failed;
}

/* A stream is destroyed right behind a launch into it. */
int scenario_ended_streams(void)
{
    return beside(short_stream);
}

static int short_capture(void)
{
    cudaGraph_t graph;
    int failed = launch_and_wait(other) || cudaStreamBeginCapture(other, 0);
    atomic_store(&brief, NULL);
    return failed || cudaMemsetAsync(second, 0, 64, other) || cudaStreamEndCapture(other, &graph);
}

/* A capture begins right behind a launch into its stream. */
int scenario_begun_captures(void)
{
    return beside(short_capture);
}

static void nothing(void *unused)
{
}

/* A kernel that is to be held until a host function has run, which does before its call returns
 * (`--gate s1.1:s2.1`). */
int scenario_held_by_function(void)
{
    begin();
    fake_hold();
    fake_overtake();
    launch(&kernel_scale, device, NULL, stream);
    cudaLaunchHostFunc(other, nothing, NULL);
    fake_release();
    return cudaDeviceSynchronize();
}
