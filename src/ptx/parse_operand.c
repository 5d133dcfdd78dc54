/* Operands of an instruction, read into a struct inst: registers, immediates, special registers,
 * addresses, vectors, names. */
#include "ptx/parse.h"

#include <string.h>

/* Finds %r12 in a range %r<20>. */
static const struct symbol *find_register(struct parser *p, const struct token *token,
                                          uint32_t *number)
{
    size_t digits = 0;
    uint64_t value = 0, unit = 1;
    while (digits < token->length && digits < 9 && token->text[token->length - 1 - digits] >= '0' &&
           token->text[token->length - 1 - digits] <= '9') {
        value += unit * (uint64_t)(token->text[token->length - 1 - digits] - '0');
        unit *= 10;
        digits++;
        const struct symbol *symbol = symbol_find_range(p, token->text, token->length - digits);
        if (symbol && value < symbol->count) {
            *number = (uint32_t)value;
            return symbol;
        }
    }
    return NULL;
}

static bool find_special(const struct token *token, const struct token *suffix,
                         enum ptx_special *special)
{
    static const struct {
        const char *name;
        enum ptx_special special;
    } names[] = {
#define SPECIAL(name, id, bytes) {name, SPECIAL_##id},
#define CLOCKS
#include "ptx/specials.def"
#undef SPECIAL
#undef CLOCKS
    };
    char name[32];
    const size_t total = token->length + (suffix ? suffix->length + 1 : 0);
    if (total >= sizeof name) {
        return false;
    }
    memcpy(name, token->text, token->length);
    if (suffix) {
        name[token->length] = '.';
        memcpy(name + token->length + 1, suffix->text, suffix->length);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i].name) == total && memcmp(names[i].name, name, total) == 0) {
            *special = names[i].special;
            return true;
        }
    }
    return false;
}

/* A name in an operand: special register, register, variable, function or label. */
static bool read_name_operand(struct parser *p, struct operand *o)
{
    const struct token token = p->token;
    parse_next(p);
    o->text = token.text;
    o->length = token.length;
    const struct symbol *symbol = symbol_find(p, token.text, token.length);
    uint32_t number = 0;
    if (!symbol) {
        symbol = find_register(p, &token, &number);
    }
    if (symbol && (symbol->kind == SYMBOL_register || symbol->kind == SYMBOL_registers)) {
        o->kind = OPERAND_register;
        o->type = symbol->type;
        o->key = (uint64_t)symbol->id << 32 | number;
        o->slot = slot_register(p, symbol, number);
        return o->slot != 0;
    }
    if (symbol) {
        o->kind = OPERAND_symbol;
        o->symbol = (size_t)(symbol - p->symbols.items);
        return true;
    }
    if (token.length == 1 && token.text[0] == '_') {
        o->kind = OPERAND_sink;
        return true;
    }
    if (token.text[0] == '%') {
        const struct token suffix = p->token;
        const bool has_suffix = suffix.kind == TOKEN_dot;
        if (!find_special(&token, has_suffix ? &suffix : NULL, &o->special)) {
            return parse_fail(p, SSAN_UNSUPPORTED, token.line, "register %.*s", shown(token.length),
                              token.text);
        }
        if (has_suffix) {
            parse_next(p);
        }
        o->kind = OPERAND_special;
        return true;
    }
    if (token_is(&token, TOKEN_word, "WARP_SZ")) {
        o->kind = OPERAND_int;
        o->bits = WARP_LANES;
        return true;
    }
    o->kind = OPERAND_name;
    return true;
}

/* + and - behind a name or register. */
static bool read_addend(struct parser *p, struct operand *o)
{
    while (parse_is_punct(p, '+') || parse_is_punct(p, '-')) {
        uint64_t value;
        if (parse_is_punct(p, '+')) {
            parse_next(p);
        }
        if (!parse_integer(p, &value)) {
            return false;
        }
        o->addend = (int64_t)((uint64_t)o->addend + value);
    }
    return true;
}

static bool read_operand(struct parser *p, struct inst *in, struct operand *o, bool nested);

/* {a, b}: elements go to the instruction. */
static bool read_vector(struct parser *p, struct inst *in, struct operand *o)
{
    struct operand elements[8];
    uint32_t count = 0;
    do {
        if (count == 8) {
            return parse_fail(p, SSAN_UNSUPPORTED, in->line, "a vector of more than 8 elements");
        }
        if (!read_operand(p, in, &elements[count++], true)) {
            return false;
        }
    } while (parse_take_punct(p, ','));
    if (in->element_count + count > MAX_ELEMENTS) {
        return parse_fail(p, SSAN_FORMAT, in->line, "too many operands");
    }
    o->kind = OPERAND_vector;
    o->first = in->element_count;
    o->count = count;
    memcpy(in->elements + in->element_count, elements, count * sizeof *elements);
    in->element_count += count;
    return parse_expect(p, '}');
}

