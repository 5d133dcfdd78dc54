/* Blocks of device memory that go round. */
#include "dflash.h"

#include <cstdio>
#include <cstdlib>

void *cache_take(struct cache *cache)
{
    void *block;
    if (cache->free_count > 0) {
        return cache->free_blocks[--cache->free_count];
    }
    if (cache->made == CACHE_BLOCKS) {
        std::fprintf(stderr, "more than %d blocks at once\n", CACHE_BLOCKS);
        std::exit(1);
    }
    cache->made++;
    check(cudaMalloc(&block, BLOCK_BYTES), "a block of device memory");
    return block;
}

void cache_give(struct cache *cache, void *block)
{
    cache->free_blocks[cache->free_count++] = block;
}

void cache_finish(struct cache *cache)
{
    while (cache->free_count > 0) {
        check(cudaFree(cache->free_blocks[--cache->free_count]), "free a block");
    }
    cache->made = 0;
}
