/* Device memory and the map of everything that CUDA knows the address of.
 *
 * Device memory is one reserved range of addresses, a part of it for each device, in which the
 * program can touch nothing (the user's alias), mapped a second time where the executor reads and
 * writes (a constant distance away). Page-locked memory is ordinary memory at its own address,
 * mapped until the process ends. A lock of its own: any thread, also under the device lock. */
#ifndef SSAN_VCUDA_MEMORY_H
#define SSAN_VCUDA_MEMORY_H

#include "trace/event.h"
#include "vcuda/cuda.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_block {
    uint64_t address, size;
    uint32_t id;      /* generation: its alloc event */
    uint32_t ordinal; /* of the device that owns it, or for host memory was current */
    enum ssan_memory kind;
    unsigned flags;   /* of cudaHostAlloc or cudaHostRegister */
    bool is_constant; /* kernels may only read it */
    bool is_variable; /* of a module: not for cudaFree */
    bool is_ending;   /* a free waits for the device */
};

/* Reserves the addresses, in equal parts for so many devices; again is nothing. False when the
 * machine refuses. */
bool memory_start(uint32_t devices);
/* Blocks get the id and the device that the caller gives. `align` is a power of two, at
 * least 1. cudaErrorMemoryAllocation. */
cudaError_t memory_alloc_device(uint64_t size, uint64_t align, uint32_t ordinal, uint32_t id,
                                struct memory_block *block);
cudaError_t memory_alloc_pinned(uint64_t size, unsigned flags, uint32_t ordinal, uint32_t id,
                                struct memory_block *block);
/* cudaErrorInvalidValue (nothing mapped there), cudaErrorHostMemoryAlreadyRegistered. */
cudaError_t memory_register(uint64_t address, uint64_t size, unsigned flags, uint32_t ordinal,
                            uint32_t id, struct memory_block *block);
void memory_set_constant(uint64_t address);
void memory_set_variable(uint64_t address);
/* Makes the caller the one who ends the block that begins at `address`; false when another one
 * already does. */
bool memory_claim(uint64_t address);
/* Ends a block that begins at `address`; its bytes may be given out again. */
void memory_release(uint64_t address);

/* The live block that holds `address`. */
bool memory_find(uint64_t address, struct memory_block *block);
/* The first live block that ends behind `address`, in order of addresses. */
bool memory_next(uint64_t address, struct memory_block *block);
/* Addresses that only CUDA ever gave out, or may give out, and in which nothing lives: free device
 * space or freed page-locked memory. */
bool memory_is_freed(uint64_t address, uint64_t size);
/* Makes the live block at `address` another generation. */
void memory_renew(uint64_t address, uint32_t id);
/* Inside the reserved range, whether allocated or not. */
bool memory_is_device_address(uint64_t address);
/* The block that died last of those that held `address`; for messages. */
bool memory_find_dead(uint64_t address, struct memory_block *block);
/* The live block that ends last before `address`; for messages. */
bool memory_find_before(uint64_t address, struct memory_block *block);
/* Where the executor finds the bytes of a device or host address. */
void *memory_at(uint64_t address);
int64_t memory_delta(void);
/* Raised at each change of the map. */
uint64_t memory_epoch(void);
/* Who may access what has changed. */
void memory_raise_epoch(void);
/* Of one device. */
void memory_totals(uint32_t ordinal, uint64_t *free_bytes, uint64_t *total_bytes);
/* From a signal handler: false when the map is being changed. */
bool memory_try_find(uint64_t address, struct memory_block *block);
/* In a forked child: nobody holds the lock. */
void memory_forget(void);

#endif
