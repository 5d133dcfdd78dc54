/* Reads single statements of C and C++ as far as names need it.
 *
 * Owns no state. Calls and launches are found by token (explain_scan.h), what their arguments are
 * is in a table, what they name in explain_path.c. The naive model: what a reader takes for the
 * variable at a glance. Cost: one walk over the text for each question. */
#include "core/explain_names.h"

#include "core/explain_path.h"
#include "core/explain_scan.h"

#include "base/ctext.h"

#include <ctype.h>
#include <string.h>

bool names_find_call(const char *text, const char *function, size_t nth, struct names_call *call)
{
    return scan_find_call(text, function, nth, call) != NULL;
}

/* The last name of `ns::kernel<int>` or `Class::kernel`. */
static struct names_span last_name(const char *name)
{
    const char *end = name;
    int depth = 0;
    const char *begin = name;
    for (const char *at = name; *at && *at != '('; at++) {
        if (*at == '<') {
            depth++;
        } else if (*at == '>') {
            depth--;
        } else if (depth == 0) {
            if (*at == ':' || *at == ' ') {
                begin = at + 1;
            }
            end = at + 1;
        }
    }
    return (struct names_span){begin, end > begin ? (size_t)(end - begin) : 0};
}

/* Whether the kernel name before the `<<<` at `launch` is `want`. */
static bool launches(const char *text, const char *launch, struct names_span want)
{
    const char *end = launch;
    while (end > text && isspace((unsigned char)end[-1])) {
        end--;
    }
    if (end > text && end[-1] == '>') { /* template arguments */
        int depth = 0;
        while (end > text) {
            end--;
            depth += *end == '>' ? 1 : *end == '<' ? -1 : 0;
            if (depth == 0) {
                break;
            }
        }
    }
    const char *begin = end;
    while (begin > text && ctext_is_word(begin[-1])) {
        begin--;
    }
    return want.length > 0 && (size_t)(end - begin) == want.length &&
           memcmp(begin, want.ptr, want.length) == 0;
}

bool names_find_launch(const char *text, const char *kernel, size_t nth, struct names_call *config)
{
    if (!text) {
        return false;
    }
    const struct names_span want = last_name(kernel ? kernel : "");
    const char *any = NULL, *named = NULL;
    size_t left_any = nth, left_named = nth;
    for (const char *at = strstr(text, "<<<"); at; at = strstr(at + 3, "<<<")) {
        if (!any || left_any > 0) {
            left_any -= any ? 1 : 0;
            any = at;
        }
        if (launches(text, at, want) && (!named || left_named > 0)) {
            left_named -= named ? 1 : 0;
            named = at;
        }
    }
    const char *launch = named ? named : any;
    if (launch) {
        scan_arguments(launch + 3, text + strlen(text), true, config);
    }
    return launch != NULL;
}

static const struct {
    const char *call;
    signed char created, stream, event, dst, src;
} roles[] = {
#define ROLES(call, created, stream, event, dst, src) {#call, created, stream, event, dst, src},
#include "core/explain_roles.def"
#undef ROLES
};

/* Length of a call's name without the suffixes that headers and versions add. */
static size_t plain_length(const char *call)
{
    static const char *const suffixes[] = {"_ptsz", "_ptds", "_v2", "_v3"};
    size_t length = strlen(call);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const size_t suffix = strlen(suffixes[i]);
        if (length > suffix && memcmp(call + length - suffix, suffixes[i], suffix) == 0) {
            length -= suffix;
        }
    }
    return length;
}

int names_role_index(const char *call, enum names_role role)
{
    const size_t length = call ? plain_length(call) : 0;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        if (strlen(roles[i].call) != length || memcmp(roles[i].call, call, length) != 0) {
            continue;
        }
        switch (role) {
        case NAMES_CREATED:
            return roles[i].created;
        case NAMES_STREAM:
            return roles[i].stream;
        case NAMES_EVENT:
            return roles[i].event;
        case NAMES_DST:
            return roles[i].dst;
        case NAMES_SRC:
            return roles[i].src;
        }
    }
    return -1;
}

