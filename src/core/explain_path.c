/* Paths in arguments; see explain_path.h, and names_variable and names_pointer in explain_names.h.
 */
#include "core/explain_path.h"

#include "core/explain_scan.h"

#include "base/ctext.h"

#include <ctype.h>
#include <string.h>

/* Whether the brackets at both ends of a span belong together. */
static bool is_bracketed(struct names_span span)
{
    return span.length >= 2 && span.ptr[0] == '(' &&
           scan_brackets(span.ptr, span.ptr + span.length) == span.ptr + span.length;
}

static bool begins_with(struct names_span span, const char *word)
{
    const size_t length = strlen(word);
    return span.length >= length && memcmp(span.ptr, word, length) == 0;
}

/* The inside of `name<...>(inside)` when the span is nothing else; else an empty span. */
static struct names_span inside_of(struct names_span span, const char *name)
{
    const char *end = span.ptr + span.length;
    if (!begins_with(span, name) ||
        (span.length > strlen(name) && ctext_is_word(span.ptr[strlen(name)]))) {
        return (struct names_span){NULL, 0};
    }
    const char *at = scan_space(span.ptr + strlen(name), end);
    if (at < end && *at == '<') {
        at = scan_template(at, end);
        at = at ? scan_space(at, end) : end;
    }
    if (at < end && *at == '(' && scan_brackets(at, end) == end) {
        return scan_span(at + 1, end - 1);
    }
    return (struct names_span){NULL, 0};
}

bool path_peel(struct names_span *span)
{
    static const char *const wrappers[] = {
        "static_cast",
        "reinterpret_cast",
        "const_cast",
        "dynamic_cast",
        "std::addressof",
        "addressof",
        "thrust::raw_pointer_cast",
        "raw_pointer_cast",
        "std::move",
    };
    const char *end = span->ptr + span->length;
    if (is_bracketed(*span)) {
        *span = scan_span(span->ptr + 1, end - 1);
        return true;
    }
    if (span->length > 0 && span->ptr[0] == '(') { /* a cast, if an operand follows */
        const char *rest = scan_space(scan_brackets(span->ptr, end), end);
        if (rest < end && (ctext_is_word(*rest) || *rest == '&' || *rest == '(')) {
            *span = scan_span(rest, end);
            return true;
        }
        return false;
    }
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
        const struct names_span inside = inside_of(*span, wrappers[i]);
        if (inside.length > 0) {
            *span = inside;
            return true;
        }
    }
    return false;
}

/* Whether a span is a path: name, ::, members, indices, calls without arguments. */
static bool is_path(struct names_span span)
{
    const char *at = span.ptr, *end = span.ptr + span.length;
    bool want_name = true;
    while (at < end) {
        if (want_name) {
            if (!ctext_is_word(*at) || isdigit((unsigned char)*at)) {
                return false;
            }
            while (at < end && ctext_is_word(*at)) {
                at++;
            }
            want_name = false;
        } else if (*at == '[') {
            at = scan_brackets(at, end);
        } else if (end - at >= 2 && at[0] == '(' && at[1] == ')') {
            at += 2;
        } else if (*at == '.') {
            at = scan_space(at + 1, end);
            want_name = true;
        } else if (end - at >= 2 && (memcmp(at, "->", 2) == 0 || memcmp(at, "::", 2) == 0)) {
            at = scan_space(at + 2, end);
            want_name = true;
        } else if (isspace((unsigned char)*at)) {
            at++;
        } else {
            return false;
        }
    }
    return !want_name;
}

struct names_span path_checked(struct names_span span)
{
    static const char *const nothing[] = {"NULL", "nullptr", "this"};
    if (begins_with(span, "this->")) {
        span = scan_span(span.ptr + 6, span.ptr + span.length);
    }
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        if (span.length == strlen(nothing[i]) && begins_with(span, nothing[i])) {
            span.length = 0;
        }
    }
    if (span.length == 0 || span.length > 80 || !is_path(span)) {
        span.length = 0;
    }
    return span;
}

struct names_span names_variable(struct names_span argument)
{
    struct names_span span = scan_span(argument.ptr, argument.ptr + argument.length);
    for (;;) {
        if (span.length > 1 && span.ptr[0] == '&' && span.ptr[1] != '&') {
            span = scan_span(span.ptr + 1, span.ptr + span.length);
        } else if (!path_peel(&span)) {
            break;
        }
    }
    return path_checked(span);
}

/* The part before the first `+` or `-` outside of brackets. */
static struct names_span before_offset(struct names_span span)
{
    const char *end = span.ptr + span.length;
    for (const char *at = span.ptr; at < end;) {
        if (strchr("([{", *at)) {
            at = scan_brackets(at, end);
            continue;
        }
        const bool arrow = end - at >= 2 && memcmp(at, "->", 2) == 0;
        if (at > span.ptr && (*at == '+' || *at == '-') && !arrow) {
            return scan_span(span.ptr, at);
        }
        at += arrow ? 2 : 1;
    }
    return span;
}

struct names_span names_pointer(struct names_span argument)
{
    struct names_span span = scan_span(argument.ptr, argument.ptr + argument.length);
    bool address = false;
    for (;;) {
        const struct names_span base = before_offset(span);
        if (span.length > 1 && span.ptr[0] == '&' && span.ptr[1] != '&') {
            span = scan_span(span.ptr + 1, span.ptr + span.length);
            address = true;
        } else if (base.length < span.length) {
            span = base;
        } else if (!path_peel(&span)) {
            break;
        }
    }
    if (address && span.length > 0 && span.ptr[span.length - 1] == ']') { /* &buf[i] lies in buf */
        const char *end = span.ptr + span.length;
        for (const char *at = span.ptr; at < end; at++) {
            if (*at == '[' && scan_brackets(at, end) == end) {
                span = scan_span(span.ptr, at);
                break;
            }
        }
    }
    return path_checked(span);
}
