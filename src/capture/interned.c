/* Open addressing with linear probing. An entry is two words that are read one by one: `check` is
 * the exclusive or of hash and id, so a half-written entry is no match. */
#include "capture/interned.h"

#include <string.h>
#include <sys/mman.h>

struct interned_slot {
    _Atomic uint64_t check, id;
};

static size_t bytes_of(const struct interned *table)
{
    return (size_t)(table->mask + 1) * sizeof(struct interned_slot);
}

bool interned_open(struct interned *table, unsigned bits)
{
    void *memory;
    if (table->slots) {
        return true;
    }
    table->mask = (UINT64_C(1) << bits) - 1;
    memory = mmap(NULL, bytes_of(table), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    table->slots = memory;
    return true;
}

void interned_close(struct interned *table)
{
    if (table->slots) {
        munmap(table->slots, bytes_of(table));
    }
    memset(table, 0, sizeof *table);
}

/* The entry of a hash, or the empty one where it would be; the table is never full. */
static struct interned_slot *find(const struct interned *table, uint64_t hash, uint64_t *id)
{
    for (uint64_t at = hash & table->mask;; at = (at + 1) & table->mask) {
        struct interned_slot *slot = &table->slots[at];
        *id = atomic_load_explicit(&slot->id, memory_order_acquire);
        if (*id == 0 || (atomic_load_explicit(&slot->check, memory_order_relaxed) ^ *id) == hash) {
            return slot;
        }
    }
}

uint32_t interned_find(const struct interned *table, uint64_t hash)
{
    uint64_t id;
    (void)find(table, hash, &id);
    return (uint32_t)id;
}

uint32_t interned_next(const struct interned *table)
{
    uint32_t count = atomic_load_explicit(&table->count, memory_order_relaxed);
    return count < (table->mask + 1) / 4 * 3 ? count + 1 : 0;
}

void interned_add(struct interned *table, uint64_t hash)
{
    uint64_t id;
    struct interned_slot *slot = find(table, hash, &id);
    id = interned_next(table);
    atomic_store_explicit(&table->count, (uint32_t)id, memory_order_relaxed);
    atomic_store_explicit(&slot->check, hash ^ id, memory_order_relaxed);
    atomic_store_explicit(&slot->id, id, memory_order_release);
}
