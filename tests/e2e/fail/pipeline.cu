// Two threads' worth of ordinary calls, each checked (or, as its argument says, not): prints what failed and where the result
// stands, so that a run tells which call failed and what that did.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define N 256
#define LAPS 3

__global__ void add(float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] += 1.0f;
    }
}

static bool asks;

static void check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        printf("%s: %s, last %s, then %s\n", what, cudaGetErrorName(error), cudaGetErrorName(cudaGetLastError()),
               cudaGetErrorName(cudaGetLastError()));
        fflush(stdout);
        exit(3);
    }
}

#define CHECK(call) check(call, #call)

int main(int argc, char **argv)
{
    float *device = (float *)1, *host, out = -1;
    cudaStream_t stream;
    cudaEvent_t event;
    asks = argc > 1 && strcmp(argv[1], "asks") == 0;
    cudaError_t error = cudaMalloc(&device, N * sizeof *device);
    if (error != cudaSuccess) {
        printf("pointer %s\n", device == (float *)1 ? "untouched" : "written");
    }
    CHECK(error);
    CHECK(cudaMallocHost(&host, N * sizeof *host));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&event));
    memset(host, 0, N * sizeof *host);
    CHECK(cudaMemcpyAsync(device, host, N * sizeof *host, cudaMemcpyHostToDevice, stream));
    for (int lap = 0; lap < LAPS; lap++) {
        add<<<1, N, 0, stream>>>(device, N);
        if (asks) {
            CHECK(cudaGetLastError());
        }
    }
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(&out, device, sizeof out, cudaMemcpyDeviceToHost));
    printf("%g laps\n", out);
    CHECK(cudaEventDestroy(event));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(device));
    return out == LAPS ? 0 : 4;
}
