/* A signal handler that ends the process may have interrupted malloc: from a call of forbid_malloc
 * on, whoever takes memory on that thread ends the process with an error instead of hanging. */
#include "capture/program/program.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

void forbid_malloc(void)
{
    /* the sanitizers' own stands there */
}

#else

/* glibc's, behind the names that are taken over here */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static _Thread_local bool is_forbidden __attribute__((tls_model("initial-exec")));

void forbid_malloc(void)
{
    is_forbidden = true;
}

static void look(void)
{
    static const char text[] = "malloc inside of a signal handler\n";
    if (is_forbidden) {
        is_forbidden = false;
        (void)!write(STDOUT_FILENO, text, sizeof(text) - 1);
        abort();
    }
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    look();
    return __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
    look();
    return __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *old, size_t size)
{
    look();
    return __libc_realloc(old, size);
}

#endif
