/* Device and host memory: allocation, what copies check, pointers, limits. */
#include "vcuda_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const schedules[] = {"eager", "lazy", "random:1"};

#define EACH_SCHEDULE(body)                                                                        \
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {                            \
        assert_int_equal(device_run(schedules[i], body, NULL, NULL), 0);                           \
    }

static int allocation(void *unused)
{
    char *a, *b, *c;
    size_t free_bytes, total;
    OK(cudaMalloc((void **)&a, 100));
    OK(cudaMalloc((void **)&b, 300));
    CHECK((uintptr_t)a % 256 == 0 && (uintptr_t)b % 256 == 0);
    CHECK(b - a >= 256 + 100); /* nobody owns the bytes between */
    OK(cudaFree(a));
    OK(cudaMalloc((void **)&c, 64));
    CHECK(c == a); /* freed addresses come back */
    OK(cudaFree(NULL));
    FAILS(cudaFree(b + 1), cudaErrorInvalidValue);
    FAILS(cudaFree(&a), cudaErrorInvalidValue);
    OK(cudaFree(b));
    FAILS(cudaFree(b), cudaErrorInvalidValue);
    OK(cudaMemGetInfo(&free_bytes, &total));
    CHECK(free_bytes > 0 && free_bytes <= total);
    FAILS(cudaMalloc((void **)&c, total + 1), cudaErrorMemoryAllocation);
    FAILS(cudaMalloc((void **)&c, SIZE_MAX), cudaErrorMemoryAllocation);
    FAILS(cudaMalloc(NULL, 4), cudaErrorInvalidValue);
    OK(cudaMalloc((void **)&c, 0));
    CHECK(c == NULL);
    return 0;
}

static void test_allocation(void **state)
{
    EACH_SCHEDULE(allocation)
}