bool names_is_body(const char *text, const char *call)
{
    const char *at = text ? scan_word(text, "if") : NULL;
    if (!text || scan_word(text, "else") || scan_word(text, "for") || scan_word(text, "while")) {
        return text != NULL;
    }
    const char *open = at ? scan_space(at, at + strlen(at)) : NULL;
    if (!open || *open != '(') {
        return false;
    }
    const char *found = call ? strstr(open, call) : NULL;
    return !found || found >= scan_brackets(open, open + strlen(open));
}

bool names_creates(const char *text)
{
    struct names_call call;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        if (roles[i].created >= 0 && names_find_call(text, roles[i].call, 0, &call)) {
            return true;
        }
    }
    return false;
}

struct names_span names_argument(const char *text, const char *function, const char *kernel,
                                 size_t nth, enum names_role role)
{
    struct names_call call;
    char plain[64];
    const size_t length = function ? plain_length(function) : 0;
    if (!text || length == 0 || length >= sizeof plain) {
        return (struct names_span){NULL, 0};
    }
    memcpy(plain, function, length);
    plain[length] = '\0';
    const int index = names_role_index(plain, role);
    if (index >= 0 && names_find_call(text, plain, nth, &call) && (size_t)index < call.count) {
        return call.args[index];
    }
    if (role == NAMES_STREAM && kernel && names_find_launch(text, kernel, nth, &call) &&
        call.count > 3) {
        return call.args[3];
    }
    return (struct names_span){NULL, 0};
}

/* The path that ends at `end`, `text` being where it may begin at most. */
static struct names_span path_before(const char *text, const char *end)
{
    const char *name = end;
    int depth = 0;
    while (name > text && (depth > 0 || ctext_is_word(name[-1]) || strchr("].>:[", name[-1]) ||
                           (name[-1] == '-' && *name == '>'))) {
        name--;
        depth += *name == ']' ? 1 : *name == '[' ? -1 : 0;
    }
    return path_checked(scan_span(name, end));
}

/* `T *name = something(...)`: the name; empty when the statement is no such thing. */
static struct names_span assigned(const char *text, const char *end)
{
    for (const char *at = text; at < end;) {
        if (strchr("([{", *at)) {
            at = scan_brackets(at, end);
            continue;
        }
        const bool compares = (at > text && strchr("=!<>+-*/", at[-1])) || at[1] == '=';
        if (*at == '=' && !compares) {
            const struct names_span left = scan_span(text, at);
            return memchr(at, '(', (size_t)(end - at)) ? path_before(text, left.ptr + left.length)
                                                       : (struct names_span){NULL, 0};
        }
        at++;
    }
    return (struct names_span){NULL, 0};
}

/* The last opening bracket before `at` that nothing before `at` closes; NULL: none. */
static const char *open_bracket(const char *text, const char *at)
{
    int depth = 0;
    while (at > text) {
        at--;
        depth += strchr(")]}", *at) ? 1 : strchr("([{", *at) ? -1 : 0;
        if (depth < 0) {
            return at;
        }
    }
    return NULL;
}

static const char *back_space(const char *text, const char *at)
{
    while (at > text && isspace((unsigned char)at[-1])) {
        at--;
    }
    return at;
}

/* Back over the scope, object and casts in front of a call. */
static const char *back_prefix(const char *text, const char *at)
{
    while (at > text && (ctext_is_word(at[-1]) || strchr(":.", at[-1]))) {
        at--;
    }
    at = back_space(text, at);
    while (at > text && at[-1] == ')') {
        const char *open = open_bracket(text, at - 1);
        if (!open) {
            break;
        }
        at = back_space(text, open);
    }
    return at;
}

/* Behind the heads `if (...)`, `for (...)`, `else` of a statement. */
static const char *behind_heads(const char *text)
{
    static const char *const heads[] = {"if", "for", "while", "else"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        const char *end = text + strlen(text);
        const char *at = scan_word(text, heads[i]);
        at = at ? scan_space(at, end) : NULL;
        if (at && (*at == '(' || i == 3)) {
            text = scan_space(i == 3 ? at : scan_brackets(at, end), end);
            i = (size_t)-1; /* again from the first */
        }
    }
    return text;
}

