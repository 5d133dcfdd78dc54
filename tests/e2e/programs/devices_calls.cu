// RUN: --device virtual:3
// VERDICT: clean
// EXIT: 0
// STDOUT: 0 wrong
// RUN: --device virtual:3 --schedule lazy
// VERDICT: clean
// STDOUT: 0 wrong
// BUILD: -DONE
// VERDICT: clean
// STDOUT: 0 wrong
// RUN: --device virtual
// VERDICT: clean
// STDOUT: 0 wrong
/* What the calls of several devices answer: counts, the current device of each thread, handles and
 * memory of another device, peer access, device variables. ONE: with a single device. */
#include "common.h"

#include <string.h>
#include <thread>

static int wrong;

static void is(cudaError_t got, cudaError_t want, int line)
{
    if (got != want) {
        wrong++;
        fprintf(stderr, "line %d: %s, not %s\n", line, cudaGetErrorName(got), cudaGetErrorName(want));
    }
    cudaGetLastError();
}
#define IS(call, want) is((call), (want), __LINE__)
#define TRUE(what)                                                                                 \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            wrong++;                                                                               \
            fprintf(stderr, "line %d: not " #what "\n", __LINE__);                                 \
        }                                                                                          \
    } while (0)

__device__ int variable = 5;

__global__ void add_to_variable(int value)
{
    variable += value;
}

static int current(void)
{
    int device = -1;
    CK(cudaGetDevice(&device));
    return device;
}

