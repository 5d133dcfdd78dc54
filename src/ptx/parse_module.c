/* Reads a module: its directives, names and errors.
 *
 * One pass over the tokens. Names live in one hash map with scopes: a declaration hides an outer
 * one until its scope closes. Everything that outlives the parse is in the module's arena. */
#include "ptx/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void parse_next(struct parser *p)
{
    p->token = lex_next(&p->lexer);
}

/* Files beside the source come with "./" in front; the lines of the host have them without. */
static const char *keep_file_name(struct parser *p, const struct token *name)
{
    const char *text = name->text;
    size_t length = name->length;
    while (length > 2 && memcmp(text, "./", 2) == 0) {
        text += 2;
        length -= 2;
    }
    return arena_strndup(&p->module->arena, text, length);
}

/* The name of .file `number`, which may stand anywhere in the text; NULL when there is none. */
static const char *find_file(struct parser *p, uint32_t number)
{
    const uint64_t *index = map_find(&p->files, number);
    if (index) {
        return p->file_names.items[*index - 1];
    }
    const char *at = p->text, *end = p->text + p->text_length;
    while ((at = memmem(at, (size_t)(end - at), ".file", 5))) {
        at += 5;
        struct lexer lexer;
        lex_init(&lexer, at, (size_t)(end - at));
        const struct token id = lex_next(&lexer), name = lex_next(&lexer);
        if (id.kind == TOKEN_int && id.bits == number && name.kind == TOKEN_string) {
            return keep_file_name(p, &name);
        }
    }
    return NULL;
}

bool parse_fail(struct parser *p, enum ssan_status status, uint32_t line, const char *format, ...)
{
    if (p->status != SSAN_OK) {
        return false;
    }
    char text[320], where[160] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (p->source_line) {
        const char *file = find_file(p, p->source_file);
        snprintf(where, sizeof where, " (from %s:%u)", file ? file : "?", p->source_line);
    }
    p->status = ssan_fail(p->err, status, line, "PTX line %u: %s%s", line, text, where);
    return false;
}

bool parse_no_memory(struct parser *p)
{
    return parse_fail(p, SSAN_NO_MEMORY, p->token.line, "out of memory");
}

bool parse_is_punct(const struct parser *p, char punct)
{
    return p->token.kind == TOKEN_punct && p->token.punct == punct;
}

bool parse_is_dot(const struct parser *p, const char *text)
{
    return token_is(&p->token, TOKEN_dot, text);
}

bool parse_take_punct(struct parser *p, char punct)
{
    if (!parse_is_punct(p, punct)) {
        return false;
    }
    parse_next(p);
    return true;
}

bool parse_take_dot(struct parser *p, const char *text)
{
    if (!parse_is_dot(p, text)) {
        return false;
    }
    parse_next(p);
    return true;
}

bool parse_expect(struct parser *p, char punct)
{
    return parse_take_punct(p, punct) ||
           parse_fail(p, SSAN_FORMAT, p->token.line, "expected '%c' before '%.*s'", punct,
                      (int)(p->token.length < 40 ? p->token.length : 40), p->token.text);
}

bool parse_integer(struct parser *p, uint64_t *value)
{
    const bool negative = parse_take_punct(p, '-');
    if (!negative) {
        parse_take_punct(p, '+');
    }
    if (p->token.kind != TOKEN_int) {
        return parse_fail(p, SSAN_FORMAT, p->token.line, "expected a number");
    }
    *value = negative ? 0 - p->token.bits : p->token.bits;
    parse_next(p);
    return true;
}

/* The .func or .entry of that name, declared now if need be. */
static struct func *intern_func(struct parser *p, const struct token *name, bool is_entry)
{
    struct symbol *symbol = symbol_find(p, name->text, name->length);
    if (symbol) {
        if (symbol->kind == SYMBOL_func &&
            p->module->funcs.items[symbol->value]->is_entry == is_entry) {
            return p->module->funcs.items[symbol->value];
        }
        parse_fail(p, SSAN_FORMAT, name->line, "'%.*s' is declared twice", (int)name->length,
                   name->text);
        return NULL;
    }
    struct func *func = arena_alloc(&p->module->arena, sizeof *func);
    symbol = func ? symbol_add(p, name, SYMBOL_func) : NULL;
    if (!symbol) {
        parse_no_memory(p);
        return NULL;
    }
    symbol->value = p->module->funcs.count;
    func->index = (uint32_t)p->module->funcs.count;
    func->name = arena_strndup(&p->module->arena, name->text, name->length);
    func->is_entry = is_entry;
    func->first_line = name->line;
    func->external = -1;
    if (!func->name || !VEC_PUSH(&p->module->funcs, func)) {
        parse_no_memory(p);
        return NULL;
    }
    return func;
}

