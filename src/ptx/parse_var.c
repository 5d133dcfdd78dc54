/* Reads variables, their initialisers, and parameter lists. */
#include "ptx/parse.h"

#include <string.h>

#define MAX_VARIABLE_BYTES (UINT64_C(1) << 32)
#define MAX_ALIGN_BYTES    4096u
#define MAX_PARAM_BYTES    65536u /* of one parameter, and of all before the last */

static bool is_alignment(uint64_t bytes)
{
    return bytes != 0 && bytes <= MAX_ALIGN_BYTES && (bytes & (bytes - 1)) == 0;
}

/* What stands before the name: alignment, vector, type. */
struct declaration {
    uint64_t align_bytes;
    enum ptx_type type;
    uint32_t vector;
};

uint32_t frame_place(struct parser *p, uint64_t size_bytes, uint64_t align_bytes)
{
    struct builder *b = &p->b;
    const uint64_t align = align_bytes < 4 ? 4 : align_bytes;
    const uint64_t at = (b->frame_bytes + align - 1) / align * align;
    if (size_bytes > MAX_FRAME_BYTES || at + size_bytes > MAX_FRAME_BYTES) {
        parse_fail(p, SSAN_UNSUPPORTED, p->token.line, "more than %u KiB of local memory",
                   MAX_FRAME_BYTES >> 10);
        return UINT32_MAX;
    }
    b->frame_bytes = (uint32_t)(at + size_bytes);
    if (b->frame_bytes > b->frame_top) {
        b->frame_top = b->frame_bytes;
    }
    return (uint32_t)at;
}

static bool parse_declaration(struct parser *p, struct declaration *d)
{
    *d = (struct declaration){.vector = 1};
    while (p->token.kind == TOKEN_dot) {
        if (parse_take_dot(p, "align")) {
            if (!parse_integer(p, &d->align_bytes)) {
                return false;
            }
            if (!is_alignment(d->align_bytes)) {
                return parse_fail(p, SSAN_FORMAT, p->token.line, "bad alignment");
            }
            continue;
        }
        const enum ptx_type type = type_find(p->token.text, p->token.length);
        if (parse_is_dot(p, "v2") || parse_is_dot(p, "v4")) {
            d->vector = parse_is_dot(p, "v2") ? 2 : 4;
        } else if (type != TYPE_none && d->type == TYPE_none) {
            d->type = type;
        } else if (!parse_is_dot(p, "attribute")) {
            return parse_fail(p, SSAN_UNSUPPORTED, p->token.line, "type .%.*s of a variable",
                              shown(p->token.length), p->token.text);
        }
        const bool has_arguments = parse_is_dot(p, "attribute");
        parse_next(p);
        if (has_arguments && parse_take_punct(p, '(')) {
            while (p->token.kind != TOKEN_end && !parse_take_punct(p, ')')) {
                parse_next(p);
            }
        }
    }
    if (d->type == TYPE_none) {
        return parse_fail(p, SSAN_FORMAT, p->token.line, "expected a type");
    }
    if (!d->align_bytes) {
        d->align_bytes = (uint64_t)type_bytes(d->type) * d->vector;
    }
    return true;
}

/* [4][2], [] : the number of elements; 0 with *is_unsized for []. */
static bool parse_dimensions(struct parser *p, uint64_t *count, bool *is_unsized)
{
    *count = 1;
    *is_unsized = false;
    while (parse_take_punct(p, '[')) {
        uint64_t size = 0;
        if (parse_is_punct(p, ']')) {
            *is_unsized = true;
        } else if (!parse_integer(p, &size)) {
            return false;
        }
        if (__builtin_mul_overflow(*count, size, count) || *count > MAX_VARIABLE_BYTES) {
            return parse_fail(p, SSAN_FORMAT, p->token.line, "an array is too large");
        }
        if (!parse_expect(p, ']')) {
            return false;
        }
    }
    return true;
}

struct initialiser {
    struct global *global;
    uint32_t element_bytes;
    enum ptx_type type;
    uint64_t at;
    VEC(struct reloc) relocs;
};

