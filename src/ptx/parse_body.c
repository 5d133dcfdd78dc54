/* Reads the body of a function: register declarations, labels, scopes and instructions.
 *
 * Each instruction is read into a struct inst (opcode, modifiers, operands) and lowered at once.
 * Source lines come from .loc: line 0 (code that the compiler made up) keeps the line before it. */
#include "ptx/parse.h"

#include "base/demangle.h"

#include <string.h>

/* Length of a name in messages. */
void builder_finish(struct builder *b)
{
    VEC_FREE(&b->code);
    VEC_FREE(&b->consts);
    VEC_FREE(&b->specials);
    VEC_FREE(&b->calls);
    VEC_FREE(&b->pool);
    VEC_FREE(&b->refs);
    map_finish(&b->slots);
    map_finish(&b->defs);
    map_finish(&b->const_slots);
}

bool parse_skip_statement(struct parser *p)
{
    while (p->token.kind != TOKEN_end && !parse_is_punct(p, ';')) {
        parse_next(p);
    }
    return parse_expect(p, ';');
}

/* Index in the module's lines; the same place is one entry. */
static uint32_t intern_line(struct parser *p)
{
    const uint64_t key =
        (uint64_t)p->source_file << 48 ^ (uint64_t)p->function_serial << 24 ^ p->source_line;
    const uint64_t *known = map_find(&p->line_ids, key);
    if (known) {
        return (uint32_t)*known;
    }
    /* `file` holds the number until module_finish knows all names */
    const struct ptx_line line = {(const char *)(uintptr_t)p->source_file, p->function,
                                  p->source_line};
    if (!VEC_PUSH(&p->module->lines, line) ||
        !map_set(&p->line_ids, key, p->module->lines.count - 1)) {
        parse_no_memory(p);
        return 0;
    }
    return (uint32_t)(p->module->lines.count - 1);
}

bool parse_loc(struct parser *p)
{
    parse_next(p);
    uint64_t file, line, column;
    if (!parse_integer(p, &file) || !parse_integer(p, &line) || !parse_integer(p, &column)) {
        return false;
    }
    if (line) {
        p->source_file = (uint32_t)file & 0xffff;
        p->source_line = (uint32_t)line & 0xffffff;
        p->b.line = p->b.func ? intern_line(p) : 0;
    }
    /* , function_name label {+ offset}, inlined_at file line column */
    while (parse_take_punct(p, ',')) {
        while (p->token.kind == TOKEN_word || p->token.kind == TOKEN_int ||
               parse_is_punct(p, '+')) {
            const bool at_label = p->token.kind == TOKEN_word;
            struct lexer ahead = p->lexer;
            const struct token next = lex_next(&ahead);
            if (at_label && next.kind == TOKEN_punct && next.punct == ':') {
                return true;
            }
            if (p->token.line != next.line && next.kind != TOKEN_punct) {
                parse_next(p);
                return true;
            }
            parse_next(p);
        }
    }
    return true;
}

/* .reg .b32 %r<6>, %x; */
static bool parse_registers(struct parser *p)
{
    parse_next(p);
    enum ptx_type type =
        p->token.kind == TOKEN_dot ? type_find(p->token.text, p->token.length) : TYPE_none;
    if (type == TYPE_none) {
        return parse_fail(p, SSAN_UNSUPPORTED, p->token.line, "register type %.*s",
                          shown(p->token.length), p->token.text);
    }
    parse_next(p);
    do {
        const struct token name = p->token;
        if (name.kind != TOKEN_word) {
            return parse_fail(p, SSAN_FORMAT, name.line, "expected the name of a register");
        }
        parse_next(p);
        uint64_t count = 0;
        if (parse_take_punct(p, '<') && (!parse_integer(p, &count) || !parse_expect(p, '>'))) {
            return false;
        }
        struct symbol *symbol = symbol_add(p, &name, count ? SYMBOL_registers : SYMBOL_register);
        if (!symbol) {
            return false;
        }
        symbol->type = type;
        symbol->count = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
        const uint64_t words = (count ? count - 1 : 1) * (type_bytes(type) > 4 ? 2 : 1);
        p->b.register_words += type == TYPE_pred ? 0 : words > 255 ? 255 : (uint32_t)words;
    } while (parse_take_punct(p, ','));
    return parse_expect(p, ';');
}

static bool parse_instruction(struct parser *p)
{
    struct inst in = {.line = p->token.line};
    p->b.first_fresh = p->b.file_bytes;
    if (!parse_guard(p)) {
        return false;
    }
    if (p->token.kind != TOKEN_word) {
        return parse_fail(p, SSAN_FORMAT, p->token.line, "expected an instruction before '%.*s'",
                          shown(p->token.length), p->token.text);
    }
    in.opcode = p->token.text;
    in.opcode_length = p->token.length;
    parse_next(p);
    while (p->token.kind == TOKEN_dot) {
        if (in.mod_count == MAX_MODS) {
            return parse_fail(p, SSAN_UNSUPPORTED, in.line, "more than %d modifiers", MAX_MODS);
        }
        in.mods[in.mod_count++] = (struct mod){p->token.text, p->token.length, false};
        parse_next(p);
    }
    return parse_operands(p, &in) && lower_instruction(p, &in);
}

