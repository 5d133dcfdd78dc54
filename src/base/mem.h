/* The one way to the heap.
 *
 * Same contracts as malloc, calloc, realloc and free; tests can make the N-th allocation of the
 * process fail, so that every out-of-memory path runs. Sizes are checked for overflow. Any thread.
 */
#ifndef SSAN_BASE_MEM_H
#define SSAN_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

void *mem_alloc(size_t size_bytes);
void *mem_zalloc(size_t count, size_t size_bytes);
/* Array of `count` elements of `size_bytes`; NULL on overflow or lack of memory, the old block then
 * stays. */
void *mem_resize(void *old, size_t count, size_t size_bytes);
/* Gives the end of an array back; never NULL: where that can't be done the block stays as it is. No
 * allocation, and never made to fail. `size_total_bytes` is at least 1 and at most what `old` has.
 */
void *mem_shrink(void *old, size_t size_total_bytes);
void mem_free(void *ptr);
/* NUL-terminated copy of `length` bytes; NULL when out of memory. */
char *mem_strndup(const char *text, size_t length);
char *mem_strdup(const char *text);

/* Test hook: the N-th allocation from now fails (1: the next), and all behind it; 0 switches it
 * off. */
void mem_fail_at(uint64_t nth);
/* The same, but those behind it succeed: what one lost piece does to work that goes on. */
void mem_fail_once(uint64_t nth);
/* Allocations counted since the last mem_fail_at or mem_fail_once. */
uint64_t mem_count(void);

#endif
