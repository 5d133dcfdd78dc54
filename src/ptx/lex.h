/* Tokens of PTX text. Never fails: what it can't read is TOKEN_bad, and the parser says so. */
#ifndef SSAN_PTX_LEX_H
#define SSAN_PTX_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOKEN_end,
    TOKEN_word,   /* name, register, opcode without its modifiers */
    TOKEN_dot,    /* .name: a directive or modifier, text without the dot; "a::b" is one */
    TOKEN_int,    /* `bits` */
    TOKEN_float,  /* `bits` holds an IEEE value of `float_bytes` */
    TOKEN_string, /* text without quotes */
    TOKEN_punct,  /* one character */
    TOKEN_bad
};

struct token {
    enum token_kind kind;
    const char *text; /* borrowed from the input, not NUL-terminated */
    size_t length;
    uint64_t bits;
    uint32_t float_bytes; /* 4 or 8 */
    char punct;
    uint32_t line;
};

struct lexer {
    const char *at, *end;
    uint32_t line;
};

void lex_init(struct lexer *lexer, const char *text, size_t length);
/* The next token; at the end of the input always TOKEN_end. */
struct token lex_next(struct lexer *lexer);
bool token_is(const struct token *token, enum token_kind kind, const char *text);

#endif
