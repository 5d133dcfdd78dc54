/* Demangling by the C++ runtime's own function, and cutting off what a reader of a report does not
 * need.
 *
 * The argument list is the last group of parentheses at depth 0 of <> and (); a return type in
 * front of a template function's name is cut at the last space at depth 0. Cost: linear in the
 * name. */
#include "symbol/demangle.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Of the Itanium C++ ABI, in the C++ runtime library; it has no C header. */
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/* Where the argument list begins, or the end of the text. */
static const char *arguments(const char *text)
{
    const char *p, *open = NULL;
    int angle = 0, round = 0;
    for (p = text; *p; p++) {
        if (strncmp(p, "operator", 8) == 0) {
            p += 7;
            while (p[1] && strchr("<>=-+*/%^&|~!,[]", p[1])) {
                p++;
            }
            if (p[1] == '(' && p[2] == ')') {
                p += 2;
            }
        } else if (*p == '<') {
            angle++;
        } else if (*p == '>') {
            angle--;
        } else if (*p == '(' && angle == 0) {
            if (round++ == 0 && strncmp(p, "(anonymous namespace)", 21) != 0) {
                open = p;
            }
        } else if (*p == ')' && angle == 0) {
            round--;
        }
    }
    return open ? open : p;
}

/* Where the name begins behind a return type. */
static const char *behind_type(const char *text, const char *end)
{
    const char *p, *begin = text;
    int angle = 0, round = 0;
    for (p = text; p < end; p++) {
        if (strncmp(p, "operator", 8) == 0) {
            break;
        }
        angle += *p == '<';
        angle -= *p == '>';
        round += *p == '(';
        round -= *p == ')';
        if (*p == ' ' && angle == 0 && round == 0) {
            begin = p + 1;
        }
    }
    return begin;
}

char *demangle(const char *name)
{
    int status = -1;
    char *full = strncmp(name, "_Z", 2) == 0 ? __cxa_demangle(name, NULL, NULL, &status) : NULL;
    const char *begin, *end;
    char *copy;
    if (!full) {
        return mem_strdup(name);
    }
    end = arguments(full);
    begin = behind_type(full, end);
    copy = mem_strndup(begin, (size_t)(end - begin));
    free(full);
    return copy;
}
