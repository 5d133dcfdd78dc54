/* The entry points that clang's generated code calls at start-up and exit (compiler_abi.h). */
#include "vcuda/cuda.h"

#pragma GCC visibility push(default)
#include "ssan/compiler_abi.h"
#pragma GCC visibility pop

#include "vcuda/emit.h"
#include "trace/message.h"
#include "vcuda/program.h"

static struct program *program_of(void **handle)
{
    return (struct program *)(void *)handle;
}

/* Each module registers twice (register_early.h), and gets the same handle. */
void **__cudaRegisterFatBinary(void *wrapper)
{
    struct program *program;
    emit_open();
    device_lock();
    program = program_register(wrapper);
    device_unlock();
    if (!program) {
        message_tell("no memory to register device code");
    }
    return (void **)(void *)program;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
}

/* What pends may still need the code, so it stays. */
void __cudaUnregisterFatBinary(void **handle)
{
    if (handle) {
        program_unregister(program_of(handle));
    }
}

int __cudaRegisterFunction(void **handle, const char *host_stub, char *device_name,
                           const char *device_name_again, int thread_limit, uint3 *tid, uint3 *bid,
                           dim3 *block_dim, dim3 *grid_dim, int *warp_size)
{
    bool ok = true;
    device_lock();
    if (handle) {
        ok = program_add_function(program_of(handle), host_stub, device_name_again);
    }
    device_unlock();
    if (!ok) {
        message_tell("no memory to register a kernel");
    }
    return 0;
}

void __cudaRegisterVar(void **handle, char *host_shadow, char *device_name,
                       const char *device_name_again, int is_extern, size_t size_bytes,
                       int is_constant, int is_global)
{
    bool ok = true;
    device_lock();
    if (handle) {
        ok = program_add_variable(program_of(handle), host_shadow, device_name_again, size_bytes,
                                  is_constant);
    }
    device_unlock();
    if (!ok) {
        message_tell("no memory to register a variable");
    }
}
