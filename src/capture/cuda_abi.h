/* What the injected library knows of the CUDA driver: handles, result codes, parameters of calls.
 *
 * Our own declarations of facts that the driver's binary interface fixes for 64-bit Linux, from
 * CUDA 12.4 on: nothing of NVIDIA is needed to build or to read this. Handle types have the
 * driver's tags, so that they can stand beside the real headers; tests/capture/abi_check.c asserts
 * each layout against those where they are present.
 *
 * An API callback hands out the arguments of the call as a struct with one member for each, in
 * order
 * (`params` of struct sanitizer_api_data). Calls of the runtime and of the driver that take the
 * same arguments share one struct here. Extend by adding; what is here never changes. */
#ifndef SSAN_CAPTURE_CUDA_ABI_H
#define SSAN_CAPTURE_CUDA_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

static_assert(sizeof(void *) == 8, "64-bit only");

typedef struct CUctx_st *CUcontext;
typedef struct CUgreenCtx_st *CUgreenCtx;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUkern_st *CUkernel;
typedef struct CUlib_st *CUlibrary;
typedef struct CUarray_st *CUarray;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct CUextMemory_st *CUexternalMemory;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef int CUdevice;

/* A device pointer as the API passes it. */
typedef unsigned long long CUdeviceptr;

/* Handles that every context has: the legacy default stream may also be NULL. In calls whose name
 * ends in _ptsz or _ptds NULL means the per-thread one. */
#define CUDA_STREAM_LEGACY     ((CUstream)(uintptr_t)1)
#define CUDA_STREAM_PER_THREAD ((CUstream)(uintptr_t)2)

/* CUresult and cudaError_t, which agree on those named here; 0 is success of either. */
enum cuda_result {
    CUDA_OK = 0,
    CUDA_INVALID_VALUE = 1,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_NOT_INITIALIZED = 3,
    CUDA_DEINITIALIZED = 4,
    CUDA_INVALID_CONTEXT = 201,
    CUDA_ECC_UNCORRECTABLE = 214,
    CUDA_INVALID_HANDLE = 400,
    CUDA_NOT_READY = 600,
    CUDA_ILLEGAL_ADDRESS = 700,
    CUDA_LAUNCH_TIMEOUT = 702,
    CUDA_CONTEXT_IS_DESTROYED = 709,
    CUDA_ASSERT = 710,
    CUDA_HARDWARE_STACK_ERROR = 714,
    CUDA_ILLEGAL_INSTRUCTION = 715,
    CUDA_MISALIGNED_ADDRESS = 716,
    CUDA_INVALID_ADDRESS_SPACE = 717,
    CUDA_INVALID_PC = 718,
    CUDA_LAUNCH_FAILED = 719,
    CUDA_NOT_PERMITTED = 800,
    CUDA_NOT_SUPPORTED = 801,
    CUDA_STREAM_CAPTURE_UNSUPPORTED = 900,
    CUDA_STREAM_CAPTURE_INVALIDATED = 901
};

#define CUDA_STREAM_NON_BLOCKING     1u /* flags of stream creation */
#define CUDA_EVENT_BLOCKING_SYNC     1u /* flags of event creation */
#define CUDA_EVENT_DISABLE_TIMING    2u
#define CUDA_EVENT_INTERPROCESS      4u
#define CUDA_EVENT_WAIT_EXTERNAL     1u /* flags of cudaStreamWaitEvent */
#define CUDA_HOST_REGISTER_IO_MEMORY 4u
#define CUDA_HOST_ALLOC_PORTABLE     1u
#define CUDA_HOST_ALLOC_MAPPED       2u

/* cudaMemcpyKind */
enum cuda_copy_kind {
    CUDA_COPY_HOST_TO_HOST = 0,
    CUDA_COPY_HOST_TO_DEVICE = 1,
    CUDA_COPY_DEVICE_TO_HOST = 2,
    CUDA_COPY_DEVICE_TO_DEVICE = 3,
    CUDA_COPY_DEFAULT = 4
};

/* -- streams and events -------------------------------------------------------------------------*/

/* cudaStreamQuery, cudaStreamSynchronize, cudaStreamDestroy; cuStream... of each */
struct cuda_stream_params {
    CUstream stream;
};

