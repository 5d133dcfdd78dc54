/* Live blocks as an array sorted by address, disjoint. Naive model: a list that is searched.
 * Finding is a binary search, O(log n), under a read lock of our own; adding and removing move
 * what stands behind, O(n). */
#include "capture/memory.h"

#include "base/vec.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static struct {
    pthread_rwlock_t lock;
    VEC(struct memory_block) blocks;
    _Atomic uint64_t epoch;
} memory = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* Index of the first block that ends behind `address`. */
static size_t first_behind(uint64_t address)
{
    size_t low = 0, high = memory.blocks.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct memory_block *block = &memory.blocks.items[middle];
        if (block->address + block->size <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void remove_at(size_t at, size_t count)
{
    if (count == 0) {
        return;
    }
    memmove(&memory.blocks.items[at], &memory.blocks.items[at + count],
            (memory.blocks.count - at - count) * sizeof *memory.blocks.items);
    memory.blocks.count -= count;
}

bool memory_add(const struct memory_block *block)
{
    bool fits;
    if (block->size == 0 || block->address + block->size < block->address) {
        return false;
    }
    pthread_rwlock_wrlock(&memory.lock);
    size_t at = first_behind(block->address), end = at;
    while (end < memory.blocks.count &&
           memory.blocks.items[end].address < block->address + block->size) {
        end++;
    }
    remove_at(at, end - at); /* blocks whose end was not told */
    fits = VEC_RESERVE(&memory.blocks, memory.blocks.count + 1);
    if (fits) {
        memmove(&memory.blocks.items[at + 1], &memory.blocks.items[at],
                (memory.blocks.count - at) * sizeof *memory.blocks.items);
        memory.blocks.items[at] = *block;
        memory.blocks.count++;
    }
    atomic_fetch_add(&memory.epoch, 1);
    pthread_rwlock_unlock(&memory.lock);
    return fits;
}

bool memory_remove(uint64_t address, struct memory_block *block)
{
    pthread_rwlock_wrlock(&memory.lock);
    size_t at = first_behind(address);
    bool found = at < memory.blocks.count && memory.blocks.items[at].address == address;
    if (found) {
        *block = memory.blocks.items[at];
        remove_at(at, 1);
        atomic_fetch_add(&memory.epoch, 1);
    }
    pthread_rwlock_unlock(&memory.lock);
    return found;
}

bool memory_next(uint64_t address, struct memory_block *block)
{
    pthread_rwlock_rdlock(&memory.lock);
    size_t at = first_behind(address);
    bool found = at < memory.blocks.count;
    if (found) {
        *block = memory.blocks.items[at];
    }
    pthread_rwlock_unlock(&memory.lock);
    return found;
}

bool memory_find(uint64_t address, struct memory_block *block)
{
    return memory_next(address, block) && block->address <= address;
}

void memory_span(uint64_t *begin, uint64_t *end)
{
    pthread_rwlock_rdlock(&memory.lock);
    size_t count = memory.blocks.count;
    const struct memory_block *last = count ? &memory.blocks.items[count - 1] : NULL;
    *begin = last ? memory.blocks.items[0].address : 0;
    *end = last ? last->address + last->size : 0;
    pthread_rwlock_unlock(&memory.lock);
}

uint64_t memory_epoch(void)
{
    return atomic_load_explicit(&memory.epoch, memory_order_relaxed);
}

void memory_forget(void)
{
    pthread_rwlock_init(&memory.lock, NULL);
}