/* [base + offset] */
static bool read_memory(struct parser *p, struct operand *o)
{
    if (p->token.kind == TOKEN_word) {
        if (!read_name_operand(p, o)) {
            return false;
        }
        if (o->kind != OPERAND_register && o->kind != OPERAND_symbol) {
            return parse_fail(p, SSAN_FORMAT, p->token.line, "'%.*s' is not declared",
                              shown(o->length), o->text);
        }
        o->has_register = o->kind == OPERAND_register;
        o->has_symbol = o->kind == OPERAND_symbol;
    } else {
        uint64_t value;
        if (!parse_integer(p, &value)) {
            return false;
        }
        o->addend = (int64_t)value;
    }
    o->kind = OPERAND_memory;
    if (!read_addend(p, o)) {
        return false;
    }
    if (parse_is_punct(p, ',')) {
        return parse_fail(p, SSAN_UNSUPPORTED, p->token.line, "an operand with coordinates");
    }
    return parse_expect(p, ']');
}

static bool read_operand(struct parser *p, struct inst *in, struct operand *o, bool nested)
{
    *o = (struct operand){0};
    if (parse_take_punct(p, '!')) {
        o->negated = true;
    }
    if (!nested && parse_take_punct(p, '{')) {
        return read_vector(p, in, o);
    }
    if (!nested && parse_take_punct(p, '[')) {
        return read_memory(p, o);
    }
    const bool minus = parse_take_punct(p, '-');
    if (p->token.kind == TOKEN_int) {
        o->kind = OPERAND_int;
        o->bits = minus ? 0 - p->token.bits : p->token.bits;
        parse_next(p);
        return true;
    }
    if (p->token.kind == TOKEN_float) {
        o->kind = OPERAND_float;
        o->float_bytes = p->token.float_bytes;
        o->bits = p->token.bits ^ (minus ? UINT64_C(1) << (8 * o->float_bytes - 1) : 0);
        parse_next(p);
        return true;
    }
    if (minus || p->token.kind != TOKEN_word) {
        return parse_fail(p, SSAN_FORMAT, p->token.line, "bad operand '%.*s'",
                          shown(p->token.length), p->token.text);
    }
    if (!read_name_operand(p, o)) {
        return false;
    }
    if (o->kind == OPERAND_symbol) {
        return read_addend(p, o);
    }
    if (!nested && parse_take_punct(p, '|')) {
        if (in->element_count == MAX_ELEMENTS) {
            return parse_fail(p, SSAN_FORMAT, in->line, "too many operands");
        }
        struct operand second;
        if (!read_operand(p, in, &second, true)) {
            return false;
        }
        in->elements[in->element_count++] = second;
        o->pair = in->element_count;
    }
    return true;
}

bool parse_operands(struct parser *p, struct inst *in)
{
    while (!parse_is_punct(p, ';')) {
        if (in->operand_count == MAX_OPERANDS) {
            return parse_fail(p, SSAN_FORMAT, in->line, "too many operands");
        }
        struct operand *o = &in->operands[in->operand_count++];
        if (parse_take_punct(p, '(')) { /* arguments and results of calls */
            if (in->element_count >= MAX_ELEMENTS - 1) {
                return parse_fail(p, SSAN_FORMAT, in->line, "too many operands");
            }
            *o = (struct operand){.kind = OPERAND_vector, .first = in->element_count};
            while (!parse_is_punct(p, ')')) {
                if (in->element_count == MAX_ELEMENTS) {
                    return parse_fail(p, SSAN_UNSUPPORTED, in->line,
                                      "a call with more than %d arguments", MAX_ELEMENTS - 1);
                }
                if (!read_operand(p, in, &in->elements[in->element_count], true)) {
                    return false;
                }
                in->element_count++;
                o->count++;
                if (!parse_is_punct(p, ')') && !parse_expect(p, ',')) {
                    return false;
                }
            }
            parse_next(p);
        } else if (!read_operand(p, in, o, false)) {
            return false;
        }
        if (!parse_is_punct(p, ';') && !parse_expect(p, ',')) {
            return false;
        }
    }
    parse_next(p);
    return true;
}

/* @p or @!p before an instruction: slot of the predicate. */
bool parse_guard(struct parser *p)
{
    p->b.guard = 0;
    if (!parse_take_punct(p, '@')) {
        return true;
    }
    const bool negated = parse_take_punct(p, '!');
    struct operand o = {0};
    if (p->token.kind != TOKEN_word || !read_name_operand(p, &o)) {
        return parse_fail(p, SSAN_FORMAT, p->token.line, "expected a predicate");
    }
    if (o.kind != OPERAND_register || o.type != TYPE_pred) {
        return parse_fail(p, SSAN_FORMAT, p->token.line, "a guard must be a predicate");
    }
    p->b.guard = o.slot | (negated ? GUARD_NOT : 0);
    return true;
}
