/* State shared by the files of the parser: parse_module.c reads directives, parse_body.c function
 * bodies, lower_*.c turn instructions into operations.
 *
 * Functions return false after parse_fail recorded why; callers only pass that on. The first
 * failure stays. */
#ifndef SSAN_PTX_PARSE_H
#define SSAN_PTX_PARSE_H

#include "ptx/ir.h"
#include "ptx/lex.h"

#define MAX_MODS        12
#define MAX_OPERANDS    8
#define MAX_ELEMENTS    24
#define MAX_FRAME_BYTES (512u << 10) /* CUDA's limit of local memory per thread */
#define MAX_FILE_BYTES  (64u << 20)

enum symbol_kind {
    SYMBOL_registers, /* prefix of a range; count registers */
    SYMBOL_register,
    SYMBOL_global, /* value: index in the module */
    SYMBOL_shared, /* value: index in parser.shared */
    SYMBOL_frame,  /* value: offset in the frame; is_param tells .param from .local */
    SYMBOL_param,  /* of an entry; value: offset in the launch's parameters */
    SYMBOL_func,   /* value: index in the module */
    SYMBOL_label,  /* value: operation */
    SYMBOL_prototype,
    SYMBOL_targets /* value: index in parser.targets */
};

struct symbol {
    const char *text; /* in the input */
    size_t length;
    uint64_t hash;
    enum symbol_kind kind;
    enum ptx_type type;
    uint32_t id; /* unique among registers of a function */
    uint32_t count;
    uint64_t value, size_bytes;
    bool is_param;
    uint64_t shadowed; /* what the name meant before, index + 1 */
};

struct shared_var {
    uint64_t size_bytes, align_bytes;
    uint64_t offset;
    uint32_t placed_in; /* index + 1 of the function whose layout holds it */
    bool is_dynamic;    /* .extern [] */
};

/* A branch whose label is not placed yet, or a slot of a jump table. */
struct label_ref {
    const char *text;
    size_t length;
    uint32_t op; /* patched: code[op].aux */
    bool in_pool;
    uint32_t line;
};

struct target_list {
    uint32_t first, count; /* in the function's pool */
};

struct scope {
    size_t symbols, refs;
    uint32_t frame_bytes;
};

/* The function that is being read. */
struct builder {
    struct func *func;
    VEC(struct op) code;
    VEC(struct const_slot) consts;
    VEC(struct special_slot) specials;
    VEC(struct call_site) calls;
    VEC(uint32_t) pool;
    VEC(struct label_ref) refs;
    struct map slots;       /* register id << 32 | number -> slot */
    struct map const_slots; /* hash -> index + 1 */
    struct map defs;        /* hash of a register's name -> instructions that write it */
    uint32_t file_bytes, pred_slot, frame_bytes, frame_top, shared_bytes, register_words;
    /* Slots from here on were first named by the instruction that is being read. */
    uint32_t first_fresh;
    uint32_t guard, line; /* of the instruction that is being lowered */
    uint32_t carry;       /* slot of the carry flag, 0: not used */
    uint32_t cvt_temps;   /* slots from here on are temporaries of the cvt that is being lowered */
};

struct parser {
    struct lexer lexer;
    struct token token;
    struct ptx_module *module;
    struct ssan_error *err;
    enum ssan_status status;
    const struct lane_isa *isa;
    const char *text;
    size_t text_length;
    VEC(struct symbol) symbols;
    VEC(struct scope) scopes;
    VEC(struct shared_var) shared;
    VEC(struct target_list) targets;
    struct map names; /* hash -> index + 1 in symbols */
    struct map files; /* number of a .file -> index + 1 in file_names */
    VEC(const char *) file_names;
    struct map line_ids;               /* file << 40 | function << .. -> line index */
    uint32_t source_file, source_line; /* of the last .loc with a line */
    const char *function;              /* demangled name of the one being read */
    uint32_t function_serial;
    uint32_t next_id;
    struct builder b;
};

struct operand {
    enum {
        OPERAND_none,
        OPERAND_register,
        OPERAND_int,
        OPERAND_float,
        OPERAND_symbol,
        OPERAND_special,
        OPERAND_vector,
        OPERAND_memory, /* base (register, symbol or none) + addend */
        OPERAND_sink,
        OPERAND_name /* not declared: a label, if any */
    } kind;
    bool negated;
    uint32_t slot;
    uint64_t key; /* of a register */
    enum ptx_type type;
    uint64_t bits;
    uint32_t float_bytes;
    size_t symbol;
    int64_t addend;
    enum ptx_special special;
    uint32_t first, count; /* vector: elements in the instruction */
    uint32_t pair;         /* p|q: index + 1 of q in the elements */
    const char *text;
    size_t length;
    bool has_register; /* memory */
    bool has_symbol;
};

struct mod {
    const char *text;
    size_t length;
    bool is_used;
};

struct inst {
    const char *opcode;
    size_t opcode_length;
    uint32_t line;
    struct mod mods[MAX_MODS];
    uint32_t mod_count;
    struct operand operands[MAX_OPERANDS];
    uint32_t operand_count;
    struct operand elements[MAX_ELEMENTS];
    uint32_t element_count;
};

/* Bytes of a name that a message shows. */
static inline int shown(size_t length)
{
    const size_t most = 100;
    return (int)(length < most ? length : most);
}