/* Whether what a statement declares or assigns may be a pointer, a stream or an event. */
static bool may_hold_object(const char *text)
{
    static const char *const types[] = {"*", ">", "cudaStream_t", "cudaEvent_t", "auto"};
    text = behind_heads(text);
    const char *equals = strchr(text, '=');
    const char *brace = strchr(text, '{');
    const char *end = equals ? equals : brace ? brace : text + strlen(text);
    const struct names_span left = scan_span(text, end);
    const struct names_span name = path_before(text, left.ptr + left.length);
    bool typed = name.length == 0 || name.ptr > left.ptr, fits = !typed;
    for (size_t i = 0; typed && i < sizeof types / sizeof *types; i++) {
        const char *at = strstr(left.ptr, types[i]);
        fits |= at && at < end;
    }
    return fits;
}

/* Where the statement of a whole line begins that `at` is in. */
static const char *statement_of(const char *text, const char *at)
{
    int depth = 0;
    const char *begin = text;
    for (const char *p = text; p < at;) {
        const char *behind = ctext_opaque(text, p, at);
        if (behind != p) {
            p = behind;
            continue;
        }
        depth += strchr("([", *p) ? 1 : strchr(")]", *p) ? -1 : 0;
        begin = *p == ';' && depth == 0 ? p + 1 : begin;
        p++;
    }
    return scan_space(begin, at);
}

struct names_span names_assigned(const char *text, const char *function, size_t nth)
{
    const struct names_span none = {NULL, 0};
    struct names_call call;
    const char *at = scan_find_call(text, function, nth, &call);
    text = at ? statement_of(text, at) : text;
    if (!at || !may_hold_object(text)) {
        return none;
    }
    at = back_prefix(text, at);
    const bool listed = at > text && strchr(",{", at[-1]);
    if (listed) {
        at = open_bracket(text, at);
        if (!at || *at != '{') {
            return none;
        }
        at = back_space(text, at);
    }
    if (at == text || at[-1] != '=' || (at - 1 > text && strchr("=!<>+-*/|&", at[-2]))) {
        return none;
    }
    const char *end = back_space(text, at - 1);
    if (listed && end > text && end[-1] == ']') { /* the elements of an array have its name */
        const char *open = open_bracket(text, end - 1);
        end = open ? open : end;
    }
    return path_before(text, end);
}

/* The one variable whose address a call is given; false: it is given several. */
static bool find_passed(const struct names_call *call, struct names_span *found)
{
    *found = (struct names_span){NULL, 0};
    for (size_t i = 0; i < call->count; i++) {
        struct names_span arg = call->args[i];
        while (path_peel(&arg)) {
        }
        if (arg.length == 0 || arg.ptr[0] != '&') {
            continue;
        }
        if (found->length > 0) {
            return false;
        }
        *found = names_variable(arg);
    }
    return true;
}

struct names_span names_wrapped(const char *text)
{
    struct names_span found = {NULL, 0};
    struct names_call call;
    if (!text) {
        return found;
    }
    const char *end = text + strlen(text);
    for (const char *at = text; at < end; at++) {
        const char *behind = ctext_opaque(text, at, end);
        if (behind != at) {
            at = behind - 1;
            continue;
        }
        if (*at != '(' || at == text || !(ctext_is_word(at[-1]) || at[-1] == '>')) {
            continue;
        }
        scan_arguments(at + 1, end, false, &call);
        if (!find_passed(&call, &found)) {
            return (struct names_span){NULL, 0}; /* two candidates are none */
        }
        if (found.length > 0) {
            return found;
        }
    }
    return assigned(text, end);
}

struct names_span names_wrapped_by(const char *text, const char *function, size_t nth)
{
    const struct names_span none = {NULL, 0};
    struct names_span found;
    struct names_call call;
    const char *first = scan_find_call(text, function, 0, &call);
    const bool several = first && scan_find_call(text, function, 1, &call) != first;
    if (!scan_find_call(text, function, nth, &call) || !find_passed(&call, &found)) {
        return none;
    }
    if (found.length > 0) {
        return found;
    }
    return several ? names_assigned(text, function, nth) : names_wrapped(text);
}

const char *names_copy(struct arena *arena, struct names_span span)
{
    char *copy = arena_alloc(arena, span.length + 1);
    size_t length = 0;
    for (size_t i = 0; copy && i < span.length; i++) {
        const bool space = isspace((unsigned char)span.ptr[i]);
        if (!space) {
            copy[length++] = span.ptr[i];
        } else if (length > 0 && copy[length - 1] != ' ') {
            copy[length++] = ' ';
        }
    }
    return copy;
}