/* cudaEventQuery, cudaEventSynchronize, cudaEventDestroy; cuEvent... of each */
struct cuda_event_params {
    CUevent event;
};

/* cudaEventElapsedTime, cuEventElapsedTime */
struct cuda_elapsed_params {
    float *milliseconds;
    CUevent start;
    CUevent end;
};

/* cudaStreamCreateWithFlags, cudaStreamCreateWithPriority and cuStreamCreate(WithPriority);
 * cudaStreamCreate has the first member only. `*stream` is set when the call has succeeded. */
struct cuda_stream_create_params {
    CUstream *stream;
    unsigned int flags;
    int priority; /* only ...WithPriority */
};

/* cudaEventCreateWithFlags, cuEventCreate; cudaEventCreate has the first member only */
struct cuda_event_create_params {
    CUevent *event;
    unsigned int flags;
};

/* cudaEventRecord(WithFlags), cuEventRecord(WithFlags) */
struct cuda_event_record_params {
    CUevent event;
    CUstream stream;
    unsigned int flags; /* only ...WithFlags */
};

/* cudaStreamWaitEvent, cuStreamWaitEvent */
struct cuda_stream_wait_event_params {
    CUstream stream;
    CUevent event;
    unsigned int flags;
};

/* cuCtxRecordEvent, cuCtxWaitEvent */
struct cuda_context_event_params {
    CUcontext context;
    CUevent event;
};

/* -- host functions and values in memory --------------------------------------------------------*/

/* cudaLaunchHostFunc, cuLaunchHostFunc; the version 2 calls have one more, a mode */
struct cuda_host_func_params {
    CUstream stream;
    void (*function)(void *user);
    void *user;
};

/* cudaStreamAddCallback, cuStreamAddCallback; `function` takes (stream, status, user) */
struct cuda_add_callback_params {
    CUstream stream;
    void (*function)(CUstream stream, int status, void *user);
    void *user;
    unsigned int flags;
};

/* cuStreamWaitValue32(_v2), cuStreamWriteValue32(_v2) */
struct cuda_value32_params {
    CUstream stream;
    CUdeviceptr address;
    uint32_t value;
    unsigned int flags;
};

/* cuStreamWaitValue64(_v2), cuStreamWriteValue64(_v2) */
struct cuda_value64_params {
    CUstream stream;
    CUdeviceptr address;
    uint64_t value;
    unsigned int flags;
};

enum cuda_mem_op {
    CUDA_MEM_OP_WAIT_32 = 1,
    CUDA_MEM_OP_WRITE_32 = 2,
    CUDA_MEM_OP_FLUSH_REMOTE_WRITES = 3,
    CUDA_MEM_OP_WAIT_64 = 4,
    CUDA_MEM_OP_WRITE_64 = 5,
    CUDA_MEM_OP_BARRIER = 6
};

/* One operation of a batch; address and value only where `operation` waits or writes. */
struct cuda_mem_op_params {
    uint32_t operation; /* enum cuda_mem_op */
    CUdeviceptr address;
    uint64_t value; /* its low half where the operation has 32 bits */
    uint32_t flags;
    uint64_t unused[2];
};

static_assert(sizeof(struct cuda_mem_op_params) == 48, "the driver's union");

/* cuStreamBatchMemOp(_v2) */
struct cuda_batch_params {
    CUstream stream;
    unsigned int count;
    const struct cuda_mem_op_params *operations;
    unsigned int flags;
};

/* -- memory -------------------------------------------------------------------------------------*/

/* cudaMalloc, cudaMallocHost, cuMemAlloc, cuMemAllocHost; cudaMallocManaged, cudaHostAlloc,
 * cuMemAllocManaged, cuMemHostAlloc have the flags too. `*pointer` is set on success. */
struct cuda_alloc_params {
    void **pointer;
    size_t size;
    unsigned int flags;
};

/* cudaFree, cudaFreeHost, cuMemFree, cuMemFreeHost, cudaHostUnregister, cuMemHostUnregister */
struct cuda_free_params {
    void *pointer;
};

/* cudaHostRegister, cuMemHostRegister(_v2) */
struct cuda_host_register_params {
    void *pointer;
    size_t size;
    unsigned int flags;
};