static bool add_label(struct parser *p, const struct token *name)
{
    struct symbol *symbol = symbol_add(p, name, SYMBOL_label);
    if (symbol) {
        symbol->value = p->b.code.count;
    }
    return symbol != NULL;
}

/* L: .branchtargets a, b;   or   L: .callprototype ...; */
static bool parse_labelled_directive(struct parser *p, const struct token *name)
{
    if (parse_is_dot(p, "callprototype")) {
        return symbol_add(p, name, SYMBOL_prototype) && parse_skip_statement(p);
    }
    parse_next(p);
    struct symbol *symbol = symbol_add(p, name, SYMBOL_targets);
    if (!symbol) {
        return false;
    }
    symbol->value = p->targets.count;
    struct target_list list = {(uint32_t)p->b.pool.count, 0};
    do {
        const struct label_ref ref = {p->token.text, p->token.length, (uint32_t)p->b.pool.count,
                                      true, p->token.line};
        if (p->token.kind != TOKEN_word) {
            return parse_fail(p, SSAN_FORMAT, p->token.line, "expected a label");
        }
        if (!VEC_PUSH(&p->b.pool, UINT32_MAX) || !VEC_PUSH(&p->b.refs, ref)) {
            return parse_no_memory(p);
        }
        list.count++;
        parse_next(p);
    } while (parse_take_punct(p, ','));
    return (VEC_PUSH(&p->targets, list) || parse_no_memory(p)) && parse_expect(p, ';');
}

static bool parse_body_directive(struct parser *p)
{
    if (parse_is_dot(p, "reg")) {
        return parse_registers(p);
    }
    if (parse_is_dot(p, "local") || parse_is_dot(p, "shared") || parse_is_dot(p, "param") ||
        parse_is_dot(p, "global") || parse_is_dot(p, "const")) {
        return parse_variable(p, false);
    }
    if (parse_is_dot(p, "loc")) {
        return parse_loc(p);
    }
    if (parse_is_dot(p, "pragma")) {
        return parse_skip_statement(p);
    }
    if (parse_is_dot(p, "extern")) {
        parse_next(p);
        return parse_variable(p, true);
    }
    return parse_fail(p, SSAN_UNSUPPORTED, p->token.line, "directive .%.*s in a function",
                      shown(p->token.length), p->token.text);
}

static bool parse_statement(struct parser *p)
{
    if (p->token.kind == TOKEN_dot) {
        return parse_body_directive(p);
    }
    if (parse_take_punct(p, ';')) {
        return true;
    }
    if (p->token.kind == TOKEN_word) {
        struct lexer ahead = p->lexer;
        const struct token next = lex_next(&ahead);
        if (next.kind == TOKEN_punct && next.punct == ':') {
            const struct token name = p->token;
            parse_next(p);
            parse_next(p);
            const bool is_list =
                parse_is_dot(p, "branchtargets") || parse_is_dot(p, "callprototype");
            return is_list ? parse_labelled_directive(p, &name) : add_label(p, &name);
        }
    }
    return parse_instruction(p);
}

/* Statements up to the brace that closes the function. */
static bool parse_statements(struct parser *p)
{
    const size_t outer = p->scopes.count;
    while (p->scopes.count > outer || !parse_is_punct(p, '}')) {
        bool ok;
        if (p->token.kind == TOKEN_end) {
            ok = parse_fail(p, SSAN_FORMAT, p->token.line, "a function does not end");
        } else if (parse_take_punct(p, '{')) {
            ok = scope_open(p);
        } else if (parse_take_punct(p, '}')) {
            ok = scope_close(p);
        } else {
            ok = parse_statement(p);
        }
        if (!ok) {
            return false;
        }
    }
    parse_next(p);
    return true;
}

/* Instructions whose first operand is read. */
static bool has_no_result(const struct token *opcode)
{
    static const char *const names[] = {"st", "red", "bra", "brx", "call"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (token_is(opcode, TOKEN_word, names[i])) {
            return true;
        }
    }
    return false;
}

/* Counts the registers of an instruction's first operand; `token` is behind the opcode, then behind
 * the instruction. */
static bool count_results(struct parser *p, struct lexer *lexer, struct token *token)
{
    bool in_braces = false;
    while (token->kind != TOKEN_end &&
           !(token->kind == TOKEN_punct &&
             (token->punct == ';' || (token->punct == ',' && !in_braces)))) {
        if (token->kind == TOKEN_punct && (token->punct == '{' || token->punct == '}')) {
            in_braces = token->punct == '{';
        } else if (token->kind == TOKEN_word && token->text[0] == '%') {
            const uint64_t hash = hash_name(token->text, token->length);
            const uint64_t *count = map_find(&p->b.defs, hash);
            if (!map_set(&p->b.defs, hash, count ? *count + 1 : 1)) {
                return parse_no_memory(p);
            }
        }
        *token = lex_next(lexer);
    }
    return true;
}

