// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'a' [0,1024) first=kernel:fill then=kernel:take
// FINDING: folded error SSAN-RAW 'b' [0,1024) first=kernel:fill then=kernel:take
// FINDING: folded error SSAN-RAW 'c' [0,1024) first=kernel:fill then=kernel:take
// FINDING: folded error SSAN-RAW 'd' [0,1024) first=kernel:fill then=kernel:take
/* A typed pointer goes through a template of CUDA's headers: its block has the name that the caller of the program's own
 * function gives it, and neither the header's nor that function's. */
#include <cuda_runtime.h>

__global__ void fill(int *p)
{
    p[threadIdx.x] = 1;
}

__global__ void take(const int *p, int *q)
{
    q[threadIdx.x] = p[threadIdx.x];
}

static cudaError_t make(int **p, size_t bytes)
{
    return cudaMalloc(p, bytes);
}

static int *give(size_t bytes)
{
    int *memory;
    cudaMalloc(&memory, bytes);
    return memory;
}

static cudaStream_t first, second;

static void race(int *p, int *q)
{
    fill<<<1, 256, 0, first>>>(p);
    take<<<1, 256, 0, second>>>(p, q);
    cudaDeviceSynchronize();
}

int main(void)
{
    int *a, *b;
    // clang-format off
    if (make(&a, 1024) != cudaSuccess || make(&b, 1024) != cudaSuccess) { return 1; }
    const int bytes = 1024; int *c = give(bytes); int *d = give(bytes);
    // clang-format on
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    race(a, b);
    race(b, c);
    race(c, d);
    race(d, a);
    return 0;
}
