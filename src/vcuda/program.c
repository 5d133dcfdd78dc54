/* Modules are parsed when something of them is used first, as with lazy loading; then their
 * variables get memory.
 *
 * Invariant: a loaded module's variables are all bound, and module and text live until the process
 * ends, so that what pends at exit can still run. */
#include "vcuda/program.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/demangle.h"
#include "ssan/compiler_abi.h"
#include "vcuda/emit.h"
#include "vcuda/memory.h"
#include "trace/message.h"
#include "vcuda/queue.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define WRAPPER_MAGIC 0x466243b1

struct wrapper {
    int magic, version;
    const void *data;
    void *unused;
};

struct program {
    struct program *next;          /* registered before */
    _Atomic(const void *) wrapper; /* NULL: unregistered, its bytes may be another's now */
    const char *text;              /* NULL: not code that this device knows */
    struct image {
        struct ptx_module *module;
        bool tried;
        cudaError_t error;
    } images[MOST_DEVICES]; /* each device has variables of its own */
};

struct function {
    struct program *program;
    const char *name, *plain_name;       /* plain: demangled, NULL until it is asked for */
    struct kernel kernels[MOST_DEVICES]; /* without `code` until they are used */
};

struct variable {
    struct program *program;
    const char *name;
    uint64_t size_bytes, addresses[MOST_DEVICES]; /* 0: not asked for yet */
};

static struct program *newest;
static struct arena names;
static struct map functions,
    variables; /* by stub and by shadow, to struct function and struct variable */

struct program *program_register(const void *data)
{
    const struct wrapper *wrapper = data;
    struct program *program = newest;
    while (program && program->wrapper != data) {
        program = program->next;
    }
    if (program) {
        return program;
    }
    program = mem_zalloc(1, sizeof *program);
    if (program && wrapper->magic == WRAPPER_MAGIC &&
        memcmp(wrapper->data, SSAN_BLOB_MAGIC, SSAN_BLOB_MAGIC_SIZE) == 0) {
        program->text = (const char *)wrapper->data + SSAN_BLOB_MAGIC_SIZE;
    }
    if (program) {
        atomic_store(&program->wrapper, data);
        program->next = newest;
        newest = program;
    }
    return program;
}

void program_unregister(struct program *program)
{
    atomic_store(&program->wrapper, NULL);
}

static struct function *known_function(const void *stub)
{
    uint64_t *known = map_find(&functions, (uint64_t)(uintptr_t)stub);
    return known ? (struct function *)(uintptr_t)*known : NULL;
}

static struct variable *known_variable(const void *shadow)
{
    uint64_t *known = map_find(&variables, (uint64_t)(uintptr_t)shadow);
    return known ? (struct variable *)(uintptr_t)*known : NULL;
}

bool program_add_function(struct program *program, const void *stub, const char *name)
{
    struct function *function = known_function(stub);
    if (function && function->program == program) {
        return true;
    }
    function = mem_zalloc(1, sizeof *function);
    if (!function) {
        return false;
    }
    function->program = program;
    function->name = name;
    if (!map_set(&functions, (uint64_t)(uintptr_t)stub, (uint64_t)(uintptr_t)function)) {
        mem_free(function);
        return false;
    }
    return true;
}

bool program_add_variable(struct program *program, const void *shadow, const char *name,
                          uint64_t size_bytes, bool is_constant)
{
    struct variable *variable = known_variable(shadow);
    if (variable && variable->program == program) {
        return true;
    }
    variable = mem_zalloc(1, sizeof *variable);
    if (!variable) {
        return false;
    }
    variable->program = program;
    variable->name = name;
    variable->size_bytes = size_bytes;
    if (!map_set(&variables, (uint64_t)(uintptr_t)shadow, (uint64_t)(uintptr_t)variable)) {
        mem_free(variable);
        return false;
    }
    return true;
}

static void tell_global(const struct call *call, const struct ptx_global *global,
                        const struct memory_block *block)
{
    const char *name = demangle_name(&names, global->name);
    emit_variable(call, global->is_const ? "__constant__" : "__device__", block);
    emit_name(SSAN_object_POINTER, block->address, name ? name : global->name);
}

static void init_globals(const struct ptx_module *module)
{
    for (size_t i = 0; i < ptx_global_count(module); i++) {
        ptx_global_init(module, i, memory_at(ptx_global_at(module, i)->address));
    }
}

/* Memory for the variables of a module. */
static cudaError_t bind_globals(struct call *call, struct ptx_module *module)
{
    struct memory_block block;
    size_t count = ptx_global_count(module);
    for (size_t i = 0; i < count; i++) {
        const struct ptx_global *global = ptx_global_at(module, i);
        cudaError_t error;
        if (global->is_external) {
            char text[256];
            snprintf(text, sizeof text, "variable '%s' is defined in no device code of its file",
                     global->name);
            message_tell(text);
            return cudaErrorSharedObjectSymbolNotFound;
        }
        error =
            memory_alloc_device(global->size_bytes ? global->size_bytes : 1, global->align_bytes,
                                call->ordinal, ++device.alloc_count, &block);
        if (error != cudaSuccess) {
            return error;
        }
        memory_set_variable(block.address);
        if (global->is_const) {
            memory_set_constant(block.address);
        }
        ptx_bind_global(module, i, block.address);
        tell_global(call, global, &block);
    }
    init_globals(module);
    return cudaSuccess;
}