/* name, generic(name), with an offset behind. */
static bool parse_address(struct parser *p, struct initialiser *to)
{
    bool generic = token_is(&p->token, TOKEN_word, "generic");
    if (generic) {
        parse_next(p);
        if (!parse_expect(p, '(')) {
            return false;
        }
    }
    const struct symbol *symbol = symbol_find(p, p->token.text, p->token.length);
    if (!symbol || (symbol->kind != SYMBOL_global && symbol->kind != SYMBOL_func)) {
        return parse_fail(p, SSAN_FORMAT, p->token.line, "'%.*s' is not a variable or function",
                          shown(p->token.length), p->token.text);
    }
    struct reloc reloc = {to->at, to->element_bytes, symbol->kind == SYMBOL_func,
                          (uint32_t)symbol->value, 0};
    parse_next(p);
    uint64_t addend = 0;
    if (generic && !parse_expect(p, ')')) {
        return false;
    }
    if ((parse_is_punct(p, '+') || parse_is_punct(p, '-')) && !parse_integer(p, &addend)) {
        return false;
    }
    reloc.addend = (int64_t)addend;
    if (to->element_bytes != 8 && to->element_bytes != 4) {
        return parse_fail(p, SSAN_UNSUPPORTED, p->token.line, "an address in %u bytes",
                          to->element_bytes);
    }
    return VEC_PUSH(&to->relocs, reloc) || parse_no_memory(p);
}

static bool parse_value(struct parser *p, struct initialiser *to)
{
    if (to->at + to->element_bytes > to->global->pub.size_bytes) {
        return parse_fail(p, SSAN_FORMAT, p->token.line,
                          "an initialiser is longer than its variable");
    }
    uint64_t bits = 0;
    if (p->token.kind == TOKEN_word) {
        if (!parse_address(p, to)) {
            return false;
        }
    } else {
        const bool negative = parse_is_punct(p, '-');
        if (negative) {
            parse_next(p);
        }
        if (p->token.kind != TOKEN_int && p->token.kind != TOKEN_float) {
            return parse_fail(p, SSAN_FORMAT, p->token.line, "expected a value");
        }
        bits = p->token.bits;
        if (p->token.kind == TOKEN_float && p->token.float_bytes == 8 && to->element_bytes == 4) {
            double wide;
            memcpy(&wide, &bits, sizeof wide);
            const float narrow = (float)wide;
            bits = 0;
            memcpy(&bits, &narrow, sizeof narrow);
        }
        if (negative) {
            bits = p->token.kind == TOKEN_int ? 0 - bits
                                              : bits ^ UINT64_C(1) << (8 * to->element_bytes - 1);
        }
        memcpy(to->global->init + to->at, &bits, to->element_bytes);
        parse_next(p);
    }
    to->at += to->element_bytes;
    return true;
}

/* A value, or values in braces; nested braces are read in order. */
static bool parse_values(struct parser *p, struct initialiser *to)
{
    if (!parse_is_punct(p, '{')) {
        return parse_value(p, to);
    }
    int depth = 0;
    do {
        if (parse_take_punct(p, '{')) {
            depth++;
        } else if (parse_take_punct(p, '}')) {
            depth--;
        } else if (!parse_take_punct(p, ',') && !parse_value(p, to)) {
            return false;
        }
    } while (depth > 0 && p->token.kind != TOKEN_end);
    return depth == 0 || parse_fail(p, SSAN_FORMAT, p->token.line, "an initialiser does not end");
}

static bool parse_initialiser(struct parser *p, struct global *global, enum ptx_type type)
{
    struct initialiser to = {.global = global, .element_bytes = type_bytes(type), .type = type};
    bool ok = parse_values(p, &to);
    if (ok && to.relocs.count) {
        struct reloc *relocs = arena_alloc(&p->module->arena, to.relocs.count * sizeof *relocs);
        if (relocs) {
            memcpy(relocs, to.relocs.items, to.relocs.count * sizeof *relocs);
            global->relocs = relocs;
            global->reloc_count = (uint32_t)to.relocs.count;
        } else {
            ok = parse_no_memory(p);
        }
    }
    VEC_FREE(&to.relocs);
    return ok;
}

/* A .global or .const variable; a declaration followed by its definition is one. */
static bool add_global(struct parser *p, const struct token *name, const struct declaration *d,
                       uint64_t size_bytes, bool is_const, bool is_external)
{
    struct symbol *symbol = symbol_find(p, name->text, name->length);
    struct global *global =
        symbol && symbol->kind == SYMBOL_global ? p->module->globals.items[symbol->value] : NULL;
    if (!global || !global->pub.is_external) {
        global = arena_alloc(&p->module->arena, sizeof *global);
        symbol = global ? symbol_add(p, name, SYMBOL_global) : NULL;
        if (!symbol) {
            return parse_no_memory(p);
        }
        symbol->value = p->module->globals.count;
        global->pub.name = arena_strndup(&p->module->arena, name->text, name->length);
        if (!global->pub.name || !VEC_PUSH(&p->module->globals, global)) {
            return parse_no_memory(p);
        }
    }
    global->pub.size_bytes = size_bytes;
    global->pub.align_bytes = d->align_bytes;
    global->pub.is_const = is_const;
    global->pub.is_external = is_external;
    if (is_external) {
        return true;
    }
    global->init = arena_alloc(&p->module->arena, size_bytes ? size_bytes : 1);
    global->pub.init = global->init;
    return global->init || parse_no_memory(p);
}