/* -- parse_module.c: tokens, errors -- */
void parse_next(struct parser *p);
bool parse_fail(struct parser *p, enum ssan_status status, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool parse_no_memory(struct parser *p);
bool parse_is_punct(const struct parser *p, char punct);
bool parse_is_dot(const struct parser *p, const char *text);
bool parse_take_punct(struct parser *p, char punct);
bool parse_take_dot(struct parser *p, const char *text);
bool parse_expect(struct parser *p, char punct);
/* An integer, possibly signed, as 64 bits. */
bool parse_integer(struct parser *p, uint64_t *value);

/* -- parse_symbol.c: types, names, scopes -- */
enum ptx_type type_find(const char *text, size_t length);
uint32_t type_bytes(enum ptx_type type);
bool type_is_signed(enum ptx_type type);
bool type_is_float(enum ptx_type type);
struct symbol *symbol_find(struct parser *p, const char *text, size_t length);
struct symbol *symbol_find_range(struct parser *p, const char *prefix, size_t length);
/* NULL when out of memory or when the scope has that name already (a failure was recorded). */
struct symbol *symbol_add(struct parser *p, const struct token *name, enum symbol_kind kind);
uint64_t hash_name(const char *text, size_t length);
bool scope_open(struct parser *p);
bool scope_close(struct parser *p);

/* -- parse_var.c -- */
/* A variable of any space, at its declaration's space directive; inside a function b.func isn't
 * NULL. */
bool parse_variable(struct parser *p, bool is_external);
/* Formal parameters between parentheses. */
bool parse_param_list(struct parser *p, struct func *func, bool is_result);
uint32_t frame_place(struct parser *p, uint64_t size_bytes, uint64_t align_bytes);

/* -- parse_operand.c -- */
/* The guard in front of an instruction, if there is one, into b.guard. */
bool parse_guard(struct parser *p);
/* All operands up to the semicolon. */
bool parse_operands(struct parser *p, struct inst *in);

/* -- parse_body.c -- */
bool parse_body(struct parser *p, struct func *func);
bool parse_loc(struct parser *p);
/* Until the end of the statement or the balanced end of braces. */
bool parse_skip_statement(struct parser *p);

void builder_finish(struct builder *b);

/* -- straighten.c -- */
/* Prepares the code of a finished body for the loop of warp.c; false when out of memory. */
bool code_straighten(struct parser *p);

/* -- finish.c: what can be decided once the whole text was read -- */
/* Places shared variables, resolves external functions, fills in the public kernels. */
bool module_finish(struct parser *p);

/* -- lower.c: slots and emission -- */
uint32_t slot_temp(struct parser *p, enum ptx_type type);
uint32_t slot_const(struct parser *p, uint64_t value, uint32_t bytes);
uint32_t slot_special(struct parser *p, enum ptx_special special);
uint32_t slot_register(struct parser *p, const struct symbol *symbol, uint32_t number);
bool is_wide(enum ptx_type type);
/* Slot that holds an operand as `type`; 0 after a failure. */
uint32_t source(struct parser *p, struct inst *in, const struct operand *operand,
                enum ptx_type type);
/* Slot to write a result of `type` to; call result_done after the last write. */
uint32_t result(struct parser *p, struct inst *in, const struct operand *operand,
                enum ptx_type type);
bool result_done(struct parser *p, struct inst *in, const struct operand *operand,
                 enum ptx_type type, uint32_t slot);
/* A register that only this instruction writes, with a value that never changes, is that value's
 * slot from now on: true when that was done (with an operation that does nothing in place of the
 * move), or when it failed. */
bool alias_result(struct parser *p, const struct operand *operand, uint32_t slot);
/* Slot of the value at `offset` of an entry's parameters. */
uint32_t slot_param(struct parser *p, uint32_t offset, uint32_t bytes, bool is_signed);
struct op *emit(struct parser *p, enum lane lane, uint32_t dst, uint32_t a, uint32_t b, uint32_t c);
/* Makes `end`, the last operation of a body, return. */
bool lower_end(struct parser *p, struct op *end);
/* Gives an operation a rounding mode of fenv.h (lower_arith.c). */
bool emit_rounded(struct parser *p, struct op *op, int rounding);
/* An operation of the executor. */
struct op *emit_fn(struct parser *p, ptx_fn *fn, enum op_kind kind);
bool mod_take(struct inst *in, const char *text);
/* Takes the first unused type. */
enum ptx_type mod_type(struct parser *p, struct inst *in);
bool mods_done(struct parser *p, struct inst *in);
/* lower_space.c: the state space, `generic` when none is named. */
enum ptx_space mod_space(struct inst *in);
/* lower_space.c: order, scope and cache hints. */
void mod_order(struct inst *in);
bool operands_are(struct parser *p, struct inst *in, uint32_t least, uint32_t most);
enum family {
    FAMILY_unused,
#define FAMILY(name, u16, s16, u32, s32, u64, s64, f32, f64) FAMILY_##name,
#include "ptx/families.def"
#undef FAMILY
};
/* LANE_none when PTX has no such type (no failure recorded). */
enum lane family_lane(enum family family, enum ptx_type type);
bool fail_type(struct parser *p, const struct inst *in, enum ptx_type type);
/* Finds the opcode, lowers the instruction. */
bool lower_instruction(struct parser *p, struct inst *in);

typedef bool lower_fn(struct parser *p, struct inst *in, int arg);
lower_fn lower_arith, lower_mul, lower_mad, lower_mul24, lower_fma, lower_ternary, lower_unary,
    lower_testp, lower_carry, lower_dot, lower_logic, lower_shift, lower_funnel, lower_count,
    lower_bfind, lower_field, lower_mask, lower_permute, lower_logic3, lower_setp, lower_set,
    lower_selp, lower_slct, lower_mov, lower_cvt, lower_load, lower_store, lower_atomic, lower_cvta,
    lower_isspacep, lower_copy, lower_nothing, lower_fence, lower_branch, lower_jump, lower_call,
    lower_leave, lower_barrier, lower_nanosleep, lower_shuffle, lower_vote, lower_match,
    lower_redux, lower_activemask, lower_elect;

#endif
