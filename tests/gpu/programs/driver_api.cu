/* The driver API alone, no runtime: a module from PTX, two streams, an event, copies.
 *
 * `double_all` writes d on stream P, `add_one` reads it on stream C; -DFIXED makes C wait. */
// EXPECT racy: RAW device buffer 'd' [0,16384) between kernel 'double_all' (stream P) and kernel 'add_one' (stream C)
// ALLOW racy: WAW device buffer 'd' [0,16384) between kernel 'double_all' (stream P) and kernel 'add_one' (stream C)
// ALLOW racy: WAR device buffer 'd' [0,16384) between kernel 'double_all' (stream P) and kernel 'add_one' (stream C)
// EXPECT fixed: clean
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <streamsan/annotate.h>

enum { N = 4096 };

static const char *const PTX = ".version 7.0\n.target sm_70\n.address_size 64\n"
#define KERNEL(name, work)                                                                                                       \
    ".visible .entry " name "(.param .u64 p)\n{\n.reg .b32 %r<8>;\n.reg .b64 %d<4>;\n"                                            \
    "ld.param.u64 %d1, [p];\ncvta.to.global.u64 %d1, %d1;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n" \
    "mad.lo.s32 %r4, %r1, %r2, %r3;\nmul.wide.s32 %d2, %r4, 4;\nadd.s64 %d3, %d1, %d2;\nld.global.u32 %r5, [%d3];\n" work         \
    "st.global.u32 [%d3], %r5;\nret;\n}\n"
    KERNEL("double_all", "add.s32 %r5, %r5, %r5;\n") KERNEL("add_one", "add.s32 %r5, %r5, 1;\n");

static void must(CUresult result, const char *what)
{
    if (result != CUDA_SUCCESS) {
        const char *name = NULL;
        cuGetErrorName(result, &name);
        fprintf(stderr, "%s: %s\n", what, name ? name : "?");
        exit(1);
    }
}
#define MUST(call) must(call, #call)

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction double_all, add_one;
    CUstream p, c;
    CUevent ready;
    CUdeviceptr d;
    int *host;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
    MUST(cuModuleLoadData(&module, PTX));
    MUST(cuModuleGetFunction(&double_all, module, "double_all"));
    MUST(cuModuleGetFunction(&add_one, module, "add_one"));
    MUST(cuStreamCreate(&p, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&c, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&ready, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemAlloc(&d, N * sizeof(int)));
    MUST(cuMemAllocHost((void **)&host, N * sizeof(int)));
    SSAN_NAME(p, "P");
    SSAN_NAME(c, "C");
    SSAN_NAME((void *)(size_t)d, "d");
    for (int i = 0; i < N; ++i) {
        host[i] = i;
    }
    void *arguments[] = {&d};
    MUST(cuMemcpyHtoDAsync(d, host, N * sizeof(int), p));
    MUST(cuLaunchKernel(double_all, N / 256, 1, 1, 256, 1, 1, 0, p, arguments, NULL));
#ifdef FIXED
    MUST(cuEventRecord(ready, p));
    MUST(cuStreamWaitEvent(c, ready, 0));
#else
    MUST(cuEventRecord(ready, c));
    MUST(cuStreamWaitEvent(p, ready, 0));
#endif
    MUST(cuLaunchKernel(add_one, N / 256, 1, 1, 256, 1, 1, 0, c, arguments, NULL));
    MUST(cuStreamSynchronize(c));
    MUST(cuStreamSynchronize(p));
    MUST(cuMemcpyDtoH(host, d, N * sizeof(int)));
    int bad = 0;
    for (int i = 0; i < N; ++i) {
        bad += host[i] != 2 * i + 1;
    }
    printf("elements=%d mismatches=%d\n", N, bad);
    return bad ? 2 : 0;
}
