/* Types, names and their scopes. A name that a scope hides comes back when the scope ends; labels
 * are bound to the branches that named them before. */
#include "ptx/parse.h"

#include <string.h>

static const struct {
    const char *name;
    uint32_t bytes;
    char cls;
} types[] = {
#define TYPE(name, bytes, cls) [TYPE_##name] = {#name, bytes, #cls[0]},
#include "ptx/types.def"
#undef TYPE
    [TYPE_pred] = {"pred", 4, 'P'},
};

enum ptx_type type_find(const char *text, size_t length)
{
    for (uint32_t i = 1; i < sizeof types / sizeof *types; i++) {
        if (strlen(types[i].name) == length && memcmp(types[i].name, text, length) == 0) {
            return (enum ptx_type)i;
        }
    }
    return TYPE_none;
}

uint32_t type_bytes(enum ptx_type type)
{
    return types[type].bytes;
}

bool type_is_signed(enum ptx_type type)
{
    return types[type].cls == 'S';
}

bool type_is_float(enum ptx_type type)
{
    return types[type].cls == 'F';
}

uint64_t hash_name(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static struct symbol *find_hashed(struct parser *p, const char *text, size_t length, uint64_t hash)
{
    const uint64_t *index = map_find(&p->names, hash);
    if (!index || *index == 0) {
        return NULL;
    }
    struct symbol *symbol = &p->symbols.items[*index - 1];
    return symbol->length == length && memcmp(symbol->text, text, length) == 0 ? symbol : NULL;
}

struct symbol *symbol_find(struct parser *p, const char *text, size_t length)
{
    return find_hashed(p, text, length, hash_name(text, length));
}

/* %r<4> declares %r0 to %r3 but not %r: prefixes of ranges are names of their own kind. */
#define RANGE_NAMES UINT64_C(0x9e3779b97f4a7c15)

struct symbol *symbol_find_range(struct parser *p, const char *prefix, size_t length)
{
    return find_hashed(p, prefix, length, hash_name(prefix, length) ^ RANGE_NAMES);
}

struct symbol *symbol_add(struct parser *p, const struct token *name, enum symbol_kind kind)
{
    const uint64_t hash =
        hash_name(name->text, name->length) ^ (kind == SYMBOL_registers ? RANGE_NAMES : 0);
    const uint64_t *old = map_find(&p->names, hash);
    const size_t floor = p->scopes.count ? p->scopes.items[p->scopes.count - 1].symbols : 0;
    if (old && *old > floor) {
        parse_fail(p, SSAN_FORMAT, name->line, "'%.*s' is declared twice", shown(name->length),
                   name->text);
        return NULL;
    }
    const struct symbol symbol = {.text = name->text,
                                  .length = name->length,
                                  .hash = hash,
                                  .kind = kind,
                                  .id = ++p->next_id,
                                  .shadowed = old ? *old : 0};
    if (!VEC_PUSH(&p->symbols, symbol)) {
        parse_no_memory(p);
        return NULL;
    }
    if (!map_set(&p->names, hash, p->symbols.count)) {
        p->symbols.count--;
        parse_no_memory(p);
        return NULL;
    }
    return &p->symbols.items[p->symbols.count - 1];
}

bool scope_open(struct parser *p)
{
    const struct scope scope = {p->symbols.count, p->b.refs.count, p->b.frame_bytes};
    if (p->scopes.count >= 256) {
        return parse_fail(p, SSAN_FORMAT, p->token.line, "braces are nested too deep");
    }
    return VEC_PUSH(&p->scopes, scope) || parse_no_memory(p);
}

/* Branches to labels of this scope are patched, the others are left to the scope around it. */
static void bind_refs(struct parser *p, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < p->b.refs.count; i++) {
        const struct label_ref ref = p->b.refs.items[i];
        const struct symbol *label = symbol_find(p, ref.text, ref.length);
        if (!label || label->kind != SYMBOL_label) {
            p->b.refs.items[kept++] = ref;
        } else if (ref.in_pool) {
            p->b.pool.items[ref.op] = (uint32_t)label->value;
        } else {
            p->b.code.items[ref.op].aux = (uint32_t)label->value;
        }
    }
    p->b.refs.count = kept;
}

bool scope_close(struct parser *p)
{
    const struct scope scope = p->scopes.items[--p->scopes.count];
    bind_refs(p, scope.refs);
    while (p->symbols.count > scope.symbols) {
        const struct symbol *symbol = &p->symbols.items[--p->symbols.count];
        if (!symbol->shadowed) {
            map_remove(&p->names, symbol->hash);
        } else if (!map_set(&p->names, symbol->hash, symbol->shadowed)) {
            return parse_no_memory(p);
        }
    }
    p->b.frame_bytes = scope.frame_bytes;
    return true;
}
