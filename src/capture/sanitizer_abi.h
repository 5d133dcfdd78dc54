/* NVIDIA's Compute Sanitizer API as the injected library sees it: our own declarations.
 *
 * Facts that the binary interface of libsanitizer-public.so fixes, for versions from CUDA 12.4 on;
 * the library itself is opened at run time by sanitizer_load, so this builds without any file of
 * NVIDIA. tests/capture/abi_check.c asserts each number and layout against the real headers where
 * they are present. Enumerators are passed as uint32_t.
 *
 * Versions. Structs grew at their ends, but for three that got a member in the middle in 13.1
 * (`green context`): context, stream and event data. Those are read only through
 * sanitizer_context_data, sanitizer_stream_data and sanitizer_event_data below, which know the
 * layout of the loaded library (sanitizer_subscribe finds out). All other data may be read as
 * declared here, whatever the version: members that newer versions append are left out. */
#ifndef SSAN_CAPTURE_SANITIZER_ABI_H
#define SSAN_CAPTURE_SANITIZER_ABI_H

#include "base/status.h"
#include "capture/cuda_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sanitizer_result {
    SANITIZER_OK = 0,
    SANITIZER_INVALID_PARAMETER = 1,
    SANITIZER_INVALID_DEVICE = 2,
    SANITIZER_INVALID_CONTEXT = 3,
    SANITIZER_INVALID_DOMAIN = 4,
    SANITIZER_INVALID_CALLBACK = 5,
    SANITIZER_INVALID_OPERATION = 6,
    SANITIZER_OUT_OF_MEMORY = 7,
    SANITIZER_PARAMETER_TOO_SMALL = 8,
    SANITIZER_NOT_IMPLEMENTED = 9,
    SANITIZER_LIMIT_REACHED = 10, /* of subscribe: there is a subscriber already */
    SANITIZER_NOT_READY = 11,
    SANITIZER_NOT_COMPATIBLE = 12, /* with the driver */
    SANITIZER_NOT_INITIALIZED = 13,
    SANITIZER_NOT_SUPPORTED = 14,
    SANITIZER_NOT_DEVICE_MEMORY = 15,
    SANITIZER_UNKNOWN = 999
};

enum sanitizer_domain {
    SANITIZER_DRIVER_API = 1,       /* struct sanitizer_api_data; ids in api_calls.def */
    SANITIZER_RUNTIME_API = 2,      /* the same */
    SANITIZER_RESOURCE = 3,         /* by enum sanitizer_resource_id */
    SANITIZER_SYNCHRONIZE = 4,      /* struct sanitizer_synchronize_data */
    SANITIZER_LAUNCH = 5,           /* struct sanitizer_launch_data */
    SANITIZER_MEMCPY = 6,           /* struct sanitizer_memcpy_data */
    SANITIZER_MEMSET = 7,           /* struct sanitizer_memset_data */
    SANITIZER_BATCH_MEMOP = 8,      /* struct sanitizer_batch_memop_data */
    SANITIZER_UVM = 9,              /* struct sanitizer_uvm_data */
    SANITIZER_GRAPHS = 10,          /* by enum sanitizer_graph_id */
    SANITIZER_EVENTS = 11,          /* sanitizer_event_data(); a driver of 515 or newer */
    SANITIZER_EXTERNAL_MEMORY = 12, /* struct sanitizer_external_memory_data */
    SANITIZER_DOMAIN_END = 13
};