static bool add_shared(struct parser *p, const struct token *name, const struct declaration *d,
                       uint64_t size_bytes, bool is_dynamic)
{
    struct symbol *symbol = symbol_find(p, name->text, name->length);
    const size_t floor = p->scopes.count ? p->scopes.items[p->scopes.count - 1].symbols : 0;
    if (symbol && symbol->kind == SYMBOL_shared && (size_t)(symbol - p->symbols.items) >= floor) {
        return true; /* .extern twice, or .extern and its definition */
    }
    symbol = symbol_add(p, name, SYMBOL_shared);
    if (!symbol) {
        return false;
    }
    symbol->value = p->shared.count;
    const struct shared_var var = {size_bytes, d->align_bytes, 0, 0, is_dynamic};
    return VEC_PUSH(&p->shared, var) || parse_no_memory(p);
}

/* .local and, inside functions, .param. */
static bool add_frame(struct parser *p, const struct token *name, const struct declaration *d,
                      uint64_t size_bytes, bool is_param)
{
    const uint32_t at = frame_place(p, size_bytes, d->align_bytes);
    struct symbol *symbol = at == UINT32_MAX ? NULL : symbol_add(p, name, SYMBOL_frame);
    if (!symbol) {
        return false;
    }
    symbol->value = at;
    symbol->size_bytes = size_bytes;
    symbol->is_param = is_param;
    return true;
}

static bool add_variable(struct parser *p, const struct token *space, const struct token *name,
                         const struct declaration *d, bool is_external)
{
    uint64_t count;
    bool is_unsized;
    if (!parse_dimensions(p, &count, &is_unsized)) {
        return false;
    }
    const uint64_t size_bytes = count * type_bytes(d->type) * d->vector;
    if (token_is(space, TOKEN_dot, "shared")) {
        return add_shared(p, name, d, size_bytes, is_external && is_unsized);
    }
    if (token_is(space, TOKEN_dot, "local") || token_is(space, TOKEN_dot, "param")) {
        return add_frame(p, name, d, size_bytes, token_is(space, TOKEN_dot, "param"));
    }
    if (!add_global(p, name, d, size_bytes, token_is(space, TOKEN_dot, "const"), is_external)) {
        return false;
    }
    if (parse_take_punct(p, '=')) {
        const struct symbol *symbol = symbol_find(p, name->text, name->length);
        struct global *global = p->module->globals.items[symbol->value];
        return !is_external
                   ? parse_initialiser(p, global, d->type)
                   : parse_fail(p, SSAN_FORMAT, name->line, "an external variable has a value");
    }
    return true;
}

bool parse_variable(struct parser *p, bool is_external)
{
    const struct token space = p->token;
    parse_next(p);
    struct declaration d;
    if (!parse_declaration(p, &d)) {
        return false;
    }
    if (d.type == TYPE_pred) {
        return parse_fail(p, SSAN_FORMAT, space.line, "a variable in memory has type .pred");
    }
    do {
        const struct token name = p->token;
        if (name.kind != TOKEN_word) {
            return parse_fail(p, SSAN_FORMAT, name.line, "expected the name of a variable");
        }
        parse_next(p);
        if (!add_variable(p, &space, &name, &d, is_external)) {
            return false;
        }
    } while (parse_take_punct(p, ','));
    return parse_expect(p, ';');
}

/* .param .b32 x, .param .u64 .ptr .global .align 4 y, .param .align 8 .b8 z[40] */
static bool parse_param(struct parser *p, struct token *name, struct declaration *d,
                        uint64_t *size_bytes)
{
    if (parse_take_dot(p, "reg")) {
        return parse_fail(p, SSAN_UNSUPPORTED, p->token.line, "parameters in registers");
    }
    if (!parse_take_dot(p, "param")) {
        return parse_fail(p, SSAN_FORMAT, p->token.line, "expected .param");
    }
    uint64_t natural = 0;
    *d = (struct declaration){.vector = 1};
    while (p->token.kind == TOKEN_dot) {
        const enum ptx_type type = type_find(p->token.text, p->token.length);
        if (parse_take_dot(p, "align")) {
            /* behind .ptr it is the alignment of what is pointed to */
            if (!parse_integer(p, natural ? &natural : &d->align_bytes)) {
                return false;
            }
            continue;
        }
        if (type != TYPE_none) {
            d->type = type;
        } else if (parse_is_dot(p, "ptr")) {
            natural = 1;
        } else if (!parse_is_dot(p, "global") && !parse_is_dot(p, "const") &&
                   !parse_is_dot(p, "shared") && !parse_is_dot(p, "local")) {
            return parse_fail(p, SSAN_UNSUPPORTED, p->token.line, "parameter type .%.*s",
                              shown(p->token.length), p->token.text);
        }
        parse_next(p);
    }
    *name = p->token;
    if (name->kind != TOKEN_word || d->type == TYPE_none || d->type == TYPE_pred) {
        return parse_fail(p, SSAN_FORMAT, name->line, "bad parameter");
    }
    if (!d->align_bytes) {
        d->align_bytes = type_bytes(d->type);
    }
    if (!is_alignment(d->align_bytes)) {
        return parse_fail(p, SSAN_FORMAT, name->line, "bad alignment");
    }
    parse_next(p);
    uint64_t count;
    bool is_unsized;
    if (!parse_dimensions(p, &count, &is_unsized)) {
        return false;
    }
    *size_bytes = count * type_bytes(d->type);
    return *size_bytes <= MAX_PARAM_BYTES ||
           parse_fail(p, SSAN_FORMAT, name->line, "a parameter is too large");
}

