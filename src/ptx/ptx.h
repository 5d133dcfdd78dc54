/* A PTX module: parsed, checked and decoded text, ready to run (PTX ISA 7.0 subset, see
 * opcodes.def).
 *
 * A module is immutable after ptx_parse but for the bindings of its globals. Any thread may read
 * it. */
#ifndef SSAN_PTX_PTX_H
#define SSAN_PTX_PTX_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptx_module;

/* Parses `length` bytes (NUL not needed; borrowed for the call). SSAN_FORMAT: a syntax error,
 * err->position is the line of the PTX; SSAN_UNSUPPORTED: an opcode, type or directive that is not
 * known, named with its PTX line and, where a .loc stands, the line of the source. */
enum ssan_status ptx_parse(struct ptx_module **module, const char *text, size_t length,
                           struct ssan_error *err);
void ptx_destroy(struct ptx_module *module);

/* Module-scope .global and .const variables. */
struct ptx_global {
    const char *name;
    uint64_t size_bytes, align_bytes;
    bool is_const, is_external;
    const void *init; /* size_bytes of initial contents, zeros where PTX gives none; never NULL
                         unless external */
    uint64_t address; /* device address, set by ptx_bind_global */
};
size_t ptx_global_count(const struct ptx_module *module);
const struct ptx_global *ptx_global_at(const struct ptx_module *module, size_t index);
/* Gives a variable its device address. All must be bound before the first launch; initialisers that
 * hold addresses of other variables are resolved by ptx_global_init. */
void ptx_bind_global(struct ptx_module *module, size_t index, uint64_t address);
/* Writes the initial contents, with addresses of other globals filled in, to `bytes` (size_bytes).
 */
void ptx_global_init(const struct ptx_module *module, size_t index, void *bytes);

struct ptx_param {
    uint32_t offset, size_bytes, align_bytes;
};

struct ptx_kernel {
    const char *name; /* mangled */
    const struct ptx_param *params;
    size_t param_count;
    uint32_t param_bytes;
    uint32_t shared_bytes;  /* static; dynamic shared memory begins behind, aligned to 16 */
    uint32_t local_bytes;   /* per thread */
    uint32_t registers;     /* 32-bit register slots per thread, for occupancy attributes */
    uint32_t max_threads;   /* .maxntid product, 0: none */
    const char *unresolved; /* name of an external function that nothing defines, NULL: all known.
                               Launching fails */
    uint32_t unresolved_line;
    const void *code; /* private */
};
/* NULL when there is none of that name. Valid as long as the module. */
const struct ptx_kernel *ptx_kernel_find(const struct ptx_module *module, const char *name);
size_t ptx_kernel_count(const struct ptx_module *module);
const struct ptx_kernel *ptx_kernel_at(const struct ptx_module *module, size_t index);

/* Source lines of the .loc directives. file NULL: none. */
struct ptx_line {
    const char *file, *function; /* function: demangled name of the .func or .entry, or the inlined
                                    function if known */
    uint32_t line;
};

#endif
