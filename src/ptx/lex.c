/* Tokens of PTX text, one at a time and without copies: names, numbers of all forms, strings,
 * punctuation; white space and comments are passed over. Cost: linear in the text. */
#include "ptx/lex.h"

#include <stdlib.h>
#include <string.h>

void lex_init(struct lexer *lexer, const char *text, size_t length)
{
    lexer->at = text;
    lexer->end = text + length;
    lexer->line = 1;
}

bool token_is(const struct token *token, enum token_kind kind, const char *text)
{
    return token->kind == kind && token->length == strlen(text) &&
           memcmp(token->text, text, token->length) == 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

static bool is_name_part(char c)
{
    return is_digit(c) || (is_name_start(c) && c != '%');
}

static char peek(const struct lexer *lexer, size_t ahead)
{
    return (size_t)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : '\0';
}

/* Spaces, line and block comments. */
static void skip_space(struct lexer *lexer)
{
    while (lexer->at < lexer->end) {
        const char c = *lexer->at;
        if (c == '\n') {
            lexer->line++;
            lexer->at++;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lexer->at++;
        } else if (c == '/' && peek(lexer, 1) == '/') {
            while (lexer->at < lexer->end && *lexer->at != '\n') {
                lexer->at++;
            }
        } else if (c == '/' && peek(lexer, 1) == '*') {
            lexer->at += 2;
            while (lexer->at < lexer->end && !(*lexer->at == '*' && peek(lexer, 1) == '/')) {
                lexer->line += *lexer->at == '\n';
                lexer->at++;
            }
            lexer->at += lexer->end - lexer->at >= 2 ? 2 : lexer->end - lexer->at;
        } else {
            return;
        }
    }
}

static int digit_value(char c)
{
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

/* Digits of a base; false when there is none or the value leaves 64 bits. */
static bool read_digits(struct lexer *lexer, int base, uint64_t *value)
{
    const char *start = lexer->at;
    *value = 0;
    bool fits = true;
    while (digit_value(peek(lexer, 0)) < base) {
        fits &= !__builtin_mul_overflow(*value, (uint64_t)base, value);
        fits &= !__builtin_add_overflow(*value, (uint64_t)digit_value(*lexer->at), value);
        lexer->at++;
    }
    return fits && lexer->at > start;
}

/* 1.5, 1e-3: as a double. */
static bool read_decimal(struct lexer *lexer, struct token *token)
{
    char text[64];
    size_t length = 0;
    while (length < sizeof text - 1) {
        const char c = peek(lexer, length), before = length ? text[length - 1] : '\0';
        const bool sign = (c == '+' || c == '-') && (before == 'e' || before == 'E');
        if (!is_digit(c) && c != '.' && c != 'e' && c != 'E' && !sign) {
            break;
        }
        text[length++] = c;
    }
    text[length] = '\0';
    char *stop = NULL;
    const double value = strtod(text, &stop);
    lexer->at += length;
    memcpy(&token->bits, &value, sizeof value);
    token->float_bytes = 8;
    return stop == text + length;
}

/* 0f3F800000 and 0d3FF0000000000000; exactly 8 or 16 digits. */
static bool read_hex_float(struct lexer *lexer, struct token *token)
{
    const char c = peek(lexer, 1);
    token->float_bytes = c == 'f' || c == 'F' ? 4 : 8;
    lexer->at += 2;
    const char *start = lexer->at;
    return read_digits(lexer, 16, &token->bits) &&
           lexer->at - start == (ptrdiff_t)token->float_bytes * 2;
}

static void read_number(struct lexer *lexer, struct token *token)
{
    const char second = peek(lexer, 1);
    bool ok;
    token->kind = TOKEN_int;
    if (*lexer->at == '0' && second && strchr("fFdD", second) && digit_value(peek(lexer, 2)) < 16) {
        token->kind = TOKEN_float;
        ok = read_hex_float(lexer, token);
    } else if (*lexer->at == '0' && (second == 'x' || second == 'X')) {
        lexer->at += 2;
        ok = read_digits(lexer, 16, &token->bits);
    } else if (*lexer->at == '0' && (second == 'b' || second == 'B')) {
        lexer->at += 2;
        ok = read_digits(lexer, 2, &token->bits);
    } else {
        const char *start = lexer->at;
        ok = read_digits(lexer, 10, &token->bits);
        const char next = peek(lexer, 0);
        if ((next == '.' && is_digit(peek(lexer, 1))) || next == 'e' || next == 'E') {
            lexer->at = start;
            token->kind = TOKEN_float;
            ok = read_decimal(lexer, token);
        } else if (*start == '0' && lexer->at > start + 1) {
            lexer->at = start;
            ok = read_digits(lexer, 8, &token->bits);
        }
    }
    if (token->kind == TOKEN_int && peek(lexer, 0) == 'U') {
        lexer->at++;
    }
    if (!ok || is_name_part(peek(lexer, 0))) {
        token->kind = TOKEN_bad;
    }
}

static void read_name(struct lexer *lexer, bool after_dot)
{
    lexer->at++;
    while (is_name_part(peek(lexer, 0)) ||
           (after_dot && peek(lexer, 0) == ':' && peek(lexer, 1) == ':')) {
        lexer->at += peek(lexer, 0) == ':' ? 2 : 1;
    }
}

static void read_string(struct lexer *lexer, struct token *token)
{
    token->text = ++lexer->at;
    while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n') {
        lexer->at +=
            *lexer->at == '\\' && lexer->end - lexer->at > 1 && lexer->at[1] != '\n' ? 2 : 1;
    }
    token->length = (size_t)(lexer->at - token->text);
    token->kind = peek(lexer, 0) == '"' ? TOKEN_string : TOKEN_bad;
    lexer->at += peek(lexer, 0) == '"';
}

struct token lex_next(struct lexer *lexer)
{
    skip_space(lexer);
    struct token token = {.kind = TOKEN_end, .text = lexer->at, .line = lexer->line};
    if (lexer->at >= lexer->end) {
        return token;
    }
    const char c = *lexer->at;
    if (is_digit(c)) {
        read_number(lexer, &token);
    } else if (is_name_start(c)) {
        token.kind = TOKEN_word;
        read_name(lexer, false);
    } else if (c == '.' && (is_name_start(peek(lexer, 1)) || is_digit(peek(lexer, 1)))) {
        token.kind = TOKEN_dot;
        lexer->at++;
        token.text = lexer->at;
        read_name(lexer, true);
    } else if (c == '"') {
        read_string(lexer, &token);
        return token;
    } else {
        token.kind = c > ' ' && c < 127 ? TOKEN_punct : TOKEN_bad;
        token.punct = c;
        lexer->at++;
    }
    token.length = (size_t)(lexer->at - token.text);
    return token;
}
