// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' [0,1024) first=kernel:bump then=kernel:bump
// FINDING: folded error SSAN-WAW 'data' [0,1024) first=kernel:bump then=kernel:bump
// FINDING: folded error SSAN-WAR 'data' [0,1024) first=kernel:bump then=kernel:bump
// FINDING: error SSAN-WAW 'other' [0,1024) first=kernel:set then=kernel:set
/* One missing edge is one finding also where no edit of the source can be offered: both launches
 * stand on one line, in a loop and in a function that is called twice. */
#include <cuda_runtime.h>

__global__ void bump(int *p)
{
    p[threadIdx.x] += 1;
}

__global__ void set(int *p)
{
    p[threadIdx.x] = 1;
}

static void launch(int *p, cudaStream_t stream)
{
    set<<<1, 256, 0, stream>>>(p);
}

int main()
{
    int *data, *other;
    cudaStream_t streams[2];
    cudaMalloc(&data, 1024);
    cudaMalloc(&other, 1024);
    for (int i = 0; i < 2; i++) {
        cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
    }
    for (int i = 0; i < 2; i++) {
        bump<<<1, 256, 0, streams[i]>>>(data);
    }
    cudaDeviceSynchronize();
    launch(other, streams[0]);
    launch(other, streams[1]);
    cudaDeviceSynchronize();
    return 0;
}