static int checks(void *unused)
{
    char host[64], *d, *h;
    OK(cudaMalloc((void **)&d, 64));
    OK(cudaMallocHost((void **)&h, 64));
    FAILS(cudaMemcpy(d, host, 65, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(d + 1, host, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(d, NULL, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(d, host, 64, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(host, d, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(d, host, 64, (enum cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    FAILS(cudaMemset(host, 0, 64), cudaErrorInvalidValue);
    FAILS(cudaMemset(d, 0, 65), cudaErrorInvalidValue);
    FAILS(cudaMemcpy2D(d, 7, host, 8, 8, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
    OK(cudaMemcpy(d, host, 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(h, host, 64, cudaMemcpyDefault));
    OK(cudaMemcpy(d, h, 64, cudaMemcpyDefault));
    OK(cudaMemcpy(h, d, 64,
                  cudaMemcpyDeviceToDevice)); /* page-locked memory may be called either */
    OK(cudaFree(d));
    FAILS(cudaMemcpy(d, host, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    return 0;
}

static void test_copies_are_checked(void **state)
{
    EACH_SCHEDULE(checks)
}

static int rows(void *unused)
{
    unsigned char in[5][8], out[5][6], *d;
    size_t pitch;
    memset(out, 0, sizeof out);
    for (int i = 0; i < 40; i++) {
        in[i / 8][i % 8] = (unsigned char)i;
    }
    OK(cudaMallocPitch((void **)&d, &pitch, 6, 5));
    CHECK(pitch >= 6 && pitch % 256 == 0);
    OK(cudaMemset2D(d, pitch, 0, 6, 5));
    OK(cudaMemcpy2D(d, pitch, in, 8, 5, 5, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DAsync(out, 6, d, pitch, 6, 5, cudaMemcpyDeviceToHost, 0));
    for (int i = 0; i < 5; i++) {
        CHECK(memcmp(out[i], in[i], 5) == 0 && out[i][5] == 0);
    }
    return 0;
}

static void test_rows(void **state)
{
    EACH_SCHEDULE(rows)
}

static int registered(void *unused)
{
    long page = sysconf(_SC_PAGESIZE);
    char *memory = aligned_alloc((size_t)page, (size_t)page * 2), *alias, *pinned;
    struct cudaPointerAttributes attributes;
    unsigned flags;
    void *d;
    OK(cudaHostRegister(memory, (size_t)page, cudaHostRegisterMapped));
    FAILS(cudaHostRegister(memory + 8, 8, 0), cudaErrorHostMemoryAlreadyRegistered);
    OK(cudaHostGetDevicePointer((void **)&alias, memory, 0));
    CHECK(alias == memory);
    OK(cudaPointerGetAttributes(&attributes, memory + 1));
    CHECK(attributes.type == cudaMemoryTypeHost && attributes.device == 0);
    OK(cudaHostUnregister(memory));
    FAILS(cudaHostUnregister(memory), cudaErrorHostMemoryNotRegistered);
    OK(cudaPointerGetAttributes(&attributes, memory));
    CHECK(attributes.type == cudaMemoryTypeUnregistered && attributes.devicePointer == NULL);
    FAILS(cudaHostGetDevicePointer((void **)&alias, memory, 0), cudaErrorInvalidValue);
    OK(cudaHostAlloc((void **)&pinned, 10, cudaHostAllocMapped | cudaHostAllocPortable));
    OK(cudaHostGetFlags(&flags, pinned));
    CHECK(flags == (cudaHostAllocMapped | cudaHostAllocPortable));
    OK(cudaMalloc(&d, 16));
    OK(cudaPointerGetAttributes(&attributes, d));
    CHECK(attributes.type == cudaMemoryTypeDevice && attributes.hostPointer == NULL);
    FAILS(cudaFreeHost(d), cudaErrorInvalidValue);
    FAILS(cudaFree(pinned), cudaErrorInvalidValue);
    OK(cudaFreeHost(pinned));
    free(memory);
    return 0;
}

static void test_host_memory(void **state)
{
    EACH_SCHEDULE(registered)
}

/* Addresses of page-locked memory go to nothing else, and what comes too late finds bytes there. */
static int freed_pinned(void *unused)
{
    enum { SIZE = 1 << 20 };
    char *pinned, *again, *d, *plain;
    OK(cudaMalloc((void **)&d, SIZE));
    OK(cudaMallocHost((void **)&pinned, SIZE));
    OK(cudaFreeHost(pinned));
    plain = malloc(SIZE - 64);
    CHECK(plain && (plain >= pinned + SIZE || plain + SIZE - 64 <= pinned));
    OK(cudaMemcpyAsync(d, pinned, SIZE, cudaMemcpyHostToDevice, 0));
    OK(cudaMemcpyAsync(pinned, d, SIZE, cudaMemcpyDeviceToHost, 0));
    OK(cudaMemsetAsync(pinned, 1, SIZE, 0));
    OK(cudaDeviceSynchronize());
    OK(cudaMallocHost((void **)&again, SIZE / 2));
    CHECK(again == pinned && (unsigned char)again[0] == 0xFF);
    OK(cudaMallocHost((void **)&again, SIZE / 2));
    CHECK(again == pinned + SIZE / 2);
    free(plain);
    return 0;
}

static void test_freed_pinned_memory_stays(void **state)
{
    EACH_SCHEDULE(freed_pinned)
}

static int properties(void *unused)
{
    struct cudaDeviceProp prop;
    int value, count;
    OK(cudaGetDeviceCount(&count));
    CHECK(count == 1);
    OK(cudaSetDevice(0));
    FAILS(cudaSetDevice(1), cudaErrorInvalidDevice);
    OK(cudaGetDeviceProperties(&prop, 0));
    CHECK(prop.warpSize == 32 && prop.maxThreadsPerBlock == 1024 && prop.major == 7);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlock, 0));
    CHECK(value == 49152);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrConcurrentManagedAccess, 0));
    CHECK(value == 0);
    FAILS(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)9999, 0), cudaErrorInvalidValue);
    CHECK(strcmp(cudaGetErrorName(cudaErrorNotReady), "cudaErrorNotReady") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
    CHECK(strcmp(cudaGetErrorName((cudaError_t)12345), "unrecognized error code") == 0);
    return 0;
}

static void test_properties(void **state)
{
    EACH_SCHEDULE(properties)
}

static int reset(void *unused)
{
    cudaStream_t s;
    char *d, *e, *h;
    OK(cudaStreamCreate(&s));
    OK(cudaMalloc((void **)&d, 64));
    OK(cudaMallocHost((void **)&h, 64));
    OK(cudaMemsetAsync(d, 1, 64, s));
    OK(cudaDeviceReset());
    FAILS(cudaStreamSynchronize(s), cudaErrorInvalidResourceHandle);
    FAILS(cudaFree(d), cudaErrorInvalidValue);
    OK(cudaMalloc((void **)&e, 64));
    CHECK(e == d);
    return 0;
}

static void test_reset(void **state)
{
    EACH_SCHEDULE(reset)
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocation),
        cmocka_unit_test(test_copies_are_checked),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_host_memory),
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_freed_pinned_memory_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