void program_reset(struct call *call)
{
    struct memory_block block;
    for (const struct program *program = newest; program; program = program->next) {
        const struct image *image = &program->images[call->ordinal];
        if (!image->module || image->error != cudaSuccess) {
            continue;
        }
        for (size_t i = 0; i < ptx_global_count(image->module); i++) {
            const struct ptx_global *global = ptx_global_at(image->module, i);
            if (memory_find(global->address, &block)) {
                emit_free(call, block.id);
                block.id = ++device.alloc_count;
                memory_renew(block.address, block.id);
                tell_global(call, global, &block);
            }
        }
        init_globals(image->module);
    }
}

/* Tells why device code can't be used. */
static cudaError_t refuse(struct call *call, const struct ssan_error *err)
{
    char text[640];
    snprintf(text, sizeof text, "device code can't be loaded: %s", err->text);
    message_tell(text);
    emit_unsupported(text, call->thread, call_site(call));
    return err->status == SSAN_UNSUPPORTED ? cudaErrorNotSupported
           : err->status == SSAN_NO_MEMORY ? cudaErrorMemoryAllocation
                                           : cudaErrorInvalidPtx;
}

static cudaError_t load(struct call *call, struct program *program)
{
    struct image *image = &program->images[call->ordinal];
    struct ssan_error err;
    if (image->tried) {
        return image->error;
    }
    image->tried = true;
    image->error = cudaErrorNoKernelImageForDevice;
    if (!program->text) {
        message_tell("device code that was not built by 'streamsan cc' can't run here");
        return image->error;
    }
    if (ptx_parse(&image->module, program->text, strlen(program->text), &err) != SSAN_OK) {
        image->error = refuse(call, &err);
    } else {
        image->error = bind_globals(call, image->module);
    }
    return image->error;
}

static const char *name_of(struct function *function)
{
    if (!function->plain_name) {
        function->plain_name = demangle_name(&names, function->name);
    }
    return function->plain_name;
}

static cudaError_t resolve(struct call *call, struct function *function)
{
    struct kernel *kernel = &function->kernels[call->ordinal];
    const struct ptx_module *module = function->program->images[call->ordinal].module;
    const struct ptx_kernel *code;
    if (kernel->code) {
        return cudaSuccess;
    }
    code = ptx_kernel_find(module, function->name);
    if (!code) {
        return cudaErrorInvalidDeviceFunction;
    }
    if (code->unresolved) {
        struct ssan_error err = {.status = SSAN_UNSUPPORTED};
        snprintf(err.text, sizeof err.text,
                 "kernel '%s' calls '%s' (line %u), which nothing defines", function->name,
                 code->unresolved, code->unresolved_line);
        return refuse(call, &err);
    }
    kernel->name = name_of(function);
    if (!kernel->name) {
        return cudaErrorMemoryAllocation;
    }
    kernel->module = module;
    kernel->code = code;
    return cudaSuccess;
}

cudaError_t program_find_kernel(struct call *call, const void *stub, struct kernel **kernel)
{
    struct function *function = known_function(stub);
    cudaError_t error = function ? load(call, function->program) : cudaErrorInvalidDeviceFunction;
    if (error == cudaSuccess) {
        error = resolve(call, function);
    }
    if (error == cudaSuccess) {
        *kernel = &function->kernels[call->ordinal];
    }
    return error;
}

const char *program_kernel_name(const void *stub)
{
    struct function *function = known_function(stub);
    return function ? name_of(function) : NULL;
}

cudaError_t program_find_variable(struct call *call, const void *shadow, uint64_t *address,
                                  uint64_t *size_bytes)
{
    struct variable *variable = known_variable(shadow);
    cudaError_t error = variable ? load(call, variable->program) : cudaErrorInvalidSymbol;
    if (error != cudaSuccess) {
        return error;
    }
    const struct ptx_module *module = variable->program->images[call->ordinal].module;
    uint64_t *known = &variable->addresses[call->ordinal];
    for (size_t i = 0; *known == 0 && i < ptx_global_count(module); i++) {
        const struct ptx_global *global = ptx_global_at(module, i);
        if (strcmp(global->name, variable->name) == 0) {
            *known = global->address;
        }
    }
    if (*known == 0) {
        return cudaErrorInvalidSymbol; /* nothing on the device uses it, so clang left it out */
    }
    *address = *known;
    *size_bytes = variable->size_bytes;
    return cudaSuccess;
}
