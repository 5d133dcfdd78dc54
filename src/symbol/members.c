/* Finds the body of a class by its name, and its members by their `=`.
 *
 * Naive model: what a reader finds who looks for `struct X {`, then for `= callee(` in it. Of two
 * classes of one name the first is taken. Cost: one walk over the file. */
#include "symbol/members.h"

#include "symbol/source.h"

#include "base/ctext.h"

#include <string.h>

struct word {
    const char *ptr;
    size_t length;
};

static bool is_same(struct word a, struct word b)
{
    return a.length > 0 && a.length == b.length && memcmp(a.ptr, b.ptr, a.length) == 0;
}

static bool is_called(struct word word, const char *name)
{
    return is_same(word, (struct word){name, strlen(name)});
}

static struct word word_at(const char *at, const char *end)
{
    struct word word = {at, 0};
    while (at + word.length < end && ctext_is_word(at[word.length])) {
        word.length++;
    }
    return word;
}

/* The last name in [begin, end) outside of template arguments; `before`: where the text before it
 * ends. */
static struct word last_name(const char *begin, const char *end, const char **before)
{
    int depth = 0;
    while (end > begin && (end[-1] == '>' || depth > 0)) {
        end--;
        depth += *end == '>' ? 1 : *end == '<' ? -1 : 0;
    }
    const char *name = end;
    while (name > begin && ctext_is_word(name[-1])) {
        name--;
    }
    *before = name;
    return (struct word){name, (size_t)(end - name)};
}

/* Behind the name of a function: where its arguments begin. */
static const char *name_end(const char *function)
{
    static const char anonymous[] = "(anonymous namespace)";
    const char *end = function + strcspn(function, "(");
    while (strncmp(end, anonymous, sizeof anonymous - 1) == 0) {
        end += sizeof anonymous - 1;
        end += strcspn(end, "(");
    }
    return end;
}

/* `X` of `ns::X<int>::X(...)`; empty when the function is no constructor. */
static struct word class_of(const char *function)
{
    const struct word none = {NULL, 0};
    const char *end = name_end(function), *before;
    const struct word name = last_name(function, end, &before);
    if (before < function + 2 || before[-1] != ':' || before[-2] != ':') {
        return none;
    }
    return is_same(last_name(function, before - 2, &before), name) ? name : none;
}

/* Behind what has no meaning here or the word at `at` in a text that is read from `begin`; sets
 * *word (empty: none was there). */
static const char *next(const char *begin, const char *at, const char *end, struct word *word)
{
    const char *behind = ctext_opaque(begin, at, end);
    *word = behind == at ? word_at(at, end) : (struct word){at, 0};
    return behind > at ? behind : word->length > 0 ? at + word->length : at;
}

/* Whether a call of `callee` stands in [at, end), behind a `=`. */
static bool initialises(const char *at, const char *end, struct word callee)
{
    const char *begin = at;
    bool equals = false;
    while (at < end) {
        struct word word;
        const char *behind = next(begin, at, end, &word);
        const bool calls = behind < end && (*behind == '(' || *behind == '<');
        if (equals && calls && is_same(word, callee)) {
            return true;
        }
        equals |= *at == '=';
        at = behind > at ? behind : at + 1;
    }
    return false;
}

/* Behind the `{` that opens the class; NULL: none is there. */
static const char *body_of(const char *at, const char *end, struct word owner)
{
    const char *begin = at;
    bool key = false, named = false; /* behind `struct`, behind its name */
    while (at < end) {
        struct word word;
        const char *behind = next(begin, at, end, &word);
        if (word.length > 0) {
            named = named || (key && is_same(word, owner));
            key = is_called(word, "struct") || is_called(word, "class") || (key && !named);
        } else if (behind == at && *at == '{' && named) {
            return at + 1;
        } else if (behind == at && strchr(";{}()=,>*&", *at)) {
            named &= *at == ',' || *at == '>'; /* of bases */
            key &= strchr("()", *at) != NULL;  /* alignas(...) */
        }
        at = behind > at ? behind : at + 1;
    }
    return NULL;
}

static size_t add_statement(const char *begin, const char *end, char *out, size_t used, size_t room)
{
    char text[SOURCE_MAX_BYTES + 1];
    const size_t length = source_join(begin, (size_t)(end - begin), 1, 0, text);
    if (length == 0 || used + length + 2 > room) {
        return used;
    }
    if (used > 0) {
        out[used++] = ' ';
    }
    memcpy(out + used, text, length + 1);
    return used + length;
}

static struct word name_of(const char *function)
{
    const char *before;
    return last_name(function, name_end(function), &before);
}

bool members_are_meant(const char *function, const char *text, const char *callee)
{
    const struct word owner = class_of(function), called = name_of(callee);
    const char *end = text + strlen(text);
    bool head = strcmp(text, "{") == 0;
    for (const char *at = text; at < end && owner.length > 0;) {
        struct word word;
        const char *behind = next(text, at, end, &word);
        if (is_same(word, called)) {
            return false;
        }
        head |= is_same(word, owner);
        at = behind > at ? behind : at + 1;
    }
    return head && owner.length > 0;
}

size_t members_find(const char *source, size_t length, const char *function, const char *callee,
                    char *out, size_t room)
{
    const char *end = source + length;
    const char *at = body_of(source, end, class_of(function)), *begin = at;
    const struct word called = name_of(callee);
    size_t used = 0;
    for (int depth = 0; at && at < end && depth >= 0;) {
        struct word word;
        const char *behind = next(source, at, end, &word);
        if (behind == at) {
            behind++;
            depth += strchr("{(", *at) ? 1 : strchr("})", *at) ? -1 : 0;
            if (depth == 0 && *at == ';' && initialises(begin, at, called)) {
                used = add_statement(begin, behind, out, used, room);
            }
            begin = depth == 0 && strchr(";}", *at) ? behind : begin;
        }
        at = behind;
    }
    out[used] = '\0';
    return used;
}