enum sanitizer_resource_id {
    SANITIZER_INIT_FINISHED = 1,
    SANITIZER_CONTEXT_CREATION_STARTING = 2, /* 2-5: sanitizer_context_data() */
    SANITIZER_CONTEXT_CREATION_FINISHED = 3,
    SANITIZER_CONTEXT_DESTROY_STARTING = 4,
    SANITIZER_CONTEXT_DESTROY_FINISHED = 5,
    SANITIZER_STREAM_CREATED = 6, /* 6-8: sanitizer_stream_data() */
    SANITIZER_STREAM_DESTROY_STARTING = 7,
    SANITIZER_STREAM_DESTROY_FINISHED = 8, /* its `stream` is NULL */
    SANITIZER_MODULE_LOADED = 9,           /* struct sanitizer_module_data */
    SANITIZER_MODULE_UNLOAD_STARTING = 10,
    SANITIZER_DEVICE_MEMORY_ALLOC = 11, /* 11-17, 28: struct sanitizer_memory_data */
    SANITIZER_DEVICE_MEMORY_FREE = 12,
    SANITIZER_HOST_MEMORY_ALLOC = 13, /* pinned: allocated or registered */
    SANITIZER_HOST_MEMORY_FREE = 14,
    SANITIZER_MEMORY_ALLOC_ASYNC = 15,
    SANITIZER_MEMORY_FREE_ASYNC = 16,
    SANITIZER_MEMORY_FREE_ASYNC_DONE = 17, /* of memory that was not allocated from a pool */
    SANITIZER_MEMPOOL_CREATED = 18,        /* 18-21: struct sanitizer_mempool_data */
    SANITIZER_MEMPOOL_DESTROYING = 19,
    SANITIZER_MEMPOOL_PEER_ACCESS_ENABLED = 20,
    SANITIZER_MEMPOOL_PEER_ACCESS_DISABLING = 21,
    SANITIZER_ARRAY_CREATED = 22, /* 22, 23: struct sanitizer_array_data */
    SANITIZER_ARRAY_DESTROYED = 23,
    SANITIZER_FUNCTIONS_LAZY_LOADED = 24, /* 24, 25: struct sanitizer_functions_data */
    SANITIZER_FUNCTIONS_LAZY_PATCHED = 25,
    SANITIZER_VIRTUAL_RESERVE = 26, /* 26, 27: struct sanitizer_range_data */
    SANITIZER_VIRTUAL_RELEASE = 27,
    SANITIZER_MEMPOOL_IMPORT_POINTER = 28,
    SANITIZER_GREEN_CONTEXT_CREATION_FINISHED = 29 /* 13.1: the first that tells that layout */
};

enum sanitizer_synchronize_id {
    SANITIZER_STREAM_SYNCHRONIZED = 1,
    SANITIZER_CONTEXT_SYNCHRONIZED = 2,
    SANITIZER_GREEN_CONTEXT_SYNCHRONIZED = 3 /* 13.1 */
};

enum sanitizer_launch_id {
    SANITIZER_LAUNCH_BEGIN = 1,
    SANITIZER_LAUNCH_AFTER_SYSCALL_SETUP = 2,
    SANITIZER_LAUNCH_END = 3
};

enum sanitizer_memcpy_id {
    SANITIZER_MEMCPY_STARTING = 1,
    SANITIZER_MEMCPY_BATCH_ITEM_STARTING = 2, /* 13.4; struct sanitizer_memcpy_data too */
    SANITIZER_MEMCPY_BATCH_ITEM_END = 3       /* 13.4 */
};

enum sanitizer_memset_id { SANITIZER_MEMSET_STARTING = 1 };

enum sanitizer_batch_memop_id {
    SANITIZER_BATCH_MEMOP_WRITE = 1,
    SANITIZER_BATCH_MEMOP_WAIT_BEGIN = 2,      /* 13.1 */
    SANITIZER_BATCH_MEMOP_ATOMIC_REDUCTION = 3 /* 13.1 */
};

enum sanitizer_uvm_id { SANITIZER_UVM_ATTACH = 1 };

enum sanitizer_graph_id {
    SANITIZER_GRAPH_EXEC_CREATING = 1, /* 1-3: struct sanitizer_graph_exec_data */
    SANITIZER_GRAPH_EXEC_CREATED = 2,
    SANITIZER_GRAPH_EXEC_DESTROYING = 3,
    SANITIZER_GRAPH_NODE_LAUNCH_BEGIN = 4, /* 4, 5: struct sanitizer_graph_node_data */
    SANITIZER_GRAPH_NODE_LAUNCH_END = 5,
    SANITIZER_GRAPH_LAUNCH_BEGIN = 6, /* 6, 7: struct sanitizer_graph_launch_data */
    SANITIZER_GRAPH_LAUNCH_END = 7
};

