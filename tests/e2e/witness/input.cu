/* Fills with the number that stands on its input, without the wait before it is read. */
#include "../programs/common.h"

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    int *d = new_device(BYTES), *e = new_device(BYTES), *out = new_pinned(BYTES), number = -1;
    int read = scanf("%d", &number);
    fill<<<GRID, 256, 0, a>>>(d, number);
    take<<<GRID, 256, 0, b>>>(d, e);
    CK(cudaMemcpyAsync(out, e, BYTES, cudaMemcpyDeviceToHost, b));
    CK(cudaDeviceSynchronize());
    printf("read %d, got %d\n", read, out[0]);
    return 0;
}