#ifdef ONE
int main(void)
{
    int count, can = 7, *memory = new_device(BYTES), *other = new_device(BYTES);
    CK(cudaGetDeviceCount(&count));
    TRUE(count == 1 && current() == 0);
    IS(cudaSetDevice(1), cudaErrorInvalidDevice);
    IS(cudaDeviceCanAccessPeer(&can, 0, 1), cudaErrorInvalidDevice);
    IS(cudaDeviceCanAccessPeer(&can, 0, 0), cudaSuccess);
    TRUE(can == 0);
    IS(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
    IS(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
    IS(cudaMemcpyPeer(memory, 0, other, 1, BYTES), cudaErrorInvalidDevice);
    IS(cudaMemcpyPeer(memory, 0, other, 0, BYTES), cudaSuccess);
    CK(cudaDeviceSynchronize());
    printf("%d wrong\n", wrong);
    return 0;
}
#else

static void threads(void)
{
    int inside = -1, chosen = -1;
    CK(cudaSetDevice(2));
    std::thread([&] {
        inside = current();
        CK(cudaSetDevice(1));
        chosen = current();
    }).join();
    TRUE(inside == 0 && chosen == 1 && current() == 2);
    IS(cudaSetDevice(3), cudaErrorInvalidDevice);
    IS(cudaSetDevice(-1), cudaErrorInvalidDevice);
    TRUE(current() == 2);
}

static void properties(void)
{
    struct cudaDeviceProp a, b;
    char id[32];
    int device = -1, value = -1;
    CK(cudaGetDeviceProperties(&a, 0));
    CK(cudaGetDeviceProperties(&b, 2));
    IS(cudaGetDeviceProperties(&a, 3), cudaErrorInvalidDevice);
    TRUE(memcmp(&a.uuid, &b.uuid, sizeof a.uuid) != 0 && a.pciBusID != b.pciBusID);
    CK(cudaDeviceGetPCIBusId(id, sizeof id, 2));
    CK(cudaDeviceGetByPCIBusId(&device, id));
    TRUE(device == 2);
    CK(cudaDeviceGetAttribute(&value, cudaDevAttrPciBusId, 1));
    TRUE(value == 1);
    IS(cudaDeviceGetAttribute(&value, cudaDevAttrPciBusId, 3), cudaErrorInvalidDevice);
}

static void peers(void)
{
    int can = 7;
    IS(cudaDeviceCanAccessPeer(&can, 0, 2), cudaSuccess);
    TRUE(can == 1);
    IS(cudaDeviceCanAccessPeer(&can, 1, 1), cudaSuccess);
    TRUE(can == 0);
    IS(cudaDeviceCanAccessPeer(&can, 0, 3), cudaErrorInvalidDevice);
    CK(cudaSetDevice(0));
    IS(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    IS(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
    IS(cudaDeviceEnablePeerAccess(3, 0), cudaErrorInvalidDevice);
    IS(cudaDeviceEnablePeerAccess(1, 1), cudaErrorInvalidValue);
    IS(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
    IS(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    CK(cudaSetDevice(1));
    IS(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled); /* one way only */
    CK(cudaSetDevice(0));
    IS(cudaDeviceDisablePeerAccess(1), cudaSuccess);
    IS(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
}

static void handles(void)
{
    float ms;
    cudaEvent_t e0, e1, f0;
    cudaStream_t s0, s1;
    CK(cudaSetDevice(0));
    s0 = new_stream(cudaStreamNonBlocking);
    CK(cudaEventCreate(&e0));
    CK(cudaEventCreate(&f0));
    CK(cudaSetDevice(1));
    s1 = new_stream(cudaStreamNonBlocking);
    CK(cudaEventCreate(&e1));
    fill<<<1, 1, 0, s0>>>(NULL, 0);
    IS(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    IS(cudaEventRecord(e0, s1), cudaErrorInvalidResourceHandle);
    IS(cudaEventRecord(e0, 0), cudaErrorInvalidResourceHandle);
    IS(cudaEventRecord(e0, s0), cudaSuccess); /* whichever device is current */
    IS(cudaEventRecord(e1, s1), cudaSuccess);
    IS(cudaStreamWaitEvent(s1, e0, 0), cudaSuccess);
    IS(cudaEventSynchronize(e0), cudaSuccess);
    IS(cudaStreamSynchronize(s0), cudaSuccess);
    IS(cudaEventElapsedTime(&ms, e0, e1), cudaErrorInvalidResourceHandle);
    IS(cudaEventRecord(f0, s0), cudaSuccess);
    IS(cudaStreamSynchronize(s0), cudaSuccess);
    IS(cudaEventElapsedTime(&ms, e0, f0), cudaSuccess);
    CK(cudaDeviceSynchronize());
}

static void memory(void)
{
    struct cudaPointerAttributes attributes;
    size_t free0, total0, free1, total1;
    int *d0, *d1, *pinned, host[4];
    CK(cudaSetDevice(0));
    CK(cudaMalloc((void **)&d0, 1 << 20));
    CK(cudaMemGetInfo(&free0, &total0));
    CK(cudaSetDevice(1));
    CK(cudaMemGetInfo(&free1, &total1));
    TRUE(total0 == total1 && free1 > free0 + (1 << 19));
    CK(cudaMalloc((void **)&d1, 1 << 20));
    CK(cudaMallocHost((void **)&pinned, BYTES));
    CK(cudaPointerGetAttributes(&attributes, d0));
    TRUE(attributes.device == 0 && attributes.type == cudaMemoryTypeDevice);
    CK(cudaPointerGetAttributes(&attributes, d1 + 1));
    TRUE(attributes.device == 1 && attributes.type == cudaMemoryTypeDevice);
    CK(cudaPointerGetAttributes(&attributes, pinned));
    TRUE(attributes.device == 1 && attributes.type == cudaMemoryTypeHost);
    CK(cudaMemset(d0, 3, 64)); /* memory of a device that isn't current */
    CK(cudaMemcpy(d1, d0, 64, cudaMemcpyDefault));
    CK(cudaMemcpy(host, d1, sizeof host, cudaMemcpyDeviceToHost));
    TRUE(host[3] == 0x03030303);
    CK(cudaMemcpy2D(d1, 64, d0, 128, 4, 1, cudaMemcpyDeviceToDevice));
    IS(cudaMemcpyPeer(d1, 0, d0, 0, 64), cudaErrorInvalidValue);
    IS(cudaMemcpyPeer(d1, 1, d0, 3, 64), cudaErrorInvalidDevice);
    IS(cudaMemcpyPeer(host, 1, d0, 0, 64), cudaErrorInvalidValue);
    CK(cudaDeviceSynchronize());
    CK(cudaFree(d0));
    CK(cudaFree(d1));
    CK(cudaFreeHost(pinned));
}

static void variables(void)
{
    int value = -1;
    void *at[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        CK(cudaSetDevice(i));
        CK(cudaGetSymbolAddress(&at[i], variable));
        add_to_variable<<<1, 1>>>(10 * (i + 1));
        CK(cudaMemcpyFromSymbol(&value, variable, sizeof value));
        TRUE(value == 5 + 10 * (i + 1));
    }
    TRUE(at[0] != at[1]);
}

static void resets(void)
{
    int *d0, *d1;
    cudaStream_t s1;
    cudaEvent_t e0 = NULL, e1 = NULL;
    CK(cudaSetDevice(0));
    CK(cudaMalloc((void **)&d0, BYTES));
    CK(cudaEventCreate(&e0));
    CK(cudaSetDevice(1));
    CK(cudaMalloc((void **)&d1, BYTES));
    s1 = new_stream(cudaStreamDefault);
    CK(cudaEventCreate(&e1));
    CK(cudaSetDevice(0));
    CK(cudaDeviceReset());
    IS(cudaEventDestroy(e0), cudaErrorInvalidResourceHandle);
    IS(cudaFree(d0), cudaErrorInvalidValue);
    IS(cudaStreamSynchronize(s1), cudaSuccess);
    IS(cudaEventDestroy(e1), cudaSuccess);
    IS(cudaFree(d1), cudaSuccess);
    IS(cudaStreamDestroy(s1), cudaSuccess);
}

int main(void)
{
    int count = 0;
    CK(cudaGetDeviceCount(&count));
    TRUE(count == 3);
    threads();
    properties();
    peers();
    handles();
    memory();
    variables();
    resets();
    printf("%d wrong\n", wrong);
    return 0;
}
#endif