/* cudaMallocAsync, cuMemAllocAsync */
struct cuda_alloc_async_params {
    void **pointer;
    size_t size;
    CUstream stream;
};

/* cudaFreeAsync, cuMemFreeAsync */
struct cuda_free_async_params {
    void *pointer;
    CUstream stream;
};

/* cudaStreamAttachMemAsync, cuStreamAttachMemAsync */
struct cuda_attach_params {
    CUstream stream;
    void *pointer;
    size_t size;
    unsigned int flags;
};

/* cudaMemPrefetchAsync of CUDA 12, cuMemPrefetchAsync */
struct cuda_prefetch_params {
    const void *pointer;
    size_t size;
    int device;
    CUstream stream;
};

/* cudaMemPrefetchAsync of CUDA 13 (_v2 in 12), cuMemPrefetchAsync_v2 */
struct cuda_prefetch_v2_params {
    const void *pointer;
    size_t size;
    uint32_t location_type;
    int32_t location_id;
    unsigned int flags;
    CUstream stream;
};

/* cuModuleGetGlobal_v2, cuLibraryGetGlobal, cuLibraryGetManaged, the runtime's of the last two. The
 * first two members may be NULL; what they point to is set on success. */
struct cuda_global_params {
    CUdeviceptr *address;
    size_t *size;
    const void *owner; /* CUmodule or CUlibrary */
    const char *name;
};

/* -- copies and memsets; strides and directions come with the callback of the copy itself
 * --------*/

/* cudaMemcpy, cudaMemcpyAsync (with the stream) */
struct cuda_copy_params {
    void *destination;
    const void *source;
    size_t size;
    uint32_t kind; /* enum cuda_copy_kind */
    CUstream stream;
};

/* cudaMemcpy2D, cudaMemcpy2DAsync (with the stream) */
struct cuda_copy_2d_params {
    void *destination;
    size_t destination_pitch;
    const void *source;
    size_t source_pitch;
    size_t width;
    size_t height;
    uint32_t kind;
    CUstream stream;
};

/* cuMemcpy, cuMemcpyHtoD, cuMemcpyDtoH, cuMemcpyDtoD; ...Async of each with the stream */
struct cuda_driver_copy_params {
    CUdeviceptr destination;
    CUdeviceptr source;
    size_t size;
    CUstream stream;
};

/* What the first argument of cuMemcpy3D and cuMemcpy3DAsync points to; cuMemcpy3DPeer's begins with
 * the same members up to `destination_height`. Heights are rows from plane to plane. */
struct cuda_copy_3d {
    size_t source_x, source_y, source_z, source_lod;
    uint32_t source_type;
    const void *source_host;
    CUdeviceptr source_device;
    CUarray source_array;
    void *source_context;
    size_t source_pitch, source_height;
    size_t destination_x, destination_y, destination_z, destination_lod;
    uint32_t destination_type;
    void *destination_host;
    CUdeviceptr destination_device;
    CUarray destination_array;
    void *destination_context;
    size_t destination_pitch, destination_height;
    size_t width, height, depth;
};

static_assert(sizeof(struct cuda_copy_3d) == 200, "the driver's CUDA_MEMCPY3D");

/* cudaMemset, cudaMemsetAsync (with the stream), cuMemsetD32(Async) */
struct cuda_memset_params {
    void *pointer;
    int32_t value;
    size_t size; /* bytes; elements for the driver's calls */
    CUstream stream;
};

/* -- launches -----------------------------------------------------------------------------------*/

struct cuda_dim3 {
    unsigned int x, y, z;
};

/* cudaLaunchKernel, cudaLaunchCooperativeKernel */
struct cuda_launch_params {
    const void *function; /* the host stub */
    struct cuda_dim3 grid;
    struct cuda_dim3 block;
    void **arguments;
    size_t shared_bytes;
    CUstream stream;
};

/* cuLaunchKernel; cuLaunchCooperativeKernel has no `extra` */
struct cuda_driver_launch_params {
    CUfunction function;
    unsigned int grid_x, grid_y, grid_z;
    unsigned int block_x, block_y, block_z;
    unsigned int shared_bytes;
    CUstream stream;
    void **arguments; /* one pointer for each parameter, or NULL */
    void **extra;     /* then pairs of name and value; see CUDA_LAUNCH_... */
};

