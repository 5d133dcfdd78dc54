/* Device code that the program registered: modules, kernels by their host stubs, variables by their
 * host shadows. Each device loads its own image of a module, with variables of its own; a call is
 * about the current device's. */
#ifndef SSAN_VCUDA_PROGRAM_H
#define SSAN_VCUDA_PROGRAM_H

#include "vcuda/device.h"

struct program;

/* A translation unit's device code; `wrapper` as in compiler_abi.h. The same one again for a
 * wrapper that is registered. NULL when out of memory. Device lock held. */
struct program *program_register(const void *wrapper);
/* Another may be registered in the wrapper's place; what is loaded stays. Needs no lock, as it
 * comes while the process ends. */
void program_unregister(struct program *program);
/* Names are borrowed for ever: they lie in the executable. What the program has is not added again.
 * False when out of memory. Device lock held. */
bool program_add_function(struct program *program, const void *stub, const char *name);
bool program_add_variable(struct program *program, const void *shadow, const char *name,
                          uint64_t size_bytes, bool is_constant);

struct kernel {
    const struct ptx_module *module;
    const struct ptx_kernel *code;
    const char *name;           /* demangled, without arguments; lives as long as the process */
    uint32_t most_shared_bytes; /* dynamic, as set by cudaFuncSetAttribute; 0: the default limit */
};

/* The kernel of a host stub, its module loaded. cudaErrorInvalidDeviceFunction for what is none,
 * the module's own error when it can't be loaded (told on stderr). Device lock held. */
cudaError_t program_find_kernel(struct call *call, const void *stub, struct kernel **kernel);
/* The name of a kernel, as in struct kernel, whether or not its module can be loaded; NULL:
 * unknown. Device lock held. */
const char *program_kernel_name(const void *stub);
/* The device address and size of a variable's host shadow; cudaErrorInvalidSymbol. Device lock
 * held. */
cudaError_t program_find_variable(struct call *call, const void *shadow, uint64_t *address,
                                  uint64_t *size_bytes);

/* Gives the variables of all modules that the current device has loaded their initial values and
 * new generations at the same addresses. Nothing runs; device lock held. */
void program_reset(struct call *call);

#endif