enum sanitizer_event_id {
    SANITIZER_EVENT_CREATED = 1,
    SANITIZER_EVENT_DESTROYED = 2,
    SANITIZER_EVENT_RECORD = 3,
    SANITIZER_EVENT_STREAM_WAIT = 4,
    SANITIZER_EVENT_SYNCHRONIZE = 5,
    SANITIZER_EVENT_CONTEXT_RECORD = 6, /* 6-10: 13.1 */
    SANITIZER_EVENT_GREEN_CONTEXT_RECORD = 7,
    SANITIZER_EVENT_CONTEXT_WAIT = 8,
    SANITIZER_EVENT_GREEN_CONTEXT_WAIT = 9,
    SANITIZER_EVENT_CONTEXT_SYNCHRONIZE = 10
};

enum sanitizer_external_memory_id {
    SANITIZER_EXTERNAL_IMPORT = 1,
    SANITIZER_EXTERNAL_MAPPED = 2,
    SANITIZER_EXTERNAL_DESTROYED = 3
};

/* Opaque handles. A stream's handle is unique among all contexts while the stream lives; the next
 * stream may get it again. */
struct sanitizer_subscriber;
struct sanitizer_stream;
struct sanitizer_launch;

/* -- data of the callbacks, valid during the callback only
 * ---------------------------------------*/

enum sanitizer_api_site { SANITIZER_API_ENTER = 0, SANITIZER_API_EXIT = 1 };

struct sanitizer_api_data {
    uint32_t site;        /* enum sanitizer_api_site */
    const char *function; /* valid for ever */
    const void *params;   /* a struct of cuda_abi.h, by the call */
    const int *result;    /* at the exit only: cudaError_t or CUresult */
    const char *symbol;   /* of launches: the kernel */
    CUcontext context;    /* current to the thread, may be NULL; may change until the exit */
};

struct sanitizer_context_data {
    CUcontext context;
    CUdevice device; /* at creation only */
};

struct sanitizer_stream_data {
    CUcontext context;
    CUstream stream;
    struct sanitizer_stream *handle;
};

struct sanitizer_module_data {
    CUcontext context;
    CUmodule module;
    size_t cubin_size;
    const char *cubin;
    CUlibrary library; /* of a lazily loaded one, may be NULL */
};

/* Flags of struct sanitizer_memory_data. */
#define SANITIZER_MEMORY_MODULE      0x1u /* a variable of a module */
#define SANITIZER_MEMORY_MANAGED     0x2u
#define SANITIZER_MEMORY_HOST_MAPPED 0x4u
#define SANITIZER_MEMORY_HOST_PINNED 0x8u
#define SANITIZER_MEMORY_PEER        0x10u
#define SANITIZER_MEMORY_PEER_ATOMIC 0x20u
#define SANITIZER_MEMORY_CG_RUNTIME  0x40u /* of the cooperative groups runtime */
#define SANITIZER_MEMORY_CNP         0x80u /* of dynamic parallelism */

enum sanitizer_visibility {
    SANITIZER_VISIBLE_GLOBAL = 1,
    SANITIZER_VISIBLE_HOST = 2,
    SANITIZER_VISIBLE_STREAM = 3
};

struct sanitizer_memory_data {
    uint64_t address;
    uint64_t size;
    CUcontext context; /* may be NULL */
    CUdevice device;
    CUstream stream;
    struct sanitizer_stream *handle; /* may be NULL */
    CUmemoryPool pool;               /* may be NULL */
    uint32_t flags;
    uint32_t permissions;   /* 1 read, 2 write, 4 atomic */
    uint32_t visibility;    /* enum sanitizer_visibility */
    CUdevice source_device; /* of peer memory */
};

struct sanitizer_mempool_data {
    CUmemoryPool pool;
    CUdevice device;
    CUdevice peer_device;
};

struct sanitizer_array_data {
    CUcontext context;
    CUarray array;
    uint64_t width, height, depth;
};

