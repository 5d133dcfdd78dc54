/* Reads the names of the Itanium C++ ABI (5.1.2) as far as kernels have them.
 *
 * Cost: O(length). */
#include "trace/mangled.h"

#include <ctype.h>
#include <string.h>

#define ANONYMOUS       "_GLOBAL__N_"
#define ANONYMOUS_WORDS "(anonymous namespace)"

struct plain {
    char *text;
    size_t length, room;
    bool full;
};

static void add(struct plain *plain, const char *text, size_t length)
{
    if (plain->length + length + 1 > plain->room) {
        plain->full = true;
        return;
    }
    memcpy(plain->text + plain->length, text, length);
    plain->length += length;
    plain->text[plain->length] = '\0';
}

/* "4kern": where the name begins and its length; NULL when there is none. */
static const char *read_identifier(const char *at, size_t *length)
{
    *length = 0;
    if (!isdigit((unsigned char)*at)) {
        return NULL;
    }
    for (; isdigit((unsigned char)*at); at++) {
        *length = *length * 10 + (size_t)(*at - '0');
        if (*length > strlen(at)) {
            return NULL;
        }
    }
    return *length > 0 && *length <= strlen(at) ? at : NULL;
}

/* Behind a literal argument, as "Li4E"; NULL when it has no end. */
static const char *behind_literal(const char *at)
{
    const char *end = strchr(at, 'E');
    return end ? end + 1 : NULL;
}

/* Behind a builtin type, a letter that opens or closes something, a substitution ("S0_", "St",
 * "T_"), or the size of an array ("A8_"). */
static const char *behind_part(const char *at)
{
    const char *end = at + 1;
    if (at[0] == 'S' && islower((unsigned char)at[1])) {
        return at + 2;
    }
    if (strchr("STA", at[0])) {
        while (isdigit((unsigned char)*end) || (at[0] != 'A' && isupper((unsigned char)*end))) {
            end++;
        }
        return *end == '_' ? end + 1 : at + 1;
    }
    return at[0] == 'D' && at[1] ? at + 2 : at + 1;
}

/* Behind the template arguments that begin at `at` ("I...E"); NULL when they are not understood. */
static const char *behind_arguments(const char *at)
{
    size_t depth = 0, length;
    do {
        const char *name = read_identifier(at, &length);
        if (name) {
            at = name + length;
        } else if (at[0] == 'L') {
            at = behind_literal(at);
        } else if (at[0] == '\0') {
            at = NULL;
        } else {
            depth += strchr("INXJF", at[0]) != NULL;
            depth -= at[0] == 'E';
            at = behind_part(at);
        }
    } while (at && depth > 0);
    return at;
}

static const char *add_identifier(struct plain *plain, const char *at)
{
    size_t length;
    const char *name = read_identifier(at, &length);
    if (!name) {
        return NULL;
    }
    if (plain->length > 0) {
        add(plain, "::", 2);
    }
    if (strncmp(name, ANONYMOUS, sizeof ANONYMOUS - 1) == 0) {
        add(plain, ANONYMOUS_WORDS, sizeof ANONYMOUS_WORDS - 1);
    } else {
        add(plain, name, length);
    }
    return name + length;
}

bool mangled_plain(const char *mangled, char *plain, size_t room, bool *is_template)
{
    struct plain out = {plain, 0, room, room == 0};
    const char *at = mangled + 2;
    bool nested;
    *is_template = false;
    if (strncmp(mangled, "_Z", 2) != 0 || room == 0) {
        return false;
    }
    plain[0] = '\0';
    nested = *at == 'N';
    at += nested || *at == 'L'; /* L: static */
    do {
        at += nested && *at == 'L';
        at = add_identifier(&out, at);
        *is_template = at && *at == 'I';
        if (*is_template) {
            at = behind_arguments(at);
        }
    } while (at && nested && *at != 'E');
    return at && !out.full;
}