struct param_list {
    VEC(struct param_var) vars;
    VEC(struct ptx_param) kernel;
    uint32_t bytes;
};

static bool add_entry_param(struct parser *p, struct param_list *list, const struct token *name,
                            const struct declaration *d, uint64_t size_bytes)
{
    const uint32_t align = (uint32_t)d->align_bytes;
    const uint32_t at = (list->bytes + align - 1) / align * align;
    struct symbol *symbol = symbol_add(p, name, SYMBOL_param);
    if (!symbol) {
        return false;
    }
    if (at > MAX_PARAM_BYTES) {
        return parse_fail(p, SSAN_FORMAT, name->line, "too many parameters");
    }
    symbol->value = at;
    symbol->size_bytes = size_bytes;
    list->bytes = at + (uint32_t)size_bytes;
    const struct ptx_param param = {at, (uint32_t)size_bytes, align};
    return VEC_PUSH(&list->kernel, param) || parse_no_memory(p);
}

static bool parse_params(struct parser *p, struct param_list *list, bool is_entry)
{
    while (!parse_take_punct(p, ')')) {
        struct token name;
        struct declaration d;
        uint64_t size_bytes = 0;
        if (!parse_param(p, &name, &d, &size_bytes)) {
            return false;
        }
        if (is_entry) {
            if (!add_entry_param(p, list, &name, &d, size_bytes)) {
                return false;
            }
        } else {
            const bool is_sink = name.length == 1 && name.text[0] == '_';
            const uint32_t at = frame_place(p, size_bytes, d.align_bytes);
            struct symbol *symbol =
                at == UINT32_MAX || is_sink ? NULL : symbol_add(p, &name, SYMBOL_frame);
            if (!symbol && !is_sink) {
                return false;
            }
            if (symbol) {
                symbol->value = at;
                symbol->size_bytes = size_bytes;
                symbol->is_param = true;
            }
            const struct param_var var = {at, (uint32_t)size_bytes};
            if (!VEC_PUSH(&list->vars, var)) {
                return parse_no_memory(p);
            }
        }
        if (!parse_is_punct(p, ')') && !parse_expect(p, ',')) {
            return false;
        }
    }
    return true;
}

/* Copies an array into the module's arena. */
static void *keep(struct parser *p, const void *items, size_t count, size_t size_bytes)
{
    void *kept = arena_alloc(&p->module->arena, count ? count * size_bytes : 1);
    if (!kept) {
        parse_no_memory(p);
    } else if (count) {
        memcpy(kept, items, count * size_bytes);
    }
    return kept;
}

bool parse_param_list(struct parser *p, struct func *func, bool is_result)
{
    struct param_list list = {0};
    bool ok = parse_expect(p, '(') && parse_params(p, &list, func->is_entry);
    if (ok && is_result) {
        if (list.vars.count > 1) {
            ok = parse_fail(p, SSAN_UNSUPPORTED, p->token.line, "more than one result");
        } else if (list.vars.count) {
            func->result = list.vars.items[0];
        }
    } else if (ok) {
        func->params = keep(p, list.vars.items, list.vars.count, sizeof *list.vars.items);
        func->param_count = (uint32_t)list.vars.count;
        func->kernel.params =
            keep(p, list.kernel.items, list.kernel.count, sizeof *list.kernel.items);
        func->kernel.param_count = list.kernel.count;
        func->kernel.param_bytes = list.bytes;
        ok = func->params && func->kernel.params;
    }
    VEC_FREE(&list.vars);
    VEC_FREE(&list.kernel);
    return ok;
}
