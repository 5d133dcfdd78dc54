/* Threads, and how processes begin and end. */
#include "capture/program/program.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *device;

void run_thread(void *(*function)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, function, NULL);
    pthread_join(thread, NULL);
}

static sem_t turn[2];
static cudaStream_t streams[2];

/* The two take turns, so that the order of all calls is known. */
static void *in_turn(void *which)
{
    int me = *(int *)which;
    for (int i = 0; i < 3; i++) {
        sem_wait(&turn[me]);
        cudaMemsetAsync((char *)device + me * 64, me, 64, streams[me]);
        sem_post(&turn[!me]);
    }
    return NULL;
}

int scenario_two_threads(void)
{
    pthread_t threads[2];
    int numbers[2] = {0, 1};
    cudaMalloc(&device, 4096);
    for (int i = 0; i < 2; i++) {
        sem_init(&turn[i], 0, i == 0);
        cudaStreamCreateWithFlags(&streams[i], CUDA_STREAM_NON_BLOCKING);
    }
    pthread_create(&threads[0], NULL, in_turn, &numbers[0]);
    sem_wait(&turn[1]); /* the first has made a call: its number is known */
    sem_post(&turn[1]);
    pthread_create(&threads[1], NULL, in_turn, &numbers[1]);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    return cudaDeviceSynchronize();
}

enum { THREADS = 4, ROUNDS = 200 };

static void host(void *user)
{
    __atomic_add_fetch((int *)user, 1, __ATOMIC_RELAXED);
}

static int host_calls;

static void *busy(void *unused)
{
    cudaStream_t stream;
    cudaEvent_t event;
    void *memory;
    cudaStreamCreate(&stream);
    cudaEventCreate(&event);
    for (int i = 0; i < ROUNDS; i++) {
        cudaMalloc(&memory, 4096);
        cudaMemsetAsync(memory, i, 4096, stream);
        launch(&kernel_scale, memory, NULL, stream);
        cudaEventRecord(event, stream);
        cudaStreamWaitEvent(cudaStreamPerThread, event, 0);
        cudaLaunchHostFunc(stream, host, &host_calls);
        cudaStreamSynchronize(stream);
        cudaFree(memory);
    }
    cudaEventDestroy(event);
    cudaStreamDestroy(stream);
    return NULL;
}

int scenario_many_threads(void)
{
    pthread_t threads[THREADS];
    cudaFree(NULL);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, busy, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    cudaDeviceSynchronize();
    return host_calls == THREADS * ROUNDS ? 0 : 3;
}

/* -- processes
 * ------------------------------------------------------------------------------------*/

static void one_operation(void)
{
    cudaMalloc(&device, 4096);
    cudaMemset(device, 1, 4096);
    cudaDeviceSynchronize();
}

int scenario_no_operation(void)
{
    printf("no CUDA here\n");
    return 0;
}

int scenario_exit_code(void)
{
    one_operation();
    printf("seven\n");
    return 7;
}

int scenario_exit_at_once(void)
{
    one_operation();
    _exit(5);
}

int scenario_killed(void)
{
    one_operation();
    raise(SIGKILL);
    return 3;
}

int scenario_signalled(void)
{
    one_operation();
    raise(SIGTERM);
    return 3;
}

/* The child may call what it likes: it is nobody's. */
int scenario_forked(void)
{
    int status = 0;
    one_operation();
    pid_t child = fork();
    if (child == 0) {
        cudaEvent_t event;
        cudaEventCreate(&event);
        exit(cudaEventQuery(event));
    }
    waitpid(child, &status, 0);
    cudaMemset(device, 2, 64);
    cudaDeviceSynchronize();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

/* A child made before the first call is a program of its own. */
int scenario_forked_before(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        one_operation();
        exit(0);
    }
    waitpid(child, &status, 0);
    one_operation();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

/* The same process id, twice. */
int scenario_executed(void)
{
    one_operation();
    execl("/proc/self/exe", "fake_program", "exit_code", (char *)NULL);
    return 3;
}
