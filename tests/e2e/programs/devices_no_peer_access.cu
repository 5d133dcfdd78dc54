// BUILD: -DOFF
// RUN: --device virtual:2 --format text --output /dev/stderr
// VERDICT: incomplete
// EXIT: 67
// SAYS: it is memory of device 0, to which device 1 has no peer access
// STDOUT: an illegal memory access was encountered
// BUILD: -DON
// RUN: --device virtual:2
// VERDICT: clean
// STDOUT: 8
/* A kernel reads the memory of another device, with peer access and without. */
#include "common.h"

int main(void)
{
    int *d0 = new_device(BYTES), *out, host[4];
    cudaError_t error;
    CK(cudaMemset(d0, 0, BYTES));
    fill<<<GRID, 256>>>(d0, 7);
    CK(cudaDeviceSynchronize());
    CK(cudaSetDevice(1));
    out = new_device(BYTES);
#ifdef ON
    CK(cudaDeviceEnablePeerAccess(0, 0));
#endif
    take<<<GRID, 256>>>(d0, out);
    error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 0;
    }
    CK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d\n", host[1]);
    return 0;
}
