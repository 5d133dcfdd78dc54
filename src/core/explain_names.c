/* Reads single statements of C and C++ as far as names need it.
 *
 * Owns no state. A small scanner skips literals and comments, finds calls by token and splits their
 * arguments at commas outside of brackets; `<` opens template arguments only where a matching `>`
 * and `(` or `::` follow, so that comparisons and shifts stay operators. The naive model: what a
 * reader takes for the variable at a glance. Cost: one walk over the text for each question. */
#include "core/explain_names.h"

#include <ctype.h>
#include <string.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static struct names_span span_of(const char *begin, const char *end)
{
    while (begin < end && isspace((unsigned char)*begin)) {
        begin++;
    }
    while (end > begin && isspace((unsigned char)end[-1])) {
        end--;
    }
    return (struct names_span){begin, (size_t)(end - begin)};
}

/* Behind a literal or comment that begins at `at`; `at` itself when none does. */
static const char *skip_opaque(const char *at, const char *end)
{
    if (*at == '"' || *at == '\'') {
        const char quote = *at;
        for (at++; at < end && *at != quote; at++) {
            if (*at == '\\' && at + 1 < end) {
                at++;
            }
        }
        return at < end ? at + 1 : end;
    }
    if (at + 1 < end && at[0] == '/' && at[1] == '*') {
        for (at += 2; at < end; at++) {
            if (at[-1] == '*' && at[0] == '/' && at[-2] != '/') {
                return at + 1;
            }
        }
    }
    return at;
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at)) {
        at++;
    }
    return at;
}

/* Behind a word that the text begins with; NULL when it begins with another. */
static const char *behind_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    return strncmp(text, word, length) == 0 && !is_word(text[length]) ? text + length : NULL;
}

/* Behind the template arguments that begin at `at` ('<'); NULL when they are a comparison or shift.
 */
static const char *skip_template(const char *at, const char *end)
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
                const char *next = skip_space(at + 1, end);
                const bool opens = next < end && (*next == '(' || *next == '{');
                const bool scope = next + 1 < end && next[0] == ':' && next[1] == ':';
                return opens || scope ? at + 1 : NULL;
            }
        } else if (!is_word(*at) && !isspace((unsigned char)*at) && !strchr(":,*&()+-", *at)) {
            return NULL;
        }
    }
    return NULL;
}

