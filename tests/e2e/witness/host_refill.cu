/* The host fills a page-locked buffer again while the copy out of it may still have to run, and announces nothing.
 * WARNED: beside that, a warning that has nothing to do with it. */
#include "../programs/common.h"

static __global__ void sum(const int *in, int *out)
{
    int total = 0;
    for (int i = 0; i < 64; i++) {
        total += in[i];
    }
    *out = total;
}

int main(void)
{
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    int *in = new_device(BYTES), *out = new_device(BYTES), *staging = new_pinned(BYTES);
    int result[2];
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 64; i++) {
            staging[i] = turn + 1;
        }
        CK(cudaMemcpyAsync(in, staging, 64 * sizeof *in, cudaMemcpyHostToDevice, stream));
        sum<<<1, 1, 0, stream>>>(in, out + turn);
    }
#ifdef WARNED
    int *other;
    CK(cudaMalloc((void **)&other, BYTES));
    fill<<<GRID, 256, 0, stream>>>(other, 1);
    CK(cudaFree(other));
#endif
    CK(cudaStreamSynchronize(stream));
    CK(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    printf("%d %d\n", result[0], result[1]);
    return result[0] != 64 || result[1] != 128;
}
