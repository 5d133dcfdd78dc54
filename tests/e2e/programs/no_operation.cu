// VERDICT: incomplete
// EXIT: 67
// STDOUT: devices=1
// SAYS: no CUDA operation
/* Asks for devices and does nothing with them: nothing was checked, so the run can't be clean. */
#include "common.h"

int main(void)
{
    int devices = 0;
    CK(cudaGetDeviceCount(&devices));
    printf("devices=%d\n", devices);
    return 0;
}
