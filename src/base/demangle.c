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

/* Length up to the argument list: the last '(' at depth 0 of <> and (), a leading "(anonymous
 * namespace)" is no list. */
static size_t without_arguments(const char *text)
{
    size_t length = strlen(text);
    const char *close = strrchr(text, ')');
    if (!close || close[1] == ':') { /* of a namespace: what has no arguments is a variable */
        return length;
    }
    int depth = 0;
    for (const char *at = close; at >= text; at--) {
        depth += *at == ')' ? 1 : *at == '(' ? -1 : 0;
        if (depth == 0) {
            return at == text ? length : (size_t)(at - text);
        }
    }
    return length;
}

/* Start behind the return type that templates carry: the last space outside brackets. */
static size_t behind_type(const char *text, size_t length)
{
    int depth = 0;
    size_t start = 0;
    for (size_t i = 0; i < length; i++) {
        depth += text[i] == '<' || text[i] == '(' ? 1 : text[i] == '>' || text[i] == ')' ? -1 : 0;
        if (text[i] == ' ' && depth == 0) {
            start = i + 1;
        }
    }
    return start;
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
    const size_t length = without_arguments(full);
    const size_t start = strstr(full, "operator") ? 0 : behind_type(full, length);
    const char *kept = arena_strndup(arena, full + start, length - start);
    free(full); /* malloc'ed by the C++ runtime */
    return kept;
}