static void skip_to_semicolon(struct lexer *lexer, struct token *token)
{
    while (token->kind != TOKEN_end && !(token->kind == TOKEN_punct && token->punct == ';')) {
        *token = lex_next(lexer);
    }
}

/* Looks ahead over the body: how many instructions write each register. Counts too many rather than
 * too few. */
static bool count_defs(struct parser *p)
{
    struct lexer lexer = p->lexer;
    struct token token = p->token;
    for (int depth = 0; token.kind != TOKEN_end; token = lex_next(&lexer)) {
        if (token.kind == TOKEN_punct) {
            depth += token.punct == '{' ? 1 : token.punct == '}' ? -1 : 0;
            if (depth == 0) {
                return true;
            }
            if (token.punct == '@') {
                do {
                    token = lex_next(&lexer);
                } while (token.kind == TOKEN_punct && token.punct == '!');
            }
        } else if (token_is(&token, TOKEN_dot, "loc")) {
            struct lexer ahead = lexer;
            for (struct token next = lex_next(&ahead);
                 next.line == token.line && next.kind != TOKEN_end; next = lex_next(&ahead)) {
                lexer = ahead;
            }
        } else if (token.kind == TOKEN_dot) {
            skip_to_semicolon(&lexer, &token);
        } else if (token.kind == TOKEN_word) {
            const struct token opcode = token;
            token = lex_next(&lexer);
            if (token.kind == TOKEN_punct && token.punct == ':') {
                continue;
            }
            if (!has_no_result(&opcode) && !count_results(p, &lexer, &token)) {
                return false;
            }
            skip_to_semicolon(&lexer, &token);
        }
    }
    return true;
}

#define KEEP(target, vec)                                                                          \
    ((target) = arena_alloc(arena, (vec).count ? (vec).count * sizeof *(vec).items : 1),           \
     (target) ? ((vec).count ? (void)memcpy((void *)(uintptr_t)(target), (vec).items,              \
                                            (vec).count * sizeof *(vec).items)                     \
                             : (void)0,                                                            \
                 true)                                                                             \
              : false)

/* Orders the special registers by scope. */
static void sort_specials(struct builder *b, struct func *func)
{
    uint32_t at = 0;
    for (int scope = 0; scope < SCOPE_count; scope++) {
        for (uint32_t i = at; i < b->specials.count; i++) {
            const struct special_slot s = b->specials.items[i];
            if ((int)special_scope(s.special) == scope) {
                b->specials.items[i] = b->specials.items[at];
                b->specials.items[at++] = s;
            }
        }
        func->special_end[scope] = at;
    }
}

/* Moves what was built into the module. */
static bool keep_body(struct parser *p, struct func *func)
{
    struct builder *b = &p->b;
    struct arena *arena = &p->module->arena;
    sort_specials(b, func);
    if (!KEEP(func->code, b->code) || !KEEP(func->consts, b->consts) ||
        !KEEP(func->specials, b->specials) || !KEEP(func->calls, b->calls) ||
        !KEEP(func->pool, b->pool)) {
        return parse_no_memory(p);
    }
    func->code_count = (uint32_t)b->code.count;
    func->const_count = (uint32_t)b->consts.count;
    func->call_count = (uint32_t)b->calls.count;
    func->file_bytes = b->file_bytes;
    func->local_bytes = b->frame_top;
    func->kernel.registers = b->register_words < 16    ? 16
                             : b->register_words > 255 ? 255
                                                       : b->register_words;
    return true;
}

bool parse_body(struct parser *p, struct func *func)
{
    const uint32_t frame_bytes = p->b.frame_bytes, frame_top = p->b.frame_top;
    p->function = demangle_name(&p->module->arena, func->name);
    p->function_serial++;
    if (!p->function) {
        return parse_no_memory(p);
    }
    builder_finish(&p->b);
    /* The first 64 bytes of a register file are unused, so that slot 0 means none. */
    p->b = (struct builder){
        .func = func, .file_bytes = 64, .frame_bytes = frame_bytes, .frame_top = frame_top};
    p->targets.count = 0;
    if (!count_defs(p)) {
        return false;
    }
    parse_next(p);
    if (!scope_open(p) || !parse_statements(p)) {
        return false;
    }
    p->b.guard = 0;
    struct op *end = emit_fn(p, NULL, OP_CONTROL); /* falling off the end returns */
    if (!end || !lower_end(p, end) || !scope_close(p)) {
        return false;
    }
    if (p->b.refs.count) {
        const struct label_ref *ref = &p->b.refs.items[0];
        return parse_fail(p, SSAN_FORMAT, ref->line, "there is no label '%.*s'", shown(ref->length),
                          ref->text);
    }
    const bool ok = code_straighten(p) && keep_body(p, func);
    p->b.func = NULL;
    return ok;
}
