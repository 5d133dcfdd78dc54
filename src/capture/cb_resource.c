/* Lives of contexts, modules, streams and memory. */
#include "capture/dispatch.h"

#include "capture/emit.h"
#include "capture/gate.h"
#include "capture/memory.h"
#include "capture/observe.h"
#include "capture/variables.h"

#include "base/demangle.h"

#include <stdatomic.h>
#include <string.h>

/* Ends the block that begins at `address`, with its free. */
static void end_block(const struct thread *thread, uint64_t address, struct caller caller)
{
    struct ssan_event event = {.kind = SSAN_EV_free};
    struct memory_block block;
    emit_lock();
    if (memory_remove(address, &block) && !block.is_pooled) {
        event.free = (struct ssan_ev_free){block.alloc, ssan_str(calls_name(thread)), caller.thread,
                                           caller.site};
        emit_put(&event);
    }
    emit_unlock();
}

/* Ends the blocks that go with their owner, of which the driver tells no free: with a context what
 * lives in it, but for memory of pools (R-IMPL-3); with a module its variables. One of the two is
 * NULL. */
static void end_blocks(CUcontext context, CUmodule module)
{
    struct thread *thread = calls_thread();
    struct caller caller = calls_caller(thread);
    struct memory_block block;
    uint32_t ended;
    emit_lock();
    ended = handles_find_context(context);
    emit_unlock();
    for (uint64_t at = 0; memory_next(at, &block); at = block.address + block.size) {
        if (module ? block.module == module : block.context == ended && !block.is_pooled) {
            end_block(thread, block.address, caller);
        }
    }
}

static atomic_bool lacks_legacy; /* some context did, when it began */

/* Asks for the legacy default stream of a context. Not under our lock: it may call back. */
static void find_legacy(CUcontext context)
{
    struct sanitizer_stream *legacy = NULL;
    if (capture_api.get_stream_handle(context, CUDA_STREAM_LEGACY, &legacy) != SANITIZER_OK) {
        legacy = NULL;
        atomic_store(&lacks_legacy, true);
    }
    emit_lock();
    handles_add_context(context, legacy);
    emit_unlock();
}

void resource_context(CUcontext context)
{
    bool lacks;
    if (!atomic_load_explicit(&lacks_legacy, memory_order_relaxed) || !context) {
        return;
    }
    emit_lock();
    lacks = handles_lacks_legacy(context);
    emit_unlock();
    if (lacks) {
        find_legacy(context);
    }
}

static void on_context(uint32_t id, CUcontext context, CUdevice device)
{
    struct thread *thread = calls_thread();
    if (id == SANITIZER_CONTEXT_CREATION_STARTING) {
        thread->makes_context = true;
    } else if (id == SANITIZER_CONTEXT_CREATION_FINISHED) {
        thread->makes_context = false;
        find_legacy(context);
        emit_lock();
        handles_tell_device(context, device);
        emit_unlock();
        observe_context(context);
    } else if (id == SANITIZER_CONTEXT_DESTROY_STARTING) {
        observe_context_end(context);
        gate_context_end(context);
    } else if (id == SANITIZER_CONTEXT_DESTROY_FINISHED) {
        end_blocks(context, NULL);
        thread->context = thread->context == context ? NULL : thread->context;
        emit_lock();
        handles_remove_context(context);
        emit_unlock();
    }
}

/* The flags that a stream is being made with, by a call that the thread is in. */
static bool creation_flags(const struct thread *thread, unsigned *flags)
{
    const struct call_frame *frame = calls_inside(thread, API_STREAM_CREATE);
    *flags = 0;
    if (frame && strcmp(frame->call->name, "cuGreenCtxStreamCreate") == 0) {
        *flags = CUDA_STREAM_NON_BLOCKING; /* R-STREAM-17 */
    } else if (frame && frame->call->domain == SANITIZER_DRIVER_API) {
        *flags = ((const struct cuda_stream_create_params *)frame->params)->flags;
    }
    return frame != NULL;
}

static void on_stream(uint32_t id, const struct sanitizer_stream_data *data)
{
    struct thread *thread = calls_thread();
    unsigned flags;
    bool by_program = creation_flags(thread, &flags) && data->stream;
    bool is_internal =
        !by_program && (thread->makes_context || calls_inside(thread, API_GRAPH) != NULL);
    struct caller caller = {.thread = thread->id};
    if (id == SANITIZER_STREAM_DESTROY_FINISHED) {
        return;
    }
    if (thread->depth > 0) {
        caller = calls_caller(thread);
    }
    if (id == SANITIZER_STREAM_DESTROY_STARTING) {
        observe_stream_end(data->context, data->handle);
    }
    emit_lock();
    if (id == SANITIZER_STREAM_CREATED) {
        handles_add_stream(data, flags, is_internal, caller);
    } else {
        handles_remove_stream(data, caller);
    }
    emit_unlock();
}

