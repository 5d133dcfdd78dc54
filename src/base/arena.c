/* Blocks of at least 64 KiB, filled from the front. */
#include "base/arena.h"

#include "base/mem.h"

#include <stdint.h>
#include <string.h>

struct arena_block {
    struct arena_block *older;
    size_t used, room;
    _Alignas(16) unsigned char bytes[];
};

void *arena_alloc(struct arena *arena, size_t size_bytes)
{
    struct arena_block *block = arena->block;
    if (size_bytes > SIZE_MAX - 15 - sizeof *block) {
        return NULL;
    }
    size_bytes = (size_bytes + 15) & ~(size_t)15;
    if (!block || block->room - block->used < size_bytes) {
        size_t room = size_bytes > 65536 ? size_bytes : 65536;
        block = mem_alloc(sizeof *block + room);
        if (!block) {
            return NULL;
        }
        *block = (struct arena_block){.older = arena->block, .room = room};
        arena->block = block;
    }
    void *result = block->bytes + block->used;
    block->used += size_bytes;
    return memset(result, 0, size_bytes);
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    if (copy) {
        memcpy(copy, text, length);
    }
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

void arena_finish(struct arena *arena)
{
    while (arena->block) {
        struct arena_block *older = arena->block->older;
        mem_free(arena->block);
        arena->block = older;
    }
}