/* Behind the bracket that closes the one at `at`; `end` when none does. */
static const char *skip_brackets(const char *at, const char *end)
{
    int depth = 0;
    while (at < end) {
        const char *behind = skip_opaque(at, end);
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

/* The arguments from `at` (behind the opening bracket) to the bracket or launch end that closes
 * them. */
static void split(const char *at, const char *end, bool launch, struct names_call *call)
{
    const char *begin = at;
    call->count = 0;
    while (at < end) {
        const char *behind = skip_opaque(at, end);
        if (behind != at) {
            at = behind;
            continue;
        }
        const bool closes = launch ? end - at >= 3 && memcmp(at, ">>>", 3) == 0 : *at == ')';
        if (closes || *at == ',') {
            const struct names_span arg = span_of(begin, at);
            if (call->count < NAMES_ARGS && (arg.length > 0 || call->count > 0 || !closes)) {
                call->args[call->count++] = arg;
            }
            if (closes) {
                return;
            }
            begin = at + 1;
        } else if (strchr("([{", *at)) {
            at = skip_brackets(at, end);
            continue;
        } else if (*at == '<' && at > begin && is_word(at[-1])) {
            behind = skip_template(at, end);
            at = behind ? behind : at + 1;
            continue;
        }
        at++;
    }
    const struct names_span rest = span_of(begin, end); /* the text was cut inside the call */
    if (rest.length > 0 && call->count < NAMES_ARGS) {
        call->args[call->count++] = rest;
    }
}

/* Where the nth call of a function stands, the last one if there are fewer; NULL: none. */
static const char *find_call(const char *text, const char *function, size_t nth,
                             struct names_call *call)
{
    const size_t length = text && function ? strlen(function) : 0;
    const char *found = NULL;
    if (length == 0) {
        return NULL;
    }
    const char *end = text + strlen(text);
    for (const char *at = text; at < end;) {
        const char *behind = skip_opaque(at, end);
        if (behind != at) {
            at = behind;
            continue;
        }
        if (!is_word(*at)) {
            at++;
            continue;
        }
        const char *word = at;
        while (at < end && is_word(*at)) {
            at++;
        }
        if ((size_t)(at - word) != length || memcmp(word, function, length) != 0) {
            continue;
        }
        const char *open = skip_space(at, end);
        if (open < end && *open == '<') {
            behind = skip_template(open, end);
            open = behind ? skip_space(behind, end) : end;
        }
        if (open < end && *open == '(') {
            split(open + 1, end, false, call);
            found = word;
            if (nth-- == 0) {
                return found;
            }
        }
    }
    return found;
}

bool names_find_call(const char *text, const char *function, size_t nth, struct names_call *call)
{
    return find_call(text, function, nth, call) != NULL;
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
    while (begin > text && is_word(begin[-1])) {
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
        split(launch + 3, text + strlen(text), true, config);
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
    const char *at = text ? behind_word(text, "if") : NULL;
    if (!text || behind_word(text, "else") || behind_word(text, "for") ||
        behind_word(text, "while")) {
        return text != NULL;
    }
    const char *open = at ? skip_space(at, at + strlen(at)) : NULL;
    if (!open || *open != '(') {
        return false;
    }
    const char *found = call ? strstr(open, call) : NULL;
    return !found || found >= skip_brackets(open, open + strlen(open));
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

/* Whether the brackets at both ends of a span belong together. */
static bool is_bracketed(struct names_span span)
{
    return span.length >= 2 && span.ptr[0] == '(' &&
           skip_brackets(span.ptr, span.ptr + span.length) == span.ptr + span.length;
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
        (span.length > strlen(name) && is_word(span.ptr[strlen(name)]))) {
        return (struct names_span){NULL, 0};
    }
    const char *at = skip_space(span.ptr + strlen(name), end);
    if (at < end && *at == '<') {
        at = skip_template(at, end);
        at = at ? skip_space(at, end) : end;
    }
    if (at < end && *at == '(' && skip_brackets(at, end) == end) {
        return span_of(at + 1, end - 1);
    }
    return (struct names_span){NULL, 0};
}

/* One layer of casts, brackets or wrappers off; false when there is none. */
static bool peel(struct names_span *span)
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
        *span = span_of(span->ptr + 1, end - 1);
        return true;
    }
    if (span->length > 0 && span->ptr[0] == '(') { /* a cast, if an operand follows */
        const char *rest = skip_space(skip_brackets(span->ptr, end), end);
        if (rest < end && (is_word(*rest) || *rest == '&' || *rest == '(')) {
            *span = span_of(rest, end);
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
            if (!isalpha((unsigned char)*at) && *at != '_') {
                return false;
            }
            while (at < end && is_word(*at)) {
                at++;
            }
            want_name = false;
        } else if (*at == '[') {
            at = skip_brackets(at, end);
        } else if (end - at >= 2 && at[0] == '(' && at[1] == ')') {
            at += 2;
        } else if (*at == '.') {
            at = skip_space(at + 1, end);
            want_name = true;
        } else if (end - at >= 2 && (memcmp(at, "->", 2) == 0 || memcmp(at, "::", 2) == 0)) {
            at = skip_space(at + 2, end);
            want_name = true;
        } else if (isspace((unsigned char)*at)) {
            at++;
        } else {
            return false;
        }
    }
    return !want_name;
}

static struct names_span checked_path(struct names_span span)
{
    static const char *const nothing[] = {"NULL", "nullptr", "this"};
    if (begins_with(span, "this->")) {
        span = span_of(span.ptr + 6, span.ptr + span.length);
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
    struct names_span span = span_of(argument.ptr, argument.ptr + argument.length);
    for (;;) {
        if (span.length > 1 && span.ptr[0] == '&' && span.ptr[1] != '&') {
            span = span_of(span.ptr + 1, span.ptr + span.length);
        } else if (!peel(&span)) {
            break;
        }
    }
    return checked_path(span);
}

/* The part before the first `+` or `-` outside of brackets. */
static struct names_span before_offset(struct names_span span)
{
    const char *end = span.ptr + span.length;
    for (const char *at = span.ptr; at < end;) {
        if (strchr("([{", *at)) {
            at = skip_brackets(at, end);
            continue;
        }
        const bool arrow = end - at >= 2 && memcmp(at, "->", 2) == 0;
        if (at > span.ptr && (*at == '+' || *at == '-') && !arrow) {
            return span_of(span.ptr, at);
        }
        at += arrow ? 2 : 1;
    }
    return span;
}

struct names_span names_pointer(struct names_span argument)
{
    struct names_span span = span_of(argument.ptr, argument.ptr + argument.length);
    bool address = false;
    for (;;) {
        const struct names_span base = before_offset(span);
        if (span.length > 1 && span.ptr[0] == '&' && span.ptr[1] != '&') {
            span = span_of(span.ptr + 1, span.ptr + span.length);
            address = true;
        } else if (base.length < span.length) {
            span = base;
        } else if (!peel(&span)) {
            break;
        }
    }
    if (address && span.length > 0 && span.ptr[span.length - 1] == ']') { /* &buf[i] lies in buf */
        const char *end = span.ptr + span.length;
        for (const char *at = span.ptr; at < end; at++) {
            if (*at == '[' && skip_brackets(at, end) == end) {
                span = span_of(span.ptr, at);
                break;
            }
        }
    }
    return checked_path(span);
}

/* The path that ends at `end`, `text` being where it may begin at most. */
static struct names_span path_before(const char *text, const char *end)
{
    const char *name = end;
    int depth = 0;
    while (name > text && (depth > 0 || is_word(name[-1]) || strchr("].>:[", name[-1]) ||
                           (name[-1] == '-' && *name == '>'))) {
        name--;
        depth += *name == ']' ? 1 : *name == '[' ? -1 : 0;
    }
    return checked_path(span_of(name, end));
}

/* `T *name = something(...)`: the name; empty when the statement is no such thing. */
static struct names_span assigned(const char *text, const char *end)
{
    for (const char *at = text; at < end;) {
        if (strchr("([{", *at)) {
            at = skip_brackets(at, end);
            continue;
        }
        const bool compares = (at > text && strchr("=!<>+-*/", at[-1])) || at[1] == '=';
        if (*at == '=' && !compares) {
            const struct names_span left = span_of(text, at);
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
    while (at > text && (is_word(at[-1]) || strchr(":.", at[-1]))) {
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
        const char *at = behind_word(text, heads[i]);
        at = at ? skip_space(at, end) : NULL;
        if (at && (*at == '(' || i == 3)) {
            text = skip_space(i == 3 ? at : skip_brackets(at, end), end);
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
    const struct names_span left = span_of(text, end);
    const struct names_span name = path_before(text, left.ptr + left.length);
    bool typed = name.length == 0 || name.ptr > left.ptr, fits = !typed;
    for (size_t i = 0; typed && i < sizeof types / sizeof *types; i++) {
        const char *at = strstr(left.ptr, types[i]);
        fits |= at && at < end;
    }
    return fits;
}

struct names_span names_assigned(const char *text, const char *function, size_t nth)
{
    const struct names_span none = {NULL, 0};
    struct names_call call;
    const char *at = find_call(text, function, nth, &call);
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

struct names_span names_wrapped(const char *text)
{
    struct names_span found = {NULL, 0};
    struct names_call call;
    if (!text) {
        return found;
    }
    const char *end = text + strlen(text);
    for (const char *at = text; at < end; at++) {
        const char *behind = skip_opaque(at, end);
        if (behind != at) {
            at = behind - 1;
            continue;
        }
        if (*at != '(' || at == text || !(is_word(at[-1]) || at[-1] == '>')) {
            continue;
        }
        split(at + 1, end, false, &call);
        for (size_t i = 0; i < call.count; i++) {
            struct names_span arg = call.args[i];
            while (peel(&arg)) {
            }
            if (arg.length == 0 || arg.ptr[0] != '&') {
                continue;
            }
            if (found.length > 0) {
                return (struct names_span){NULL, 0}; /* two candidates are none */
            }
            found = names_variable(arg);
        }
        if (found.length > 0) {
            return found;
        }
    }
    return assigned(text, end);
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