struct sanitizer_functions_data {
    CUcontext context;
    CUmodule module;
    const CUfunction *functions;
    uint32_t count;
};

struct sanitizer_range_data {
    uint64_t address;
    uint64_t size;
};

struct sanitizer_synchronize_data {
    CUcontext context;
    CUstream stream;
    struct sanitizer_stream *handle;
};

struct sanitizer_launch_data {
    CUcontext context;
    CUstream stream;
    struct sanitizer_stream *handle;
    CUmodule module;
    CUfunction function;
    const char *name; /* mangled */
    uint32_t grid_x, grid_y, grid_z;
    uint32_t block_x, block_y, block_z;
    uint32_t cluster_x, cluster_y, cluster_z;
    uint64_t grid_id;
    struct sanitizer_launch *launch;
    CUdevice device;
    CUcontext api_context; /* of a graph's node: where the graph was launched */
    CUstream api_stream;
    struct sanitizer_stream *api_handle;
};

enum sanitizer_direction {
    SANITIZER_DIRECTION_UNKNOWN = 0,
    SANITIZER_HOST_TO_HOST = 1,
    SANITIZER_HOST_TO_DEVICE = 2,
    SANITIZER_DEVICE_TO_HOST = 3,
    SANITIZER_DEVICE_TO_DEVICE = 4
};

struct sanitizer_memcpy_data {
    CUcontext source_context;
    CUcontext destination_context;
    CUstream source_stream;
    struct sanitizer_stream *source_handle;
    CUstream destination_stream;
    struct sanitizer_stream *destination_handle;
    uint64_t source;
    uint64_t destination;
    uint64_t size;
    uint64_t width, height, depth;
    uint64_t source_pitch;
    uint64_t destination_pitch;
    uint32_t is_async;
    uint32_t direction;    /* enum sanitizer_direction */
    CUcontext api_context; /* where it was asked for */
    CUstream api_stream;
    struct sanitizer_stream *api_handle;
};

struct sanitizer_memset_data {
    CUcontext context;
    CUstream stream;
    struct sanitizer_stream *handle;
    uint64_t address;
    uint64_t width; /* elements */
    uint64_t height;
    uint64_t pitch;
    uint32_t element_size;
    uint32_t value;
    uint32_t is_async;
};

struct sanitizer_batch_memop_data {
    CUcontext context;
    CUstream stream;
    struct sanitizer_stream *handle;
    uint64_t address;
    uint64_t value;
    uint32_t type; /* 0: 32 bits, 1: 64 bits */
};

struct sanitizer_uvm_data {
    CUcontext context;
    uint32_t visibility; /* enum sanitizer_visibility */
    CUstream stream;
    struct sanitizer_stream *handle;
    uint64_t address;
};

struct sanitizer_graph_exec_data {
    CUgraph graph;
    CUgraphExec exec;
    uint32_t is_device_launch;
    uint32_t has_device_launches;
    CUcontext device_launches_context;
};

enum sanitizer_node_type {
    SANITIZER_NODE_KERNEL = 0,
    SANITIZER_NODE_MEMCPY = 1,
    SANITIZER_NODE_MEMSET = 2,
    SANITIZER_NODE_HOST = 3,
    SANITIZER_NODE_GRAPH = 4,
    SANITIZER_NODE_EMPTY = 5,
    SANITIZER_NODE_WAIT_EVENT = 6,
    SANITIZER_NODE_EVENT_RECORD = 7,
    SANITIZER_NODE_MEM_ALLOC = 10,
    SANITIZER_NODE_MEM_FREE = 11,
    SANITIZER_NODE_BATCH_MEM_OP = 12,
    SANITIZER_NODE_CONDITIONAL = 13
};

struct sanitizer_graph_node_data {
    CUgraphExec exec;
    uint32_t launch_id;
    CUgraphNode node;
    uint32_t type; /* enum sanitizer_node_type */
    union {
        struct sanitizer_launch_data launch;
        struct sanitizer_memory_data alloc;
        uint64_t free_address;
        struct sanitizer_memcpy_data copy;
        struct sanitizer_memset_data set;
    } data;
    uint32_t is_upload;
};

