// BUILD: -DFLAGS=cudaStreamDefault
// VERDICT: clean
// EXIT: 0
// BUILD: -DFLAGS=cudaStreamNonBlocking
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' [0,16384) first=kernel:fill then=kernel:take nearest=legacy-exempt fix=checked
// FINDING: error SSAN-WAW 'zeroed' [0,16384) first=memset then=kernel:fill nearest=legacy-exempt fix=checked
// RUN: --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW 'data' [0,16384) first=kernel:fill then=kernel:take nearest=legacy-exempt
// FINDING: error SSAN-WAW 'zeroed' [0,16384) first=memset then=kernel:fill nearest=legacy-exempt
/* Kernels without a stream, and cudaMemset, order blocking streams only. */
#include "common.h"

int main(void)
{
    cudaStream_t side = new_stream(FLAGS);
    int *data = new_device(BYTES), *out = new_device(BYTES), *zeroed = new_device(BYTES);
    fill<<<GRID, 256>>>(data, 1);
    take<<<GRID, 256, 0, side>>>(data, out);
    CK(cudaMemset(zeroed, 0, BYTES));
    fill<<<GRID, 256, 0, side>>>(zeroed, 2);
    CK(cudaDeviceSynchronize());
    return 0;
}
