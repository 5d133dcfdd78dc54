// BUILD:
// VERDICT: clean
// EXIT: 0
// RUN: --order documented
// VERDICT: clean
// EXIT: 0
// BUILD: -DIN_FLIGHT
// VERDICT: clean
// EXIT: 0
// FINDING: warning SSAN-FREE-IN-FLIGHT first=copy by=R-IMPL-4
// RUN: --order documented --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-FREE-IN-FLIGHT first=copy
// BUILD: -DREAD_EARLY
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-RAW [0,16384) first=copy then=host-read
/* Memory that is registered, used, unregistered and registered again, round after round. */
#include "common.h"

int main(void)
{
    cudaStream_t s = new_stream(cudaStreamNonBlocking);
    int *d = new_device(BYTES), *plain = (int *)malloc(BYTES);
    for (int round = 0; round < 3; round++) {
        memset(plain, round, BYTES);
        SSAN_HOST_WRITE(plain, BYTES);
        CK(cudaHostRegister(plain, BYTES, cudaHostRegisterDefault));
        CK(cudaMemcpyAsync(d, plain, BYTES, cudaMemcpyHostToDevice, s));
        CK(cudaMemcpyAsync(plain, d, BYTES, cudaMemcpyDeviceToHost, s));
#ifdef READ_EARLY
        SSAN_HOST_READ(plain, BYTES);
#endif
#ifndef IN_FLIGHT
        CK(cudaStreamSynchronize(s));
#endif
        CK(cudaHostUnregister(plain));
        SSAN_HOST_READ(plain, BYTES);
    }
    free(plain);
    return 0;
}
