/* The scanner; see explain_scan.h. `<` opens template arguments only where a matching `>` and `(`
 * or
 * `::` follow, so that comparisons and shifts stay operators. */
#include "core/explain_scan.h"

#include "base/ctext.h"

#include <ctype.h>
#include <string.h>

struct names_span scan_span(const char *begin, const char *end)
{
    while (begin < end && isspace((unsigned char)*begin)) {
        begin++;
    }
    while (end > begin && isspace((unsigned char)end[-1])) {
        end--;
    }
    return (struct names_span){begin, (size_t)(end - begin)};
}

const char *scan_space(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at)) {
        at++;
    }
    return at;
}

const char *scan_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    return strncmp(text, word, length) == 0 && !ctext_is_word(text[length]) ? text + length : NULL;
}

const char *scan_template(const char *at, const char *end)
{
    int depth = 0;
    for (; at < end; at++) {
        if (*at == '<') {
            if (at + 1 < end && at[1] == '<') {
                return NULL;
            }
            depth++;
        } else if (*at == '>') {
            if (--depth == 0) {
                const char *next = scan_space(at + 1, end);
                const bool opens = next < end && (*next == '(' || *next == '{');
                const bool scope = next + 1 < end && next[0] == ':' && next[1] == ':';
                return opens || scope ? at + 1 : NULL;
            }
        } else if (!ctext_is_word(*at) && !isspace((unsigned char)*at) &&
                   !strchr(":,*&()+-", *at)) {
            return NULL;
        }
    }
    return NULL;
}

const char *scan_brackets(const char *at, const char *end)
{
    const char *begin = at;
    int depth = 0;
    while (at < end) {
        const char *behind = ctext_opaque(begin, at, end);
        if (behind != at) {
            at = behind;
            continue;
        }
        if (strchr("([{", *at)) {
            depth++;
        } else if (strchr(")]}", *at) && --depth == 0) {
            return at + 1;
        }
        at++;
    }
    return end;
}

void scan_arguments(const char *at, const char *end, bool launch, struct names_call *call)
{
    const char *begin = at;
    call->count = 0;
    while (at < end) {
        const char *behind = ctext_opaque(begin, at, end);
        if (behind != at) {
            at = behind;
            continue;
        }
        const bool closes = launch ? end - at >= 3 && memcmp(at, ">>>", 3) == 0 : *at == ')';
        if (closes || *at == ',') {
            const struct names_span arg = scan_span(begin, at);
            if (call->count < NAMES_ARGS && (arg.length > 0 || call->count > 0 || !closes)) {
                call->args[call->count++] = arg;
            }
            if (closes) {
                return;
            }
            begin = at + 1;
        } else if (strchr("([{", *at)) {
            at = scan_brackets(at, end);
            continue;
        } else if (*at == '<' && at > begin && ctext_is_word(at[-1])) {
            behind = scan_template(at, end);
            at = behind ? behind : at + 1;
            continue;
        }
        at++;
    }
    const struct names_span rest = scan_span(begin, end); /* the text was cut inside the call */
    if (rest.length > 0 && call->count < NAMES_ARGS) {
        call->args[call->count++] = rest;
    }
}

const char *scan_find_call(const char *text, const char *function, size_t nth,
                           struct names_call *call)
{
    const size_t length = text && function ? strlen(function) : 0;
    const char *found = NULL;
    if (length == 0) {
        return NULL;
    }
    const char *end = text + strlen(text);
    for (const char *at = text; at < end;) {
        const char *behind = ctext_opaque(text, at, end);
        if (behind != at) {
            at = behind;
            continue;
        }
        if (!ctext_is_word(*at)) {
            at++;
            continue;
        }
        const char *word = at;
        while (at < end && ctext_is_word(*at)) {
            at++;
        }
        if ((size_t)(at - word) != length || memcmp(word, function, length) != 0) {
            continue;
        }
        const char *open = scan_space(at, end);
        if (open < end && *open == '<') {
            behind = scan_template(open, end);
            open = behind ? scan_space(behind, end) : end;
        }
        if (open < end && *open == '(') {
            scan_arguments(open + 1, end, false, call);
            found = word;
            if (nth-- == 0) {
                return found;
            }
        }
    }
    return found;
}
