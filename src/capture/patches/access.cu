/* The patches that see accesses to global memory, for --compile-as-tools-patch.
 *
 * Each is called by the lanes that make the access, before it, with the record of the launch as user
 * data; NULL: this launch is not observed. The names are those that observe.c asks for. */
#include "capture/patch_abi.h"

#include "capture/patches/warp.cuh"

#include "capture/patches/record.cuh"

#define FLAG_WRITE    2u
#define FLAG_SYSTEM   4u /* an atomic of system scope */
#define FLAG_PREFETCH 8u

#define PATCH extern "C" __device__ __noinline__ int

/* `data` is NULL for atomics, and where an instruction that only reduces is called a write. Atomics
 * of gpu and system scope are atomics; those of block scope can't be told from them, and count as
 * such too. */
PATCH PATCH_FUNCTION(ssan_patch_access)(void *user, uint64_t pc, void *address, uint32_t size, uint32_t flags,
                        const void *data)
{
    struct patch_launch *launch = (struct patch_launch *)user;
    if (user && !record_by_site(launch, pc, (uint64_t)(uintptr_t)address, size,
                                (flags & FLAG_WRITE) && data)) {
        asm volatile("" : "+r"(flags)); /* the rest of it is of no interest before */
        if (!(flags & FLAG_PREFETCH)) {
            const uint32_t access =
                flags & FLAG_WRITE ? (data ? 1u : 2u) : (flags & FLAG_SYSTEM ? 2u : 0u);
            record_elsewhere(launch, pc, (uint64_t)(uintptr_t)address, size, access);
        }
    }
    return 0;
}

/* cp.async; source 0: predicated off. */
PATCH PATCH_FUNCTION(ssan_patch_copy)(void *user, uint64_t pc, void *source, uint32_t to, uint32_t size)
{
    if (user && source) {
        record_access((struct patch_launch *)user, pc, (uint64_t)(uintptr_t)source, size, 0);
    }
    return 0;
}

PATCH PATCH_FUNCTION(ssan_patch_bulk_read)(void *user, uint64_t pc, uint64_t source, uint32_t to, uint32_t barrier,
                           uint32_t data, uint32_t is_multicast)
{
    if (user && (data & 0xffffu)) {
        record_bulk((struct patch_launch *)user, pc, source, data & 0xffffu, 0);
    }
    return 0;
}

PATCH PATCH_FUNCTION(ssan_patch_bulk_write)(void *user, uint64_t pc, uint64_t to, uint32_t source, uint32_t blocks)
{
    if (user && blocks) {
        record_bulk((struct patch_launch *)user, pc, to, blocks, 1);
    }
    return 0;
}

/* A bulk reduction is atomic for each element. */
PATCH PATCH_FUNCTION(ssan_patch_bulk_reduce)(void *user, uint64_t pc, uint64_t to, uint32_t source, uint32_t blocks)
{
    if (user && blocks) {
        record_bulk((struct patch_launch *)user, pc, to, blocks, 2);
    }
    return 0;
}
