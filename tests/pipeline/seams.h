/* Put before each source of the pipeline library in a test build: its calls that can fail do so
 * when the test wants it, and what it makes and drops is counted. Only its own calls: those of the
 * device below and of the test are what they are. */
#ifndef SSAN_TESTS_PIPELINE_SEAMS_H
#define SSAN_TESTS_PIPELINE_SEAMS_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

/* Counts the call; true: it shall fail. Any thread. */
bool seam_fails(const char *call);
/* A resource was made (+1) or dropped (-1). */
void seam_live(int change);

/* Calls that make a resource, drop one (which they do, failing or not), or neither. */
#define SEAM_MAKE(call, ...)                                                                       \
    __extension__({                                                                                \
        cudaError_t error_ = seam_fails(#call) ? cudaErrorUnknown : call(__VA_ARGS__);             \
        seam_live(error_ == cudaSuccess);                                                          \
        error_;                                                                                    \
    })
#define SEAM_DROP(call, ...)                                                                       \
    __extension__({                                                                                \
        cudaError_t error_ = call(__VA_ARGS__);                                                    \
        seam_live(-1);                                                                             \
        seam_fails(#call) ? cudaErrorUnknown : error_;                                             \
    })
#define SEAM(call, ...) (seam_fails(#call) ? cudaErrorUnknown : call(__VA_ARGS__))

#define cudaMalloc(...)                 SEAM_MAKE(cudaMalloc, __VA_ARGS__)
#define cudaHostAlloc(...)              SEAM_MAKE(cudaHostAlloc, __VA_ARGS__)
#define cudaStreamCreateWithFlags(...)  SEAM_MAKE(cudaStreamCreateWithFlags, __VA_ARGS__)
#define cudaEventCreateWithFlags(...)   SEAM_MAKE(cudaEventCreateWithFlags, __VA_ARGS__)
#define cudaFree(...)                   SEAM_DROP(cudaFree, __VA_ARGS__)
#define cudaFreeHost(...)               SEAM_DROP(cudaFreeHost, __VA_ARGS__)
#define cudaStreamDestroy(...)          SEAM_DROP(cudaStreamDestroy, __VA_ARGS__)
#define cudaEventDestroy(...)           SEAM_DROP(cudaEventDestroy, __VA_ARGS__)
#define cudaGetDevice(...)              SEAM(cudaGetDevice, __VA_ARGS__)
#define cudaSetDevice(...)              SEAM(cudaSetDevice, __VA_ARGS__)
#define cudaEventRecord(...)            SEAM(cudaEventRecord, __VA_ARGS__)
#define cudaStreamWaitEvent(...)        SEAM(cudaStreamWaitEvent, __VA_ARGS__)
#define cudaMemcpyAsync(...)            SEAM(cudaMemcpyAsync, __VA_ARGS__)
#define cudaMemcpyPeerAsync(...)        SEAM(cudaMemcpyPeerAsync, __VA_ARGS__)
#define cudaEventSynchronize(...)       SEAM(cudaEventSynchronize, __VA_ARGS__)
#define cudaStreamSynchronize(...)      SEAM(cudaStreamSynchronize, __VA_ARGS__)
#define cudaEventQuery(...)             SEAM(cudaEventQuery, __VA_ARGS__)
#define cudaEventElapsedTime(...)       SEAM(cudaEventElapsedTime, __VA_ARGS__)
#define cudaDeviceCanAccessPeer(...)    SEAM(cudaDeviceCanAccessPeer, __VA_ARGS__)
#define cudaDeviceEnablePeerAccess(...) SEAM(cudaDeviceEnablePeerAccess, __VA_ARGS__)

#undef strdup
#define calloc(...)         (seam_fails("calloc") ? NULL : calloc(__VA_ARGS__))
#define strdup(...)         (seam_fails("strdup") ? NULL : strdup(__VA_ARGS__))
#define pthread_create(...) (seam_fails("pthread_create") ? EAGAIN : pthread_create(__VA_ARGS__))
#define pthread_cond_init(...)                                                                     \
    (seam_fails("pthread_cond_init") ? ENOMEM : pthread_cond_init(__VA_ARGS__))

#endif
