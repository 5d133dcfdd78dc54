/* The decoded form of a module: what the parser builds and the executor runs.
 *
 * A function is an array of decoded operations. Registers, immediates and special registers are
 * slots in one register file of the function: 32 lanes of 4 bytes (types up to 4 bytes; 16-bit
 * registers keep the upper half zero), 32 lanes of 8 bytes, or one 32-bit mask for a predicate. An
 * operand is the byte offset of its slot, so that a handler needs the file, the operation and the
 * mask of active lanes, and nothing else. */
#ifndef SSAN_PTX_IR_H
#define SSAN_PTX_IR_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "ptx/lane.h"
#include "ptx/ptx.h"

/* Generic addresses: the top byte is the window. Device and host addresses have a top byte of zero.
 */
#define WINDOW_SHIFT        56
#define WINDOW_GLOBAL       0u
#define WINDOW_SHARED       1u
#define WINDOW_LOCAL        2u
#define WINDOW_PARAM        3u
#define WINDOW_CODE         4u
#define WINDOW_BASE(window) ((uint64_t)(window) << WINDOW_SHIFT)

enum ptx_type {
    TYPE_none,
#define TYPE(name, bytes, cls) TYPE_##name,
#include "ptx/types.def"
#undef TYPE
    TYPE_pred,
};

enum ptx_special {
#define SPECIAL(name, id, bytes) SPECIAL_##id,
#define CLOCKS                   SPECIAL_fixed_count,
#include "ptx/specials.def"
#undef SPECIAL
#undef CLOCKS
    SPECIAL_count
};

enum ptx_space {
    SPACE_generic,
    SPACE_global,
    SPACE_const,
    SPACE_shared,
    SPACE_local,
    SPACE_param, /* of an entry, at a fixed offset */
    SPACE_frame, /* of the running function's frame, at a fixed offset: parameters and .local
                    variables */
};

/* A slot that holds the same value in all lanes: `bytes` of `value`, plus the address of a global
 * or the offset of dynamic shared memory where `reloc` says so. */
struct const_slot {
    uint32_t slot, bytes;
    uint64_t value;
    enum {
        RELOC_none,
        RELOC_global,
        RELOC_shared,
        RELOC_dynamic_shared,
        RELOC_param,
        RELOC_param_signed
    } reloc;
    uint32_t index; /* of the global, or (while parsing) of the shared variable */
};

struct special_slot {
    uint32_t slot;
    enum ptx_special special;
};

/* How long a special register keeps its value. */
enum special_scope { SCOPE_warp, SCOPE_block, SCOPE_launch, SCOPE_count };

static inline enum special_scope special_scope(enum ptx_special special)
{
    switch (special) {
    case SPECIAL_tid_x:
    case SPECIAL_tid_y:
    case SPECIAL_tid_z:
    case SPECIAL_warpid:
        return SCOPE_warp;
    case SPECIAL_ctaid_x:
    case SPECIAL_ctaid_y:
    case SPECIAL_ctaid_z:
        return SCOPE_block;
    default:
        return SCOPE_launch;
    }
}

/* A .param variable: of a function's signature or of a call sequence. */
struct param_var {
    uint32_t offset, size_bytes;
};

struct call_site {
    uint32_t func; /* index in the module, UINT32_MAX: an indirect call through a register */
    struct param_var result; /* size 0: none */
    const struct param_var *args;
    uint32_t arg_count;
};

struct func {
    const char *name;
    uint32_t index;
    bool is_entry, is_defined;
    int external; /* index in externs.def's table, -1: none */
    const struct op *code;
    uint32_t code_count;
    uint32_t file_bytes; /* of the register file */
    uint32_t mem_count;  /* operations with a memory state (op->aux below this) */
    const struct const_slot *consts;
    const struct special_slot *specials; /* by scope */
    uint32_t const_count;
    uint32_t special_end[SCOPE_count]; /* index behind the last one of a scope */
    /* Frame-relative layout: the formal parameters and the result first, .local variables and call
     * parameters behind. Entries have their parameters in the launch's buffer. */
    const struct param_var *params;
    uint32_t param_count;
    struct param_var result;
    uint32_t local_bytes;
    const struct call_site *calls;
    uint32_t call_count;
    const uint32_t *pool; /* operand lists of vectors, jump tables */
    uint32_t first_line;  /* PTX line of its name */
    uint32_t shared_bytes;
    bool uses_dynamic_shared;
    struct ptx_kernel kernel;
};

struct reloc {
    uint64_t offset;
    uint32_t bytes;
    bool is_func;
    uint32_t index; /* of the global or function */
    int64_t addend;
};

struct global {
    struct ptx_global pub;
    unsigned char *init; /* NULL for an external one */
    const struct reloc *relocs;
    uint32_t reloc_count;
    bool is_unsized; /* declared [] */
};

struct ptx_module {
    struct arena arena;
    VEC(struct func *) funcs;
    VEC(struct func *) entries;
    VEC(struct global *) globals;
    VEC(struct ptx_line) lines; /* op->line is an index; 0: none */
};

#endif
