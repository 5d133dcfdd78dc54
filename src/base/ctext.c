/* Naive model of a lexer: comments, strings, characters and numbers that have separators, whose
 * quotes begin no character; no raw strings. */
#include "base/ctext.h"

bool ctext_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* `at` itself for a number without separators. */
static const char *behind_separated(const char *at, const char *end)
{
    bool is_separated = false;
    const char *p = at;
    while (p < end) {
        const bool separates = *p == '\'' && p + 1 < end && ctext_is_word(p[1]);
        if (!separates && !ctext_is_word(*p) && *p != '.') {
            break;
        }
        is_separated |= separates;
        p++;
    }
    return is_separated ? p : at;
}

static const char *behind_literal(const char *at, const char *end)
{
    const char quote = *at;
    for (at++; at < end && *at != quote; at++) {
        at += *at == '\\' && at + 1 < end;
    }
    return at < end ? at + 1 : end;
}

/* `at`: behind what begins it. */
static const char *behind_comment(const char *at, const char *end, bool is_line)
{
    for (; at < end; at++) {
        if (is_line && *at == '\n') {
            return at + 1;
        }
        if (!is_line && *at == '*' && at + 1 < end && at[1] == '/') {
            return at + 2;
        }
    }
    return end;
}

const char *ctext_opaque(const char *begin, const char *at, const char *end)
{
    if (*at >= '0' && *at <= '9' && (at == begin || !ctext_is_word(at[-1]))) {
        return behind_separated(at, end);
    }
    if (*at == '"' || *at == '\'') {
        return behind_literal(at, end);
    }
    const bool is_comment = *at == '/' && at + 1 < end && (at[1] == '/' || at[1] == '*');
    return is_comment ? behind_comment(at + 2, end, at[1] == '/') : at;
}
