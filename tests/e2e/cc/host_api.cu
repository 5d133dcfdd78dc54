/* The API's C++ face: every overload and default argument is used once. Compiled only; main is not
 * run. */
#include <cuda_runtime.h>
#include <cuda_profiler_api.h>
#include <device_launch_parameters.h>
#include <vector_functions.h>

#include <utility>

__device__ float table[16];
__global__ void kernel(float *p, int n)
{
    extern __shared__ float shared[];
    shared[threadIdx.x] = table[threadIdx.x % 16];
    __syncthreads();
    p[threadIdx.x] = shared[n - 1 - threadIdx.x];
}

template <class T, int N> __global__ void __launch_bounds__(256, 1) typed(T value, T *out)
{
    out[threadIdx.x] = value * N;
}

__host__ __device__ constexpr int both(int x)
{
    return x + 1;
}

struct pair {
    float2 a;
    double4 b;
};

__global__ void by_value(pair p, float4 *out)
{
    uint3 thread = threadIdx;
    dim3 block = blockDim;
    out[thread.x] = make_float4(p.a.x, p.a.y, (float)p.b.w, (float)block.x);
}

template <class F> __global__ void apply(F function, int *out)
{
    out[threadIdx.x] = function((int)threadIdx.x);
}

static void host_function(void *)
{
}

static void stream_callback(cudaStream_t, cudaError_t, void *)
{
}

static void memory(cudaStream_t s)
{
    float *p = nullptr;
    double *managed = nullptr;
    size_t pitch = 0, size = 0;
    cudaPointerAttributes attributes;
    cudaMemPool_t pool;
    cudaMalloc(&p, 16);
    cudaMalloc((void **)&p, 16);
    cudaMallocHost(&p, 16);
    cudaMallocHost((void **)&p, 16, cudaHostAllocPortable);
    cudaHostAlloc(&p, 16, cudaHostAllocMapped);
    cudaMallocManaged(&managed, 16);
    cudaMallocPitch(&p, &pitch, 16, 4);
    cudaMallocAsync(&p, 16, s);
    cudaMallocAsync((void **)&p, 16, s);
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMallocAsync(&p, 16, pool, s);
    cudaFreeAsync(p, s);
    cudaHostGetDevicePointer(&p, p, 0);
    cudaPointerGetAttributes(&attributes, p);
    cudaMemcpyAsync(p, p, 4, cudaMemcpyDefault);
    cudaMemcpy2DAsync(p, 4, p, 4, 4, 4, cudaMemcpyDeviceToDevice, s);
    cudaMemsetAsync(p, 0, 4);
    cudaMemcpyToSymbol(table, p, 4);
    cudaMemcpyToSymbolAsync(table, p, 4, 0, cudaMemcpyHostToDevice, s);
    cudaMemcpyFromSymbol(p, table, 4, 4);
    cudaGetSymbolAddress((void **)&p, table);
    cudaGetSymbolSize(&size, table);
    cudaMemPrefetchAsync(p, 4, cudaCpuDeviceId);
    cudaMemcpy3DParms parms = {};
    parms.extent = make_cudaExtent(1, 2, 3);
    parms.srcPtr = make_cudaPitchedPtr(p, 16, 4, 4);
    parms.dstPos = make_cudaPos(0, 0, 0);
    cudaMemcpy3D(&parms);
    cudaFree(p);
    cudaFree(0);
    cudaFreeHost(managed);
}

static void launches(cudaStream_t s, float *p)
{
    int n = 4, value = 0, blocks = 0, grid = 0;
    cudaFuncAttributes attributes;
    void *args[] = {&p, &n};
    kernel<<<1, 32>>>(p, n);
    kernel<<<dim3(1, 2), dim3(32), 128, s>>>(p, n);
    typed<float, 3><<<1, 1, 0, s>>>(2.0f, p);
    by_value<<<1, 1>>>(pair(), (float4 *)p);
    apply<<<1, 1>>>([=] __device__(int x) { return both(x) + n; }, (int *)p);
    cudaLaunchKernel(kernel, dim3(1), dim3(32), args);
    cudaLaunchKernel((const void *)kernel, 1, 32, args, 0, s);
    cudaLaunchConfig_t config = {};
    config.stream = s;
    cudaLaunchKernelEx(&config, kernel, p, n);
    cudaFuncGetAttributes(&attributes, kernel);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
    cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferL1);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32, 0);
    cudaOccupancyMaxPotentialBlockSize(&grid, &blocks, kernel);
    cudaLaunchHostFunc(s, host_function, &value);
    cudaStreamAddCallback(s, stream_callback, nullptr, 0);
}

static void streams(cudaStream_t s)
{
    cudaEvent_t e, f;
    float ms = 0;
    int least, greatest;
    cudaDeviceProp prop;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    cudaEventCreate(&e);
    cudaEventCreate(&f, cudaEventBlockingSync);
    cudaEventRecord(e);
    cudaStreamWaitEvent(s, e);
    cudaStreamWaitEvent(cudaStreamPerThread, e, cudaEventWaitDefault);
    cudaStreamWaitEvent(0, e, 0);
    cudaEventElapsedTime(&ms, e, f);
    cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, -1);
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    cudaGetDeviceProperties(&prop, 0);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&exec, graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphInstantiate(&exec, graph, &node, nullptr, 0);
    cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);
    cudaGraphLaunch(exec, s);
    cudaProfilerStart();
    if (cudaError_t error = cudaGetLastError()) {
        cudaGetErrorString(error);
    }
}

int main()
{
    int2 v = make_int2(1, 2);
    dim3 block(v.x);
    static_assert(sizeof(float3) == 12 && alignof(float4) == 16 && alignof(double2) == 16 &&
                      sizeof(longlong4) == 32 && alignof(uchar4) == 4 && sizeof(dim3) == 12,
                  "the layout of vector types");
    memory(cudaStreamLegacy);
    launches(0, nullptr);
    streams(0);
    return both((int)block.y) + min(1, 2) + max(1u, 2u);
}
