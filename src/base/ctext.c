/* Naive model of a lexer: comments, strings and characters; no raw strings, no digit separators. */
#include "base/ctext.h"

#include <stdbool.h>

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

const char *ctext_opaque(const char *at, const char *end)
{
    if (*at == '"' || *at == '\'') {
        return behind_literal(at, end);
    }
    const bool is_comment = *at == '/' && at + 1 < end && (at[1] == '/' || at[1] == '*');
    return is_comment ? behind_comment(at + 2, end, at[1] == '/') : at;
}