#define CUDA_LAUNCH_END            ((void *)(uintptr_t)0)
#define CUDA_LAUNCH_BUFFER_POINTER ((void *)(uintptr_t)1) /* the next is the byte buffer */
#define CUDA_LAUNCH_BUFFER_SIZE    ((void *)(uintptr_t)2) /* the next is a size_t pointer */

enum cuda_launch_attribute_id {
    CUDA_ATTRIBUTE_PROGRAMMATIC_SERIALIZATION =
        6, /* number != 0: may begin before its forerunner ends */
    CUDA_ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
    CUDA_ATTRIBUTE_LAUNCH_COMPLETION_EVENT = 12
};

/* One of the attributes of a launch. */
struct cuda_launch_attribute {
    uint32_t id; /* enum cuda_launch_attribute_id, and others */
    union {
        int32_t number;
        uint64_t words[8];
    } value;
};

static_assert(sizeof(struct cuda_launch_attribute) == 72, "the driver's CUlaunchAttribute");

/* What cuLaunchKernelEx's first argument points to. */
struct cuda_launch_config {
    unsigned int grid_x, grid_y, grid_z;
    unsigned int block_x, block_y, block_z;
    unsigned int shared_bytes;
    CUstream stream;
    const struct cuda_launch_attribute *attributes;
    unsigned int attribute_count;
};

/* cuLaunchKernelEx */
struct cuda_launch_ex_params {
    const struct cuda_launch_config *config;
    CUfunction function;
    void **arguments;
    void **extra;
};

/* What cudaLaunchKernelExC's first argument points to. */
struct cuda_runtime_launch_config {
    struct cuda_dim3 grid;
    struct cuda_dim3 block;
    size_t shared_bytes;
    CUstream stream;
    const void *attributes;
    unsigned int attribute_count;
};

/* cudaLaunchKernelExC */
struct cuda_runtime_launch_ex_params {
    const struct cuda_runtime_launch_config *config;
    const void *function;
    void **arguments;
};

/* cudaGraphLaunch, cuGraphLaunch */
struct cuda_graph_launch_params {
    CUgraphExec graph;
    CUstream stream;
};

/* -- API calls that are listened to (api_calls.def) ---------------------------------------------*/

enum api_class {
    API_LAUNCH,
    API_COPY,
    API_MEMSET,
    API_ALLOC,
    API_FREE,
    API_REGISTER,   /* host memory page-locked in place */
    API_UNREGISTER, /* and no longer */
    API_MEMORY,     /* takes device memory by other ways, or asks how much there is */
    API_POOL_ALLOC, /* stream-ordered: cudaMallocAsync */
    API_POOL_FREE,
    API_STREAM_CREATE,
    API_STREAM_DESTROY,
    API_STREAM_SYNC,
    API_STREAM_QUERY,
    API_STREAM_WAIT, /* for an event */
    API_EVENT_CREATE,
    API_EVENT_DESTROY,
    API_EVENT_RECORD,
    API_EVENT_SYNC,
    API_EVENT_QUERY,
    API_ELAPSED,
    API_CONTEXT_SYNC,
    API_CONTEXT_END, /* cudaDeviceReset, cuCtxDestroy, ... */
    API_HOST_FUNC,   /* struct cuda_host_func_params */
    API_CALLBACK,    /* struct cuda_add_callback_params */
    API_WAIT_VALUE_32,
    API_WAIT_VALUE_64,
    API_WRITE_VALUE_32,
    API_WRITE_VALUE_64,
    API_BATCH,
    API_PREFETCH,    /* struct cuda_prefetch_params */
    API_PREFETCH_V2, /* struct cuda_prefetch_v2_params */
    API_ATTACH,      /* managed memory to a stream */
    API_PROFILER_START,
    API_PROFILER_STOP,
    API_GLOBAL, /* struct cuda_global_params: where a variable of a module lies */
    API_ASK,    /* for the last error: the result is that */
    API_GRAPH,  /* captured, built, instantiated, launched: of these only the last submits */
    API_UNSUPPORTED
};

enum api_form { API_ASYNC, API_SYNC };

#endif
