/* Heap access with a switch that makes the N-th allocation fail. */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint_fast64_t fail_at, fail_until; /* those from the one to before the other */
static atomic_uint_fast64_t counted;

static int may_allocate(void)
{
    uint64_t nth = atomic_fetch_add_explicit(&counted, 1, memory_order_relaxed) + 1;
    uint64_t limit = atomic_load_explicit(&fail_at, memory_order_relaxed);
    return limit == 0 || nth < limit ||
           nth >= atomic_load_explicit(&fail_until, memory_order_relaxed);
}

void *mem_alloc(size_t size_bytes)
{
    return may_allocate() ? malloc(size_bytes ? size_bytes : 1) : NULL;
}

void *mem_zalloc(size_t count, size_t size_bytes)
{
    return may_allocate() ? calloc(count ? count : 1, size_bytes ? size_bytes : 1) : NULL;
}

void *mem_resize(void *old, size_t count, size_t size_bytes)
{
    size_t total;
    if (__builtin_mul_overflow(count, size_bytes, &total) || !may_allocate()) {
        return NULL;
    }
    return realloc(old, total ? total : 1);
}

void *mem_shrink(void *old, size_t size_total_bytes)
{
    void *less = realloc(old, size_total_bytes);
    return less ? less : old;
}

void mem_free(void *ptr)
{
    free(ptr);
}

char *mem_strndup(const char *text, size_t length)
{
    char *copy = mem_alloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

char *mem_strdup(const char *text)
{
    return mem_strndup(text, strlen(text));
}

static void set_failing(uint64_t from, uint64_t until)
{
    atomic_store(&fail_at, 0);
    atomic_store(&counted, 0);
    atomic_store(&fail_until, until);
    atomic_store(&fail_at, from);
}

void mem_fail_at(uint64_t nth)
{
    set_failing(nth, UINT64_MAX);
}

void mem_fail_once(uint64_t nth)
{
    set_failing(nth, nth + 1);
}

uint64_t mem_count(void)
{
    return atomic_load(&counted);
}
