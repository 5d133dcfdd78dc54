/* Prints and stores what differs from run to run; of the two kernels without order nobody reads
 * what they write, unless -DREAD. */
#include "../programs/common.h"

#include <unistd.h>

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    int *d = new_device(BYTES), *out = new_pinned(BYTES);
    printf("process %d\n", (int)getpid());
    out[1] = (int)getpid();
#ifdef READ
    fill<<<GRID, 256, 0, a>>>(d, 5);
    fill<<<GRID, 256, 0, b>>>(d, 6);
#else
    fill<<<GRID, 256, 0, a>>>(d, 5);
    fill<<<GRID, 256, 0, b>>>(d, 5);
#endif
    CK(cudaDeviceSynchronize());
    return 0;
}
