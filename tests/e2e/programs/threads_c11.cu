// RUN: --threads strict
// VERDICT: clean
// EXIT: 0
/* Threads of C11 order their work as those of POSIX do: start and join. */
#include "common.h"

#include <threads.h>

static cudaStream_t stream;
static int *memory;

static int work(void *)
{
    fill<<<GRID, 256, 0, stream>>>(memory, 2);
    return cudaStreamSynchronize(stream);
}

int main(void)
{
    thrd_t thread;
    int result = -1;
    stream = new_stream(0);
    memory = new_device(BYTES);
    fill<<<GRID, 256, 0, stream>>>(memory, 1);
    if (thrd_create(&thread, work, NULL) != thrd_success ||
        thrd_join(thread, &result) != thrd_success || result != cudaSuccess) {
        return 1;
    }
    fill<<<GRID, 256>>>(memory, 3);
    CK(cudaDeviceSynchronize());
    return 0;
}
