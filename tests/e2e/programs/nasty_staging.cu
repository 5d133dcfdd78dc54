// BUILD:
// VERDICT: clean
// EXIT: 0
// RUN: --schedule lazy
// VERDICT: clean
// EXIT: 0
// BUILD: -DONE_SLOT
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAR 'staging' first=copy then=host-write
// BUILD: -DLATE
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAR 'staging' first=copy then=host-write
// RUN: --schedule lazy
// VERDICT: errors
// EXIT: 66
// FINDING: error SSAN-WAR 'staging' first=copy then=host-write
/* A page-locked staging buffer of two slots, filled by the host while the device still reads it:
 * only one slot is used, or the host waits after it has written. */
#include "common.h"

enum { CHUNKS = 6 };

int main(void)
{
    cudaStream_t upload = new_stream(cudaStreamNonBlocking);
    cudaEvent_t sent[2] = {new_event(), new_event()};
    int *staging = new_pinned(2 * BYTES), *data = new_device((size_t)CHUNKS * BYTES);
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
#ifdef ONE_SLOT
        int slot = 0;
#else
        int slot = chunk % 2;
#endif
        int *from = staging + slot * COUNT;
#ifndef LATE
        if (chunk >= 2) {
            CK(cudaEventSynchronize(sent[chunk % 2]));
        }
#endif
        for (int i = 0; i < COUNT; i++) {
            from[i] = chunk;
        }
        SSAN_HOST_WRITE(from, BYTES);
#ifdef LATE
        if (chunk >= 2) {
            CK(cudaEventSynchronize(sent[chunk % 2]));
        }
#endif
        CK(cudaMemcpyAsync(data + chunk * COUNT, from, BYTES, cudaMemcpyDefault, upload));
        CK(cudaEventRecord(sent[chunk % 2], upload));
    }
    CK(cudaStreamSynchronize(upload));
    return 0;
}