/* What a block is, and which call is named for it; false: nothing that a program could race on. */
static bool describe(uint32_t id, const struct sanitizer_memory_data *data,
                     const struct thread *thread, struct memory_block *block, const char **call)
{
    const uint32_t of_the_runtime = SANITIZER_MEMORY_CG_RUNTIME | SANITIZER_MEMORY_CNP;
    *block = (struct memory_block){.address = data->address, .size = data->size};
    *call = calls_name(thread);
    if (data->flags & (of_the_runtime | SANITIZER_MEMORY_PEER)) {
        return false; /* peer: told again for another device, the same memory */
    }
    block->is_pooled = id == SANITIZER_MEMORY_ALLOC_ASYNC;
    if (id == SANITIZER_HOST_MEMORY_ALLOC) {
        block->memory =
            calls_inside(thread, API_REGISTER) ? SSAN_memory_REGISTERED : SSAN_memory_PINNED;
    } else if (data->flags & SANITIZER_MEMORY_MANAGED) {
        block->memory = SSAN_memory_MANAGED;
    } else {
        block->memory = SSAN_memory_DEVICE;
    }
    if (data->flags & SANITIZER_MEMORY_MODULE) {
        *call = "__device__";
    } else if (block->memory == SSAN_memory_MANAGED && !calls_inside(thread, API_ALLOC)) {
        *call = "__managed__";
    }
    return true;
}

/* Tells of a new generation and keeps it. */
static void add_block(struct memory_block *block, const char *call, CUcontext context,
                      struct caller caller)
{
    struct ssan_event event = {.kind = SSAN_EV_alloc};
    struct memory_block old;
    if (call[0] == '_' && memory_find(block->address, &old) && old.address == block->address &&
        old.size == block->size && old.memory == block->memory) {
        return; /* a managed variable is told once for each context */
    }
    emit_lock();
    block->alloc = emit_next_alloc();
    block->context = handles_context(context);
    event.alloc = (struct ssan_ev_alloc){.alloc = block->alloc,
                                         .context = block->context,
                                         .memory = block->memory,
                                         .address = block->address,
                                         .size = block->size,
                                         .call = ssan_str(call),
                                         .thread = caller.thread,
                                         .site = caller.site};
    if (!memory_add(block)) { /* its end will not be told, kernels' arguments do not find it */
        emit_lost(SSAN_loss_OPERATIONS, 0);
    }
    emit_put(&event);
    emit_unlock();
}

static void on_alloc(uint32_t id, const struct sanitizer_memory_data *data)
{
    struct thread *thread = calls_thread();
    struct memory_block block;
    const char *call;
    CUcontext context = data->context ? data->context : thread->context;
    if (data->size > 0 && describe(id, data, thread, &block, &call)) {
        bool by_program = thread->depth > 0;
        struct caller caller = {.thread = thread->id};
        if (by_program) {
            caller = calls_caller(thread);
        }
        add_block(&block, call, context, caller);
    }
}

void resource_variable(CUmodule module, uint64_t address, uint64_t size, const char *name,
                       const char *space)
{
    struct memory_block old;
    struct memory_block block = {.address = address, .size = size, .module = module};
    block.memory = strcmp(space, "__managed__") == 0 ? SSAN_memory_MANAGED : SSAN_memory_DEVICE;
    if (address == 0 || size == 0 || memory_find(address, &old)) {
        return; /* told before, or a part of the managed memory of its module */
    }
    struct thread *thread = calls_thread();
    add_block(&block, space, thread->context, (struct caller){.thread = thread->id});
    if (name && *name) {
        emit_lock();
        emit_name(SSAN_object_POINTER, address, handles_name(name));
        emit_unlock();
    }
}

static void on_free(const struct sanitizer_memory_data *data)
{
    struct thread *thread = calls_thread();
    struct memory_block block;
    if (!(data->flags & SANITIZER_MEMORY_PEER) && memory_find(data->address, &block) &&
        block.address == data->address) {
        end_block(thread, data->address, calls_caller(thread));
    }
}

void on_resource(uint32_t id, const void *data)
{
    struct sanitizer_context_data context;
    struct sanitizer_stream_data stream;
    switch (id) {
    case SANITIZER_CONTEXT_CREATION_STARTING:
    case SANITIZER_CONTEXT_CREATION_FINISHED:
    case SANITIZER_CONTEXT_DESTROY_STARTING:
    case SANITIZER_CONTEXT_DESTROY_FINISHED:
        context = sanitizer_context_data(&capture_api, data);
        on_context(id, context.context, context.device);
        break;
    case SANITIZER_STREAM_CREATED:
    case SANITIZER_STREAM_DESTROY_STARTING:
    case SANITIZER_STREAM_DESTROY_FINISHED:
        stream = sanitizer_stream_data(&capture_api, data);
        on_stream(id, &stream);
        break;
    case SANITIZER_MODULE_LOADED:
        demangle_open();
        variables_add(data);
        gate_module(data);
        observe_module(data);
        break;
    case SANITIZER_MODULE_UNLOAD_STARTING:
        end_blocks(NULL, ((const struct sanitizer_module_data *)data)->module);
        emit_lock();
        handles_forget_kernels();
        emit_unlock();
        observe_module_end(data);
        break;
    case SANITIZER_FUNCTIONS_LAZY_LOADED:
        observe_functions_loaded(data);
        break;
    case SANITIZER_DEVICE_MEMORY_ALLOC:
    case SANITIZER_HOST_MEMORY_ALLOC:
    case SANITIZER_MEMORY_ALLOC_ASYNC:
        on_alloc(id, data);
        break;
    case SANITIZER_DEVICE_MEMORY_FREE:
    case SANITIZER_HOST_MEMORY_FREE:
        on_free(data);
        break;
    case SANITIZER_MEMORY_FREE_ASYNC: {
        struct memory_block block;
        const struct sanitizer_memory_data *memory = data;
        (void)memory_remove(memory->address, &block); /* the call is named as unsupported */
        break;
    }
    default:
        break;
    }
}
