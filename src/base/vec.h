/* Growable arrays: any struct with the members `items`, `count`, `room`.
 *
 *     struct { int *items; size_t count, room; } numbers = {0};
 *     if (!VEC_PUSH(&numbers, 7)) { out of memory; nothing changed }
 *     VEC_FREE(&numbers);
 *
 * Zeroed is empty. Growth doubles, so n pushes cost O(n). Not thread-safe. */
#ifndef SSAN_BASE_VEC_H
#define SSAN_BASE_VEC_H

#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Makes room for `need` elements in all; false when out of memory, the array then stays as it was.
 */
bool vec_reserve_slow(void **items, size_t *room, size_t need, size_t size_bytes);

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, room;                                                                        \
    }
#define VEC_RESERVE(v, need)                                                                       \
    ((need) <= (v)->room ||                                                                        \
     vec_reserve_slow((void **)&(v)->items, &(v)->room, (need), sizeof *(v)->items))
#define VEC_PUSH(v, ...)                                                                           \
    (VEC_RESERVE((v), (v)->count + 1) ? ((v)->items[(v)->count++] = (__VA_ARGS__), true) : false)
/* The elements of another array of the same type behind those that are there; false as above. */
#define VEC_APPEND(v, from)                                                                        \
    ((from)->count == 0 ||                                                                         \
     (VEC_RESERVE((v), (v)->count + (from)->count)                                                 \
          ? (memcpy((v)->items + (v)->count, (from)->items, (from)->count * sizeof *(v)->items),   \
             (v)->count += (from)->count, true)                                                    \
          : false))
#define VEC_FREE(v) (mem_free((v)->items), (v)->items = NULL, (v)->count = (v)->room = 0)

#endif
