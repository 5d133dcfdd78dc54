// BUILD: -DA
// VERDICT: clean
// EXIT: 0
// BUILD: -DB
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'x' [0,4) first=hostfunc then=host-read
// BUILD: -DC
// VERDICT: clean
// EXIT: 0
/* L23: a host function is an item of its stream, and no part of the launching thread. */
#include "common.h"

static int *pin, *x;

static void read_pin(void *)
{
    SSAN_HOST_READ(pin, BYTES);
}

static void write_x(void *)
{
    x[0] = 7;
    SSAN_HOST_WRITE(x, sizeof *x);
}

static void write_pin(void *)
{
    SSAN_HOST_WRITE(pin, BYTES);
}

int main(void)
{
    cudaStream_t s = new_stream(0);
    int *d = new_device(BYTES);
    CK(cudaMallocHost((void **)&pin, BYTES));
    x = (int *)calloc(1, sizeof *x);
    SSAN_NAME(x, "x");
#if defined A
    fill<<<GRID, 256, 0, s>>>(pin, 1);
    CK(cudaLaunchHostFunc(s, read_pin, NULL));
#elif defined B
    CK(cudaLaunchHostFunc(s, write_x, NULL));
    SSAN_HOST_READ(x, sizeof *x);
#else
    CK(cudaLaunchHostFunc(s, write_pin, NULL));
    CK(cudaMemcpyAsync(d, pin, BYTES, cudaMemcpyHostToDevice, s));
#endif
    (void)read_pin, (void)write_x, (void)write_pin, (void)d;
    CK(cudaDeviceSynchronize());
    return 0;
}