struct sanitizer_graph_launch_data {
    CUcontext context;
    CUstream stream;
    struct sanitizer_stream *handle;
    CUgraphExec exec;
    uint32_t is_upload;
};

struct sanitizer_event_data {
    CUevent event;
    CUcontext context; /* of the event; of the stream where one is recorded or waited for */
    CUstream stream;   /* record and wait only */
    struct sanitizer_stream *handle;
};

struct sanitizer_external_memory_data {
    CUcontext context;
    CUdevice device;
    CUexternalMemory memory;
    uint64_t address; /* mapped only */
    uint64_t size;
};

/* -- patches ------------------------------------------------------------------------------------*/

/* Kinds of instruction that a device function can be called at. */
enum sanitizer_instruction {
    SANITIZER_AT_BLOCK_ENTER = 1,
    SANITIZER_AT_BLOCK_EXIT = 2,
    SANITIZER_AT_GLOBAL_ACCESS = 3,
    SANITIZER_AT_SHARED_ACCESS = 4,
    SANITIZER_AT_LOCAL_ACCESS = 5,
    SANITIZER_AT_BARRIER = 6,
    SANITIZER_AT_DEVICE_MALLOC = 11,
    SANITIZER_AT_DEVICE_FREE = 12,
    SANITIZER_AT_MEMCPY_ASYNC = 14,
    SANITIZER_AT_DEVICE_ALIGNED_MALLOC = 18,
    SANITIZER_AT_BULK_GLOBAL_TO_SHARED = 30,        /* 12.6 or before */
    SANITIZER_AT_BULK_SHARED_TO_GLOBAL = 35,        /* 12.9 */
    SANITIZER_AT_BULK_REDUCE_SHARED_TO_GLOBAL = 37, /* 12.9 */
    SANITIZER_AT_TENSOR_LOAD = 43,                  /* 13.3 */
    SANITIZER_AT_TENSOR_STORE = 44                  /* 13.3 */
};

/* -- the loaded library -------------------------------------------------------------------------*/

typedef void sanitizer_callback(void *user, uint32_t domain, uint32_t id, const void *data);

/* Function pointers by the names of sanitizer_api.def; OPTIONAL ones may be NULL. Read by any
 * thread after sanitizer_subscribe, changed by none. */
struct sanitizer_api {
    void *library;
    bool has_green_contexts; /* the layout from 13.1 on */
    struct sanitizer_subscriber *subscriber;
#define CALL(need, member, symbol, parameters) uint32_t(*member) parameters;
#include "capture/sanitizer_api.def"
};

/* Opens the library at `path` (absolute; a bare name is looked for by the dynamic linker) and fills
 * `api`. Its names stay local to it, and it stays loaded until the process ends. Returns
 * SSAN_MISSING when it can't be opened or lacks a function that is needed, naming it; `api` is
 * zeroed then. One thread, outside of callbacks. */
enum ssan_status sanitizer_load(const char *path, struct sanitizer_api *api,
                                struct ssan_error *err);

/* Subscribes `callback` and finds out the layout of the library. No callback is enabled by it.
 * Returns SSAN_UNSUPPORTED with a sentence for the user: somebody has subscribed already, or the
 * driver and the library do not fit. One thread. */
enum ssan_status sanitizer_subscribe(struct sanitizer_api *api, sanitizer_callback *callback,
                                     void *user, struct ssan_error *err);

/* What a result code means, in the library's words; never NULL. */
const char *sanitizer_result_text(const struct sanitizer_api *api, uint32_t result);

/* The data of resource callbacks 2-5, 6-8 and of the event domain, whatever the layout. */
struct sanitizer_context_data sanitizer_context_data(const struct sanitizer_api *api,
                                                     const void *data);
struct sanitizer_stream_data sanitizer_stream_data(const struct sanitizer_api *api,
                                                   const void *data);
struct sanitizer_event_data sanitizer_event_data(const struct sanitizer_api *api, const void *data);

#endif