/* .maxntid x,y,z and its like, between the parameters and the body. */
static bool parse_performance(struct parser *p, struct func *func)
{
    while (p->token.kind == TOKEN_dot) {
        const bool is_max = parse_is_dot(p, "maxntid") || parse_is_dot(p, "reqntid");
        const bool known = is_max || parse_is_dot(p, "minnctapersm") ||
                           parse_is_dot(p, "maxnctapersm") || parse_is_dot(p, "maxnreg") ||
                           parse_is_dot(p, "noreturn") || parse_is_dot(p, "pragma") ||
                           parse_is_dot(p, "abi_preserve") || parse_is_dot(p, "unique");
        if (!known) {
            return parse_fail(p, SSAN_UNSUPPORTED, p->token.line, "directive .%.*s of a function",
                              (int)p->token.length, p->token.text);
        }
        parse_next(p);
        uint64_t product = 1;
        if (p->token.kind == TOKEN_string) {
            parse_next(p);
            parse_take_punct(p, ';');
        }
        while (p->token.kind == TOKEN_int) {
            product *= p->token.bits & 0xffff;
            parse_next(p);
            parse_take_punct(p, ',');
        }
        if (is_max) {
            func->kernel.max_threads = (uint32_t)product;
        }
    }
    return true;
}

/* The name behind the result list of a .func, without reading that list. */
static struct token peek_name(const struct parser *p)
{
    struct lexer ahead = p->lexer;
    struct token token = p->token;
    int depth = 0;
    while (token.kind != TOKEN_end) {
        if (token.kind == TOKEN_punct) {
            depth += token.punct == '(' ? 1 : token.punct == ')' ? -1 : 0;
        } else if (depth == 0) {
            break;
        }
        token = lex_next(&ahead);
    }
    return token;
}

/* A declaration or definition, behind .entry or .func. */
static bool parse_function(struct parser *p, bool is_entry)
{
    parse_take_dot(p, "noreturn");
    const struct token name = peek_name(p);
    if (name.kind != TOKEN_word) {
        return parse_fail(p, SSAN_FORMAT, name.line, "expected the name of a function");
    }
    struct func *func = intern_func(p, &name, is_entry);
    if (!func || !scope_open(p)) {
        return false;
    }
    p->b.frame_bytes = p->b.frame_top = 0;
    p->source_line = 0;
    if (!is_entry && parse_is_punct(p, '(') && !parse_param_list(p, func, true)) {
        return false;
    }
    parse_next(p); /* the name */
    if (parse_is_punct(p, '(') && !parse_param_list(p, func, false)) {
        return false;
    }
    if (!parse_performance(p, func)) {
        return false;
    }
    if (parse_is_punct(p, '{')) {
        if (func->is_defined) {
            return parse_fail(p, SSAN_FORMAT, name.line, "'%s' is defined twice", func->name);
        }
        func->is_defined = true;
        func->first_line = name.line;
        if (!parse_body(p, func)) {
            return false;
        }
        if (is_entry && !VEC_PUSH(&p->module->entries, func)) {
            return parse_no_memory(p);
        }
    } else if (!parse_take_punct(p, ';')) {
        return parse_fail(p, SSAN_FORMAT, p->token.line, "expected the body of '%s'", func->name);
    }
    return scope_close(p);
}

static bool parse_file(struct parser *p)
{
    parse_next(p);
    uint64_t number;
    if (!parse_integer(p, &number)) {
        return false;
    }
    if (p->token.kind != TOKEN_string) {
        return parse_fail(p, SSAN_FORMAT, p->token.line, "expected the name of a file");
    }
    const char *name = keep_file_name(p, &p->token);
    if (!name || !VEC_PUSH(&p->file_names, name) ||
        !map_set(&p->files, number, p->file_names.count)) {
        return parse_no_memory(p);
    }
    parse_next(p);
    while (parse_take_punct(p, ',')) {
        uint64_t ignored;
        if (!parse_integer(p, &ignored)) {
            return false;
        }
    }
    return true;
}

/* .section name { data }: line tables and the like. */
static bool parse_section(struct parser *p)
{
    while (p->token.kind != TOKEN_end && !parse_is_punct(p, '{')) {
        parse_next(p);
    }
    int depth = 0;
    do {
        depth += parse_is_punct(p, '{') ? 1 : parse_is_punct(p, '}') ? -1 : 0;
        parse_next(p);
    } while (depth > 0 && p->token.kind != TOKEN_end);
    return depth == 0 || parse_fail(p, SSAN_FORMAT, p->token.line, "a section does not end");
}

