/* Waits for ever when it reads what the missing wait lets through. */
#include "../programs/common.h"

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    int *d = new_device(BYTES), *e = new_device(BYTES), *out = new_pinned(BYTES);
    fill<<<GRID, 256, 0, a>>>(d, 1);
    take<<<GRID, 256, 0, b>>>(d, e);
    CK(cudaMemcpyAsync(out, e, BYTES, cudaMemcpyDeviceToHost, b));
    CK(cudaStreamSynchronize(b));
    if (out[0] != 2 && getenv("HANGS")) { /* a pipe: who waits there may know */
        FILE *pipe = fopen(getenv("HANGS"), "w");
        fputc('.', pipe);
        fclose(pipe);
    }
    for (volatile int *seen = out; *seen != 2;) {
    }
    return 0;
}
