// BUILD: -DPAD=48
// VERDICT: clean
// EXIT: 0
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
// BUILD: -DPAD=47
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAW 'image' [47,48) [111,112) [175,176) [239,240) first=copy then=kernel:pads
// RUN: --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAW 'image' [47,48) [111,112) [175,176) [239,240) first=copy then=kernel:pads
// BUILD: -DPAD=48 -DSET
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAW 'image' [48,52) [112,116) [176,180) [240,244) first=kernel:pads then=memset
/* A two-dimensional copy writes rows of 48 bytes; a kernel writes the padding of the pitch. */
#include "common.h"

enum { ROW = 48, PITCH = 64, ROWS = 4 };

static __global__ void pads(unsigned char *image, int first)
{
    for (int x = first + threadIdx.x; x < PITCH; x += blockDim.x) {
        image[blockIdx.x * PITCH + x] = 7;
    }
}

int main(void)
{
    cudaStream_t upload = new_stream(cudaStreamNonBlocking),
                 pad = new_stream(cudaStreamNonBlocking);
    unsigned char *image = (unsigned char *)new_device(PITCH * ROWS);
    unsigned char *rows = (unsigned char *)new_pinned(ROW * ROWS);
    for (int i = 0; i < ROW * ROWS; i++) {
        rows[i] = 1;
    }
    CK(cudaMemcpy2DAsync(image, PITCH, rows, ROW, ROW, ROWS, cudaMemcpyHostToDevice, upload));
    pads<<<ROWS, 8, 0, pad>>>(image, PAD);
#ifdef SET
    CK(cudaMemset2DAsync(image, PITCH, 0, ROW + 4, ROWS, upload));
#endif
    CK(cudaDeviceSynchronize());
    return 0;
}
