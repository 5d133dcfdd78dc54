/* Our declarations of the sanitizer API against NVIDIA's headers: layouts when this is compiled,
 * numbers of the API calls and the layout that the library itself tells when it runs.
 *
 * Compiled once for each folder of headers that the build has found; HEADERS names it, LIBRARY the
 * library beside it (empty: none), HAS_GREEN says whether these headers know green contexts. */
#include "capture/cuda_abi.h"
#include "capture/sanitizer_abi.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#define SANITIZER_API_ENTER THEIR_API_ENTER /* two that are spelled as ours */
#define SANITIZER_API_EXIT  THEIR_API_EXIT
#include <sanitizer.h>
#undef SANITIZER_API_ENTER
#undef SANITIZER_API_EXIT
#pragma GCC diagnostic pop

#define NUMBER(ours, theirs) static_assert((int)(ours) == (int)(theirs), #ours)
#define MEMBER(ours, member, theirs, their_member)                                                 \
    static_assert(offsetof(struct ours, member) == offsetof(theirs, their_member) &&               \
                      sizeof(((struct ours *)0)->member) == sizeof(((theirs *)0)->their_member),   \
                  #ours "." #member)
#define NOT_LARGER(ours, theirs) static_assert(sizeof(struct ours) <= sizeof(theirs), #ours)

NUMBER(SANITIZER_OK, SANITIZER_SUCCESS);
NUMBER(SANITIZER_INVALID_PARAMETER, SANITIZER_ERROR_INVALID_PARAMETER);
NUMBER(SANITIZER_INVALID_DEVICE, SANITIZER_ERROR_INVALID_DEVICE);
NUMBER(SANITIZER_INVALID_CONTEXT, SANITIZER_ERROR_INVALID_CONTEXT);
NUMBER(SANITIZER_INVALID_DOMAIN, SANITIZER_ERROR_INVALID_DOMAIN_ID);
NUMBER(SANITIZER_INVALID_CALLBACK, SANITIZER_ERROR_INVALID_CALLBACK_ID);
NUMBER(SANITIZER_INVALID_OPERATION, SANITIZER_ERROR_INVALID_OPERATION);
NUMBER(SANITIZER_OUT_OF_MEMORY, SANITIZER_ERROR_OUT_OF_MEMORY);
NUMBER(SANITIZER_PARAMETER_TOO_SMALL, SANITIZER_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
NUMBER(SANITIZER_NOT_IMPLEMENTED, SANITIZER_ERROR_API_NOT_IMPLEMENTED);
NUMBER(SANITIZER_LIMIT_REACHED, SANITIZER_ERROR_MAX_LIMIT_REACHED);
NUMBER(SANITIZER_NOT_READY, SANITIZER_ERROR_NOT_READY);
NUMBER(SANITIZER_NOT_COMPATIBLE, SANITIZER_ERROR_NOT_COMPATIBLE);
NUMBER(SANITIZER_NOT_INITIALIZED, SANITIZER_ERROR_NOT_INITIALIZED);
NUMBER(SANITIZER_NOT_SUPPORTED, SANITIZER_ERROR_NOT_SUPPORTED);
NUMBER(SANITIZER_NOT_DEVICE_MEMORY, SANITIZER_ERROR_ADDRESS_NOT_IN_DEVICE_MEMORY);
NUMBER(SANITIZER_UNKNOWN, SANITIZER_ERROR_UNKNOWN);

NUMBER(SANITIZER_DRIVER_API, SANITIZER_CB_DOMAIN_DRIVER_API);
NUMBER(SANITIZER_RUNTIME_API, SANITIZER_CB_DOMAIN_RUNTIME_API);
NUMBER(SANITIZER_RESOURCE, SANITIZER_CB_DOMAIN_RESOURCE);
NUMBER(SANITIZER_SYNCHRONIZE, SANITIZER_CB_DOMAIN_SYNCHRONIZE);
NUMBER(SANITIZER_LAUNCH, SANITIZER_CB_DOMAIN_LAUNCH);
NUMBER(SANITIZER_MEMCPY, SANITIZER_CB_DOMAIN_MEMCPY);
NUMBER(SANITIZER_MEMSET, SANITIZER_CB_DOMAIN_MEMSET);
NUMBER(SANITIZER_BATCH_MEMOP, SANITIZER_CB_DOMAIN_BATCH_MEMOP);
NUMBER(SANITIZER_UVM, SANITIZER_CB_DOMAIN_UVM);
NUMBER(SANITIZER_GRAPHS, SANITIZER_CB_DOMAIN_GRAPHS);
NUMBER(SANITIZER_EVENTS, SANITIZER_CB_DOMAIN_EVENTS);
NUMBER(SANITIZER_EXTERNAL_MEMORY, SANITIZER_CB_DOMAIN_EXTERNAL_MEMORY);

NUMBER(SANITIZER_INIT_FINISHED, SANITIZER_CBID_RESOURCE_INIT_FINISHED);
NUMBER(SANITIZER_CONTEXT_CREATION_STARTING, SANITIZER_CBID_RESOURCE_CONTEXT_CREATION_STARTING);
NUMBER(SANITIZER_CONTEXT_CREATION_FINISHED, SANITIZER_CBID_RESOURCE_CONTEXT_CREATION_FINISHED);
NUMBER(SANITIZER_CONTEXT_DESTROY_STARTING, SANITIZER_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
NUMBER(SANITIZER_CONTEXT_DESTROY_FINISHED, SANITIZER_CBID_RESOURCE_CONTEXT_DESTROY_FINISHED);
NUMBER(SANITIZER_STREAM_CREATED, SANITIZER_CBID_RESOURCE_STREAM_CREATED);
NUMBER(SANITIZER_STREAM_DESTROY_STARTING, SANITIZER_CBID_RESOURCE_STREAM_DESTROY_STARTING);
NUMBER(SANITIZER_STREAM_DESTROY_FINISHED, SANITIZER_CBID_RESOURCE_STREAM_DESTROY_FINISHED);
NUMBER(SANITIZER_MODULE_LOADED, SANITIZER_CBID_RESOURCE_MODULE_LOADED);
NUMBER(SANITIZER_MODULE_UNLOAD_STARTING, SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
NUMBER(SANITIZER_DEVICE_MEMORY_ALLOC, SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_ALLOC);
NUMBER(SANITIZER_DEVICE_MEMORY_FREE, SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_FREE);
NUMBER(SANITIZER_HOST_MEMORY_ALLOC, SANITIZER_CBID_RESOURCE_HOST_MEMORY_ALLOC);
NUMBER(SANITIZER_HOST_MEMORY_FREE, SANITIZER_CBID_RESOURCE_HOST_MEMORY_FREE);
NUMBER(SANITIZER_MEMORY_ALLOC_ASYNC, SANITIZER_CBID_RESOURCE_MEMORY_ALLOC_ASYNC);
NUMBER(SANITIZER_MEMORY_FREE_ASYNC, SANITIZER_CBID_RESOURCE_MEMORY_FREE_ASYNC);
NUMBER(SANITIZER_MEMORY_FREE_ASYNC_DONE, SANITIZER_CBID_RESOURCE_MEMORY_FREE_ASYNC_DONE);
NUMBER(SANITIZER_MEMPOOL_CREATED, SANITIZER_CBID_RESOURCE_MEMPOOL_CREATED);
NUMBER(SANITIZER_MEMPOOL_DESTROYING, SANITIZER_CBID_RESOURCE_MEMPOOL_DESTROYING);
NUMBER(SANITIZER_MEMPOOL_PEER_ACCESS_ENABLED, SANITIZER_CBID_RESOURCE_MEMPOOL_PEER_ACCESS_ENABLED);
NUMBER(SANITIZER_MEMPOOL_PEER_ACCESS_DISABLING,
       SANITIZER_CBID_RESOURCE_MEMPOOL_PEER_ACCESS_DISABLING);
NUMBER(SANITIZER_ARRAY_CREATED, SANITIZER_CBID_RESOURCE_ARRAY_CREATED);
NUMBER(SANITIZER_ARRAY_DESTROYED, SANITIZER_CBID_RESOURCE_ARRAY_DESTROYED);
NUMBER(SANITIZER_FUNCTIONS_LAZY_LOADED, SANITIZER_CBID_RESOURCE_FUNCTIONS_LAZY_LOADED);
NUMBER(SANITIZER_FUNCTIONS_LAZY_PATCHED, SANITIZER_CBID_RESOURCE_FUNCTIONS_LAZY_PATCHED);
NUMBER(SANITIZER_VIRTUAL_RESERVE, SANITIZER_CBID_RESOURCE_VIRTUAL_RESERVE);
NUMBER(SANITIZER_VIRTUAL_RELEASE, SANITIZER_CBID_RESOURCE_VIRTUAL_RELEASE);
NUMBER(SANITIZER_MEMPOOL_IMPORT_POINTER, SANITIZER_CBID_RESOURCE_MEMPOOL_IMPORT_POINTER);

NUMBER(SANITIZER_STREAM_SYNCHRONIZED, SANITIZER_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED);
NUMBER(SANITIZER_CONTEXT_SYNCHRONIZED, SANITIZER_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED);
NUMBER(SANITIZER_LAUNCH_BEGIN, SANITIZER_CBID_LAUNCH_BEGIN);
NUMBER(SANITIZER_LAUNCH_AFTER_SYSCALL_SETUP, SANITIZER_CBID_LAUNCH_AFTER_SYSCALL_SETUP);
NUMBER(SANITIZER_LAUNCH_END, SANITIZER_CBID_LAUNCH_END);
NUMBER(SANITIZER_MEMCPY_STARTING, SANITIZER_CBID_MEMCPY_STARTING);
NUMBER(SANITIZER_MEMSET_STARTING, SANITIZER_CBID_MEMSET_STARTING);
NUMBER(SANITIZER_BATCH_MEMOP_WRITE, SANITIZER_CBID_BATCH_MEMOP_WRITE);
NUMBER(SANITIZER_UVM_ATTACH, SANITIZER_CBID_UVM_ATTACH_MEM);
NUMBER(SANITIZER_GRAPH_EXEC_CREATING, SANITIZER_CBID_GRAPHS_GRAPHEXEC_CREATING);
NUMBER(SANITIZER_GRAPH_EXEC_CREATED, SANITIZER_CBID_GRAPHS_GRAPHEXEC_CREATED);
NUMBER(SANITIZER_GRAPH_EXEC_DESTROYING, SANITIZER_CBID_GRAPHS_GRAPHEXEC_DESTROYING);
NUMBER(SANITIZER_GRAPH_NODE_LAUNCH_BEGIN, SANITIZER_CBID_GRAPHS_NODE_LAUNCH_BEGIN);
NUMBER(SANITIZER_GRAPH_NODE_LAUNCH_END, SANITIZER_CBID_GRAPHS_NODE_LAUNCH_END);
NUMBER(SANITIZER_GRAPH_LAUNCH_BEGIN, SANITIZER_CBID_GRAPHS_LAUNCH_BEGIN);
NUMBER(SANITIZER_GRAPH_LAUNCH_END, SANITIZER_CBID_GRAPHS_LAUNCH_END);
NUMBER(SANITIZER_EVENT_CREATED, SANITIZER_CBID_EVENTS_CREATED);
NUMBER(SANITIZER_EVENT_DESTROYED, SANITIZER_CBID_EVENTS_DESTROYED);
NUMBER(SANITIZER_EVENT_RECORD, SANITIZER_CBID_EVENTS_RECORD);
NUMBER(SANITIZER_EVENT_STREAM_WAIT, SANITIZER_CBID_EVENTS_STREAM_WAIT);
NUMBER(SANITIZER_EVENT_SYNCHRONIZE, SANITIZER_CBID_EVENTS_SYNCHRONIZE);
NUMBER(SANITIZER_EXTERNAL_IMPORT, SANITIZER_CBID_EXTERNAL_MEMORY_IMPORT);
NUMBER(SANITIZER_EXTERNAL_MAPPED, SANITIZER_CBID_EXTERNAL_MEMORY_MAPPED);
NUMBER(SANITIZER_EXTERNAL_DESTROYED, SANITIZER_CBID_EXTERNAL_MEMORY_DESTROYED);

#if HAS_GREEN
NUMBER(SANITIZER_GREEN_CONTEXT_CREATION_FINISHED,
       SANITIZER_CBID_RESOURCE_GREEN_CONTEXT_CREATION_FINISHED);
NUMBER(SANITIZER_GREEN_CONTEXT_SYNCHRONIZED, SANITIZER_CBID_SYNCHRONIZE_GREEN_CONTEXT_SYNCHRONIZED);
NUMBER(SANITIZER_BATCH_MEMOP_WAIT_BEGIN, SANITIZER_CBID_BATCH_MEMOP_WAIT_BEGIN);
NUMBER(SANITIZER_BATCH_MEMOP_ATOMIC_REDUCTION, SANITIZER_CBID_BATCH_MEMOP_ATOMIC_REDUCTION);
NUMBER(SANITIZER_EVENT_CONTEXT_RECORD, SANITIZER_CBID_CTX_RECORD_EVENT);
NUMBER(SANITIZER_EVENT_GREEN_CONTEXT_RECORD, SANITIZER_CBID_GREEN_CTX_RECORD_EVENT);
NUMBER(SANITIZER_EVENT_CONTEXT_WAIT, SANITIZER_CBID_CTX_WAIT_EVENT);
NUMBER(SANITIZER_EVENT_GREEN_CONTEXT_WAIT, SANITIZER_CBID_GREEN_CTX_WAIT_EVENT);
NUMBER(SANITIZER_EVENT_CONTEXT_SYNCHRONIZE, SANITIZER_CBID_CTX_EVENT_SYNCHRONIZE);
#else
NUMBER(SANITIZER_GREEN_CONTEXT_CREATION_FINISHED, SANITIZER_CBID_RESOURCE_SIZE);
#endif

NUMBER(SANITIZER_API_ENTER, THEIR_API_ENTER);
NUMBER(SANITIZER_API_EXIT, THEIR_API_EXIT);
MEMBER(sanitizer_api_data, site, Sanitizer_CallbackData, callbackSite);
MEMBER(sanitizer_api_data, function, Sanitizer_CallbackData, functionName);
MEMBER(sanitizer_api_data, params, Sanitizer_CallbackData, functionParams);
MEMBER(sanitizer_api_data, result, Sanitizer_CallbackData, functionReturnValue);
MEMBER(sanitizer_api_data, symbol, Sanitizer_CallbackData, symbolName);
MEMBER(sanitizer_api_data, context, Sanitizer_CallbackData, context);

MEMBER(sanitizer_module_data, context, Sanitizer_ResourceModuleData, context);
MEMBER(sanitizer_module_data, module, Sanitizer_ResourceModuleData, module);
MEMBER(sanitizer_module_data, cubin_size, Sanitizer_ResourceModuleData, cubinSize);
MEMBER(sanitizer_module_data, cubin, Sanitizer_ResourceModuleData, pCubin);
MEMBER(sanitizer_module_data, library, Sanitizer_ResourceModuleData, library);

NUMBER(SANITIZER_MEMORY_MODULE, SANITIZER_MEMORY_FLAG_MODULE);
NUMBER(SANITIZER_MEMORY_MANAGED, SANITIZER_MEMORY_FLAG_MANAGED);
NUMBER(SANITIZER_MEMORY_HOST_MAPPED, SANITIZER_MEMORY_FLAG_HOST_MAPPED);
NUMBER(SANITIZER_MEMORY_HOST_PINNED, SANITIZER_MEMORY_FLAG_HOST_PINNED);
NUMBER(SANITIZER_MEMORY_PEER, SANITIZER_MEMORY_FLAG_PEER);
NUMBER(SANITIZER_MEMORY_PEER_ATOMIC, SANITIZER_MEMORY_FLAG_PEER_ATOMIC);
NUMBER(SANITIZER_MEMORY_CG_RUNTIME, SANITIZER_MEMORY_FLAG_CG_RUNTIME);
NUMBER(SANITIZER_MEMORY_CNP, SANITIZER_MEMORY_FLAG_CNP);
NUMBER(SANITIZER_VISIBLE_GLOBAL, SANITIZER_MEMORY_VISIBILITY_GLOBAL);
NUMBER(SANITIZER_VISIBLE_HOST, SANITIZER_MEMORY_VISIBILITY_HOST);
NUMBER(SANITIZER_VISIBLE_STREAM, SANITIZER_MEMORY_VISIBILITY_STREAM);
MEMBER(sanitizer_memory_data, address, Sanitizer_ResourceMemoryData, address);
MEMBER(sanitizer_memory_data, size, Sanitizer_ResourceMemoryData, size);
MEMBER(sanitizer_memory_data, context, Sanitizer_ResourceMemoryData, context);
MEMBER(sanitizer_memory_data, device, Sanitizer_ResourceMemoryData, device);
MEMBER(sanitizer_memory_data, stream, Sanitizer_ResourceMemoryData, stream);
MEMBER(sanitizer_memory_data, handle, Sanitizer_ResourceMemoryData, hStream);
MEMBER(sanitizer_memory_data, pool, Sanitizer_ResourceMemoryData, memoryPool);
MEMBER(sanitizer_memory_data, flags, Sanitizer_ResourceMemoryData, flags);
MEMBER(sanitizer_memory_data, permissions, Sanitizer_ResourceMemoryData, permissions);
MEMBER(sanitizer_memory_data, visibility, Sanitizer_ResourceMemoryData, visibility);
MEMBER(sanitizer_memory_data, source_device, Sanitizer_ResourceMemoryData, sourceDevice);

MEMBER(sanitizer_mempool_data, pool, Sanitizer_ResourceMempoolData, memoryPool);
MEMBER(sanitizer_mempool_data, device, Sanitizer_ResourceMempoolData, device);
MEMBER(sanitizer_mempool_data, peer_device, Sanitizer_ResourceMempoolData, peerDevice);
MEMBER(sanitizer_array_data, context, Sanitizer_ResourceArrayData, context);
MEMBER(sanitizer_array_data, array, Sanitizer_ResourceArrayData, hArray);
MEMBER(sanitizer_array_data, width, Sanitizer_ResourceArrayData, width);
MEMBER(sanitizer_array_data, height, Sanitizer_ResourceArrayData, height);
MEMBER(sanitizer_array_data, depth, Sanitizer_ResourceArrayData, depth);
MEMBER(sanitizer_functions_data, context, Sanitizer_ResourceFunctionsLazyLoadedData, context);
MEMBER(sanitizer_functions_data, module, Sanitizer_ResourceFunctionsLazyLoadedData, module);
MEMBER(sanitizer_functions_data, functions, Sanitizer_ResourceFunctionsLazyLoadedData, functions);
MEMBER(sanitizer_functions_data, count, Sanitizer_ResourceFunctionsLazyLoadedData, numFunctions);
MEMBER(sanitizer_range_data, address, Sanitizer_ResourceVirtualRange, address);
MEMBER(sanitizer_range_data, size, Sanitizer_ResourceVirtualRange, size);

MEMBER(sanitizer_synchronize_data, context, Sanitizer_SynchronizeData, context);
MEMBER(sanitizer_synchronize_data, stream, Sanitizer_SynchronizeData, stream);
MEMBER(sanitizer_synchronize_data, handle, Sanitizer_SynchronizeData, hStream);

MEMBER(sanitizer_launch_data, context, Sanitizer_LaunchData, context);
MEMBER(sanitizer_launch_data, stream, Sanitizer_LaunchData, stream);
MEMBER(sanitizer_launch_data, handle, Sanitizer_LaunchData, hStream);
MEMBER(sanitizer_launch_data, module, Sanitizer_LaunchData, module);
MEMBER(sanitizer_launch_data, function, Sanitizer_LaunchData, function);
MEMBER(sanitizer_launch_data, name, Sanitizer_LaunchData, functionName);
MEMBER(sanitizer_launch_data, grid_x, Sanitizer_LaunchData, gridDim_x);
MEMBER(sanitizer_launch_data, grid_y, Sanitizer_LaunchData, gridDim_y);
MEMBER(sanitizer_launch_data, grid_z, Sanitizer_LaunchData, gridDim_z);
MEMBER(sanitizer_launch_data, block_x, Sanitizer_LaunchData, blockDim_x);
MEMBER(sanitizer_launch_data, block_y, Sanitizer_LaunchData, blockDim_y);
MEMBER(sanitizer_launch_data, block_z, Sanitizer_LaunchData, blockDim_z);
MEMBER(sanitizer_launch_data, cluster_x, Sanitizer_LaunchData, clusterDim_x);
MEMBER(sanitizer_launch_data, cluster_y, Sanitizer_LaunchData, clusterDim_y);
MEMBER(sanitizer_launch_data, cluster_z, Sanitizer_LaunchData, clusterDim_z);
MEMBER(sanitizer_launch_data, grid_id, Sanitizer_LaunchData, gridId);
MEMBER(sanitizer_launch_data, launch, Sanitizer_LaunchData, hLaunch);
MEMBER(sanitizer_launch_data, device, Sanitizer_LaunchData, device);
MEMBER(sanitizer_launch_data, api_context, Sanitizer_LaunchData, apiContext);
MEMBER(sanitizer_launch_data, api_stream, Sanitizer_LaunchData, apiStream);
MEMBER(sanitizer_launch_data, api_handle, Sanitizer_LaunchData, hApiStream);

NUMBER(SANITIZER_HOST_TO_HOST, SANITIZER_MEMCPY_DIRECTION_HOST_TO_HOST);
NUMBER(SANITIZER_HOST_TO_DEVICE, SANITIZER_MEMCPY_DIRECTION_HOST_TO_DEVICE);
NUMBER(SANITIZER_DEVICE_TO_HOST, SANITIZER_MEMCPY_DIRECTION_DEVICE_TO_HOST);
NUMBER(SANITIZER_DEVICE_TO_DEVICE, SANITIZER_MEMCPY_DIRECTION_DEVICE_TO_DEVICE);
MEMBER(sanitizer_memcpy_data, source_context, Sanitizer_MemcpyData, srcContext);
MEMBER(sanitizer_memcpy_data, destination_context, Sanitizer_MemcpyData, dstContext);
MEMBER(sanitizer_memcpy_data, source_stream, Sanitizer_MemcpyData, srcStream);
MEMBER(sanitizer_memcpy_data, source_handle, Sanitizer_MemcpyData, hSrcStream);
MEMBER(sanitizer_memcpy_data, destination_stream, Sanitizer_MemcpyData, dstStream);
MEMBER(sanitizer_memcpy_data, destination_handle, Sanitizer_MemcpyData, hDstStream);
MEMBER(sanitizer_memcpy_data, source, Sanitizer_MemcpyData, srcAddress);
MEMBER(sanitizer_memcpy_data, destination, Sanitizer_MemcpyData, dstAddress);
MEMBER(sanitizer_memcpy_data, size, Sanitizer_MemcpyData, size);
MEMBER(sanitizer_memcpy_data, width, Sanitizer_MemcpyData, width);
MEMBER(sanitizer_memcpy_data, height, Sanitizer_MemcpyData, height);
MEMBER(sanitizer_memcpy_data, depth, Sanitizer_MemcpyData, depth);
MEMBER(sanitizer_memcpy_data, source_pitch, Sanitizer_MemcpyData, srcPitch);
MEMBER(sanitizer_memcpy_data, destination_pitch, Sanitizer_MemcpyData, dstPitch);
MEMBER(sanitizer_memcpy_data, is_async, Sanitizer_MemcpyData, isAsync);
MEMBER(sanitizer_memcpy_data, direction, Sanitizer_MemcpyData, direction);
MEMBER(sanitizer_memcpy_data, api_context, Sanitizer_MemcpyData, apiContext);
MEMBER(sanitizer_memcpy_data, api_stream, Sanitizer_MemcpyData, apiStream);
MEMBER(sanitizer_memcpy_data, api_handle, Sanitizer_MemcpyData, hApiStream);

MEMBER(sanitizer_memset_data, context, Sanitizer_MemsetData, context);
MEMBER(sanitizer_memset_data, stream, Sanitizer_MemsetData, stream);
MEMBER(sanitizer_memset_data, handle, Sanitizer_MemsetData, hStream);
MEMBER(sanitizer_memset_data, address, Sanitizer_MemsetData, address);
MEMBER(sanitizer_memset_data, width, Sanitizer_MemsetData, width);
MEMBER(sanitizer_memset_data, height, Sanitizer_MemsetData, height);
MEMBER(sanitizer_memset_data, pitch, Sanitizer_MemsetData, pitch);
MEMBER(sanitizer_memset_data, element_size, Sanitizer_MemsetData, elementSize);
MEMBER(sanitizer_memset_data, value, Sanitizer_MemsetData, value);
MEMBER(sanitizer_memset_data, is_async, Sanitizer_MemsetData, isAsync);

MEMBER(sanitizer_batch_memop_data, context, Sanitizer_BatchMemopData, context);
MEMBER(sanitizer_batch_memop_data, stream, Sanitizer_BatchMemopData, stream);
MEMBER(sanitizer_batch_memop_data, handle, Sanitizer_BatchMemopData, hStream);
MEMBER(sanitizer_batch_memop_data, address, Sanitizer_BatchMemopData, address);
MEMBER(sanitizer_batch_memop_data, value, Sanitizer_BatchMemopData, value);
MEMBER(sanitizer_batch_memop_data, type, Sanitizer_BatchMemopData, type);

MEMBER(sanitizer_uvm_data, context, Sanitizer_UvmData, context);
MEMBER(sanitizer_uvm_data, visibility, Sanitizer_UvmData, visibility);
MEMBER(sanitizer_uvm_data, stream, Sanitizer_UvmData, stream);
MEMBER(sanitizer_uvm_data, handle, Sanitizer_UvmData, hStream);
MEMBER(sanitizer_uvm_data, address, Sanitizer_UvmData, address);

MEMBER(sanitizer_graph_exec_data, graph, Sanitizer_GraphExecData, graph);
MEMBER(sanitizer_graph_exec_data, exec, Sanitizer_GraphExecData, graphExec);
MEMBER(sanitizer_graph_exec_data, is_device_launch, Sanitizer_GraphExecData, isDeviceLaunch);
MEMBER(sanitizer_graph_exec_data, has_device_launches, Sanitizer_GraphExecData,
       containsDeviceGraphLaunches);
MEMBER(sanitizer_graph_exec_data, device_launches_context, Sanitizer_GraphExecData,
       deviceGraphLaunchesContext);
MEMBER(sanitizer_graph_node_data, exec, Sanitizer_GraphNodeLaunchData, graphExec);
MEMBER(sanitizer_graph_node_data, launch_id, Sanitizer_GraphNodeLaunchData, launchId);
MEMBER(sanitizer_graph_node_data, node, Sanitizer_GraphNodeLaunchData, node);
MEMBER(sanitizer_graph_node_data, type, Sanitizer_GraphNodeLaunchData, nodeType);
static_assert(offsetof(struct sanitizer_graph_node_data, data) ==
                  offsetof(Sanitizer_GraphNodeLaunchData, launchData),
              "union");
MEMBER(sanitizer_graph_node_data, is_upload, Sanitizer_GraphNodeLaunchData, isGraphUpload);
MEMBER(sanitizer_graph_launch_data, context, Sanitizer_GraphLaunchData, context);
MEMBER(sanitizer_graph_launch_data, stream, Sanitizer_GraphLaunchData, stream);
MEMBER(sanitizer_graph_launch_data, handle, Sanitizer_GraphLaunchData, hStream);
MEMBER(sanitizer_graph_launch_data, exec, Sanitizer_GraphLaunchData, graphExec);
MEMBER(sanitizer_graph_launch_data, is_upload, Sanitizer_GraphLaunchData, isGraphUpload);
NUMBER(SANITIZER_NODE_KERNEL, CU_GRAPH_NODE_TYPE_KERNEL);
NUMBER(SANITIZER_NODE_MEMCPY, CU_GRAPH_NODE_TYPE_MEMCPY);
NUMBER(SANITIZER_NODE_MEMSET, CU_GRAPH_NODE_TYPE_MEMSET);
NUMBER(SANITIZER_NODE_HOST, CU_GRAPH_NODE_TYPE_HOST);
NUMBER(SANITIZER_NODE_GRAPH, CU_GRAPH_NODE_TYPE_GRAPH);
NUMBER(SANITIZER_NODE_EMPTY, CU_GRAPH_NODE_TYPE_EMPTY);
NUMBER(SANITIZER_NODE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
NUMBER(SANITIZER_NODE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
NUMBER(SANITIZER_NODE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
NUMBER(SANITIZER_NODE_MEM_FREE, CU_GRAPH_NODE_TYPE_MEM_FREE);
NUMBER(SANITIZER_NODE_BATCH_MEM_OP, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
NUMBER(SANITIZER_NODE_CONDITIONAL, CU_GRAPH_NODE_TYPE_CONDITIONAL);

MEMBER(sanitizer_external_memory_data, context, Sanitizer_ExternalMemoryData, context);
MEMBER(sanitizer_external_memory_data, device, Sanitizer_ExternalMemoryData, device);
MEMBER(sanitizer_external_memory_data, memory, Sanitizer_ExternalMemoryData, extMemory);
MEMBER(sanitizer_external_memory_data, address, Sanitizer_ExternalMemoryData, address);
MEMBER(sanitizer_external_memory_data, size, Sanitizer_ExternalMemoryData, size);

NUMBER(SANITIZER_AT_BLOCK_ENTER, SANITIZER_INSTRUCTION_BLOCK_ENTER);
NUMBER(SANITIZER_AT_BLOCK_EXIT, SANITIZER_INSTRUCTION_BLOCK_EXIT);
NUMBER(SANITIZER_AT_GLOBAL_ACCESS, SANITIZER_INSTRUCTION_GLOBAL_MEMORY_ACCESS);
NUMBER(SANITIZER_AT_SHARED_ACCESS, SANITIZER_INSTRUCTION_SHARED_MEMORY_ACCESS);
NUMBER(SANITIZER_AT_LOCAL_ACCESS, SANITIZER_INSTRUCTION_LOCAL_MEMORY_ACCESS);
NUMBER(SANITIZER_AT_BARRIER, SANITIZER_INSTRUCTION_BARRIER);
NUMBER(SANITIZER_AT_DEVICE_MALLOC, SANITIZER_INSTRUCTION_DEVICE_SIDE_MALLOC);
NUMBER(SANITIZER_AT_DEVICE_FREE, SANITIZER_INSTRUCTION_DEVICE_SIDE_FREE);
NUMBER(SANITIZER_AT_MEMCPY_ASYNC, SANITIZER_INSTRUCTION_MEMCPY_ASYNC);
NUMBER(SANITIZER_AT_DEVICE_ALIGNED_MALLOC, SANITIZER_INSTRUCTION_DEVICE_ALIGNED_MALLOC);

/* The three that are read through accessors: as this version of the API writes them. */
static void reads_this_layout(void **state)
{
    struct sanitizer_api api = {.has_green_contexts = HAS_GREEN};
    Sanitizer_ResourceContextData context;
    Sanitizer_ResourceStreamData stream;
    Sanitizer_EventData event;
    memset(&context, 0xee, sizeof(context));
    memset(&stream, 0xee, sizeof(stream));
    memset(&event, 0xee, sizeof(event));
    context.context = stream.context = event.context = (CUcontext)(uintptr_t)0x100;
    stream.stream = event.stream = (CUstream)(uintptr_t)0x200;
    stream.hStream = event.hStream = (Sanitizer_StreamHandle)(uintptr_t)0x300;
    event.event = (CUevent)(uintptr_t)0x400;
    context.device = 5;

    struct sanitizer_context_data c = sanitizer_context_data(&api, &context);
    assert_ptr_equal(c.context, context.context);
    assert_int_equal(c.device, 5);
    struct sanitizer_stream_data s = sanitizer_stream_data(&api, &stream);
    assert_ptr_equal(s.context, stream.context);
    assert_ptr_equal(s.stream, stream.stream);
    assert_ptr_equal(s.handle, stream.hStream);
    struct sanitizer_event_data e = sanitizer_event_data(&api, &event);
    assert_ptr_equal(e.event, event.event);
    assert_ptr_equal(e.context, event.context);
    assert_ptr_equal(e.stream, event.stream);
    assert_ptr_equal(e.handle, event.hStream);
}

static void ignore(void *user, uint32_t domain, uint32_t id, const void *data)
{
}

/* The library beside the headers tells the layout that they have. */
static void library_tells_its_layout(void **state)
{
    if (LIBRARY[0] == '\0') {
        skip();
    }
    struct sanitizer_api api;
    struct ssan_error err = {0};
    if (sanitizer_load(LIBRARY, &api, &err) || sanitizer_subscribe(&api, ignore, NULL, &err)) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(api.has_green_contexts, HAS_GREEN);
    struct sanitizer_api second = api;
    assert_int_equal(sanitizer_subscribe(&second, ignore, NULL, &err), SSAN_UNSUPPORTED);
    assert_non_null(strstr(err.text, "already"));
    assert_string_not_equal(sanitizer_result_text(&api, SANITIZER_OK), "unknown error");
    assert_int_equal(api.unsubscribe(api.subscriber), SANITIZER_OK);
}

struct call {
    const char *domain;
    uint32_t number;
    const char *name;
};

static const struct call calls[] = {
#define API_CALL(domain, number, name, class, form, null) {#domain, number, #name},
#include "capture/api_calls.def"
};

/* Length of a header's name of a call without what only tells its version. */
static size_t plain_length(const char *name)
{
    size_t length = strlen(name);
    if (length > 5 &&
        (!strcmp(name + length - 5, "_ptsz") || !strcmp(name + length - 5, "_ptds"))) {
        length -= 5;
    }
    if (length > 3 && name[length - 3] == '_' && name[length - 2] == 'v') {
        length -= 3;
    }
    return length;
}

/* Compares the rows of one domain with the header's enumerators; returns how many it has of them.
 */
static size_t compare_calls(const char *domain, const char *file)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", HEADERS, file);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    char line[512];
    char prefix[64];
    snprintf(prefix, sizeof(prefix), "SANITIZER_CBID_%s_API_", domain);
    size_t seen = 0;
    while (fgets(line, sizeof(line), in)) {
        char full[128];
        unsigned int number;
        const char *at = strstr(line, prefix);
        if (!at || sscanf(at + strlen(prefix), "%127s = %u", full, &number) != 2 ||
            !strcmp(full, "SIZE")) {
            continue;
        }
        const char *name = full + strspn(full, "_");
        for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
            if (calls[i].number == number && !strcmp(calls[i].domain, domain)) {
                assert_int_equal(plain_length(name), strlen(calls[i].name));
                assert_memory_equal(name, calls[i].name, plain_length(name));
                seen++;
            }
        }
    }
    fclose(in);
    return seen;
}

static void numbers_of_calls(void **state)
{
    assert_in_range(compare_calls("RUNTIME", "sanitizer_runtime_cbid.h"), 150, 1000);
    assert_in_range(compare_calls("DRIVER", "sanitizer_driver_cbid.h"), 200, 1000);
}

/* Instructions that came after 12.4, where this version has them. */
static void numbers_of_instructions(void **state)
{
    static const struct {
        const char *name;
        unsigned int number;
    } later[] = {
        {"SANITIZER_INSTRUCTION_BULK_COPY_GLOBAL_TO_SHARED", SANITIZER_AT_BULK_GLOBAL_TO_SHARED},
        {"SANITIZER_INSTRUCTION_BULK_COPY_SHARED_TO_GLOBAL", SANITIZER_AT_BULK_SHARED_TO_GLOBAL},
        {"SANITIZER_INSTRUCTION_BULK_REDUCTION_SHARED_TO_GLOBAL",
         SANITIZER_AT_BULK_REDUCE_SHARED_TO_GLOBAL},
        {"SANITIZER_INSTRUCTION_TMA_LOAD", SANITIZER_AT_TENSOR_LOAD},
        {"SANITIZER_INSTRUCTION_TMA_STORE", SANITIZER_AT_TENSOR_STORE},
    };
    FILE *in = fopen(HEADERS "/sanitizer_patching.h", "r");
    char line[512], name[128];
    unsigned int number, lines = 0;
    assert_non_null(in);
    while (fgets(line, sizeof(line), in)) {
        if (sscanf(line, " %127[A-Z0-9_] = %u", name, &number) != 2) {
            continue;
        }
        lines++;
        for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
            if (!strcmp(name, later[i].name)) {
                assert_int_equal(number, later[i].number);
            }
        }
    }
    fclose(in);
    assert_in_range(lines, 30, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_this_layout),
        cmocka_unit_test(library_tells_its_layout),
        cmocka_unit_test(numbers_of_calls),
        cmocka_unit_test(numbers_of_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