static bool parse_version(struct parser *p)
{
    parse_next(p);
    if (p->token.kind != TOKEN_float && p->token.kind != TOKEN_int) {
        return parse_fail(p, SSAN_FORMAT, p->token.line, "expected a version");
    }
    parse_next(p);
    return true;
}

static bool parse_address_size(struct parser *p)
{
    parse_next(p);
    uint64_t bits;
    if (!parse_integer(p, &bits)) {
        return false;
    }
    return bits == 64 || parse_fail(p, SSAN_UNSUPPORTED, p->token.line, "addresses of %llu bits",
                                    (unsigned long long)bits);
}

/* sm_70, debug, ... */
static void parse_target(struct parser *p)
{
    do {
        parse_next(p);
        if (p->token.kind == TOKEN_word) {
            parse_next(p);
        }
    } while (parse_is_punct(p, ','));
}

static bool parse_directive(struct parser *p)
{
    bool is_external = false;
    while (parse_is_dot(p, "visible") || parse_is_dot(p, "extern") || parse_is_dot(p, "weak") ||
           parse_is_dot(p, "common")) {
        is_external |= parse_is_dot(p, "extern");
        parse_next(p);
    }
    if (parse_is_dot(p, "entry") || parse_is_dot(p, "func")) {
        const bool is_entry = parse_is_dot(p, "entry");
        parse_next(p);
        return parse_function(p, is_entry);
    }
    if (parse_is_dot(p, "global") || parse_is_dot(p, "const") || parse_is_dot(p, "shared")) {
        return parse_variable(p, is_external);
    }
    if (parse_is_dot(p, "version")) {
        return parse_version(p);
    }
    if (parse_is_dot(p, "target")) {
        parse_target(p);
        return true;
    }
    if (parse_is_dot(p, "address_size")) {
        return parse_address_size(p);
    }
    if (parse_is_dot(p, "file")) {
        return parse_file(p);
    }
    if (parse_is_dot(p, "section")) {
        return parse_section(p);
    }
    if (parse_is_dot(p, "loc")) {
        return parse_loc(p);
    }
    if (parse_is_dot(p, "pragma") || parse_is_dot(p, "alias")) {
        return parse_skip_statement(p);
    }
    return parse_fail(p, SSAN_UNSUPPORTED, p->token.line, "directive .%.*s", shown(p->token.length),
                      p->token.text);
}

static bool parse_items(struct parser *p)
{
    if (!parse_is_dot(p, "version")) {
        return parse_fail(p, SSAN_FORMAT, p->token.line, "PTX begins with .version");
    }
    while (p->token.kind != TOKEN_end) {
        if (parse_take_punct(p, ';')) {
            continue;
        }
        if (p->token.kind != TOKEN_dot) {
            return parse_fail(p, SSAN_FORMAT, p->token.line, "expected a directive before '%.*s'",
                              (int)(p->token.length < 40 ? p->token.length : 40), p->token.text);
        }
        if (!parse_directive(p)) {
            return false;
        }
    }
    return true;
}

static void parser_finish(struct parser *p)
{
    VEC_FREE(&p->symbols);
    VEC_FREE(&p->scopes);
    VEC_FREE(&p->shared);
    VEC_FREE(&p->targets);
    VEC_FREE(&p->file_names);
    map_finish(&p->names);
    map_finish(&p->files);
    map_finish(&p->line_ids);
    builder_finish(&p->b);
}

enum ssan_status ptx_parse(struct ptx_module **module, const char *text, size_t length,
                           struct ssan_error *err)
{
    struct ptx_module *made = mem_zalloc(1, sizeof *made);
    if (!made) {
        return ssan_no_memory(err);
    }
    while (length && text[length - 1] == '\0') {
        length--;
    }
    struct parser p = {
        .module = made, .err = err, .isa = lane_isa_get(), .text = text, .text_length = length};
    lex_init(&p.lexer, text, length);
    parse_next(&p);
    const struct ptx_line none = {0};
    if (!VEC_PUSH(&made->lines, none)) {
        parse_no_memory(&p);
    } else if (parse_items(&p)) {
        module_finish(&p);
    }
    const enum ssan_status status = p.status;
    parser_finish(&p);
    if (status != SSAN_OK) {
        ptx_destroy(made);
        return status;
    }
    *module = made;
    return SSAN_OK;
}
