/* The map of everything that CUDA knows the address of: live blocks, by address.
 *
 * A lock of its own, a leaf: any thread, inside callbacks. No heap once it has grown. */
#ifndef SSAN_CAPTURE_MEMORY_H
#define SSAN_CAPTURE_MEMORY_H

#include "capture/cuda_abi.h"
#include "trace/event.h"

#include <stdbool.h>
#include <stdint.h>

struct memory_block {
    uint64_t address, size;
    uint32_t alloc; /* its alloc event */
    enum ssan_memory memory;
    uint32_t context; /* id */
    bool is_pooled;   /* stream-ordered: no host call ends it */
    CUmodule module;  /* whose variable it is, or NULL */
};

/* Begins a block; parts of older ones beneath it are gone. False without memory: it is not in the
 * map. */
bool memory_add(const struct memory_block *block);
/* The live block that begins at `address` ends; false when none does. */
bool memory_remove(uint64_t address, struct memory_block *block);
/* The live block that holds `address`. */
bool memory_find(uint64_t address, struct memory_block *block);
/* The first live block that ends behind `address`, in order of addresses. */
bool memory_next(uint64_t address, struct memory_block *block);
/* All live blocks lie in [*begin, *end); both 0 without any. */
void memory_span(uint64_t *begin, uint64_t *end);
/* Raised at each change of the map. */
uint64_t memory_epoch(void);
/* In a forked child: nobody holds the lock. */
void memory_forget(void);

#endif
