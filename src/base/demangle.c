/* Names of kernels and variables by the demangler of the program's own C++ library, where it has
 * one. */
#include "base/demangle.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangler(const char *name, char *buffer, size_t *length, int *status);

/* libstdc++'s; absent from a program that is plain C. */
extern char *__cxa_demangle(const char *name, char *buffer, size_t *length, int *status)
    __attribute__((weak));

static _Atomic(demangler *) found; /* by demangle_open */

void demangle_open(void)
{
    demangler *function;
    void *library;
    if (__cxa_demangle || atomic_load(&found)) {
        return;
    }
    library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (library) {
        *(void **)&function = dlsym(library, "__cxa_demangle");
        atomic_store(&found, function);
        dlclose(library);
    }
}

/* Bytes of an operator's name at `at` ("operator<<", "operator()"): its brackets are none. 0: none
 * begins there. */
static size_t operator_length(const char *text, size_t at)
{
    const size_t word = sizeof "operator" - 1;
    const char *symbol = text + at + word;
    if (strncmp(text + at, "operator", word) != 0) {
        return 0;
    }
    if (strncmp(symbol, "()", 2) == 0 || strncmp(symbol, "[]", 2) == 0) {
        return word + 2;
    }
    return word + strspn(symbol, "<>=!+-*/%&|^~,");
}

/* The part of a demangled name that people know: without the return type that templates carry (up
 * to the last space outside of brackets) and without the argument list (the last pair of round
 * brackets outside of others, with nothing of the name behind it). */
static void find_name(const char *text, size_t *start, size_t *end)
{
    const size_t length = strlen(text);
    size_t list = length; /* where the last list begins */
    int depth = 0;
    *start = 0;
    for (size_t i = 0, skip; i < length; i += skip ? skip : 1) {
        skip = operator_length(text, i);
        if (skip) {
            continue;
        }
        if (text[i] == '(' && depth == 0) {
            list = i;
        }
        depth += text[i] == '<' || text[i] == '(' ? 1 : text[i] == '>' || text[i] == ')' ? -1 : 0;
        if (text[i] == ')' && depth == 0 && text[i + 1] == ':') {
            list = length; /* a namespace without a name */
        }
        if (text[i] == ' ' && depth == 0 && list == length) {
            *start = i + 1;
        }
    }
    *end = list > *start ? list : length;
}

const char *demangle_name(struct arena *arena, const char *name)
{
    demangler *demangle = __cxa_demangle ? __cxa_demangle : atomic_load(&found);
    if (strncmp(name, "_Z", 2) != 0 || !demangle) {
        return arena_strdup(arena, name);
    }
    int status = 0;
    char *full = demangle(name, NULL, NULL, &status);
    if (!full) {
        return arena_strdup(arena, name);
    }
    size_t start, end;
    find_name(full, &start, &end);
    const char *kept = arena_strndup(arena, full + start, end - start);
    free(full); /* malloc'ed by the C++ runtime */
    return kept;
}
