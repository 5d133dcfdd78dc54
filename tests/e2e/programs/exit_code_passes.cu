// ARGS: 2
// VERDICT: clean
// EXIT: 2
/* A clean verdict hands on the program's own exit code. */
#include "common.h"

int main(int argc, char **argv)
{
    int *d = new_device(BYTES);
    fill<<<GRID, 256>>>(d, 1);
    CK(cudaDeviceSynchronize());
    return argc > 1 ? atoi(argv[1]) : 0;
}
