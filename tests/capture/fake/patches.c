/* The device patches on the CPU: the code of src/capture/patches with warps of one lane, each
 * atomic operation one of the host's. The device's thread runs it while the library reads and
 * clears the same memory, as on a GPU. */
#include "capture/fake/fake.h"

#include "capture/patch_abi.h"

#define DEVICE      static inline
#define DEVICE_SLOW static inline

#define warp_active()               1u
#define warp_any(mask, answer)      (answer)
#define warp_all_equal(mask, value) true
#define warp_lane()                 0u
#define warp_processor()            0u
#define bits_count(bits)            ((uint32_t)__builtin_popcount(bits))
#define bits_first(bits)            ((uint32_t)__builtin_ctz(bits))

#define ORDER __ATOMIC_RELAXED

static inline uint32_t load32(const uint32_t *from)
{
    return __atomic_load_n(from, ORDER);
}

static inline uint64_t load64(const uint64_t *from)
{
    return __atomic_load_n(from, ORDER);
}

/* Sixteen bytes; who reads them at the same time finds the second where it finds the first. */
static inline void load_pair(const void *from, uint64_t *first, uint64_t *second)
{
    *first = __atomic_load_n((const uint64_t *)from, __ATOMIC_ACQUIRE);
    *second = load64((const uint64_t *)from + 1);
}

#define load_pair_fresh load_pair

static inline void store_pair(void *to, uint64_t first, uint64_t second)
{
    __atomic_store_n((uint64_t *)to + 1, second, ORDER);
    __atomic_store_n((uint64_t *)to, first, __ATOMIC_RELEASE);
}

static inline void store32(uint32_t *to, uint32_t value)
{
    __atomic_store_n(to, value, ORDER);
}

static inline void store64(uint64_t *to, uint64_t value)
{
    __atomic_store_n(to, value, ORDER);
}

static inline uint32_t swap_if32(uint32_t *at, uint32_t expected, uint32_t value)
{
    __atomic_compare_exchange_n(at, &expected, value, false, ORDER, ORDER);
    return expected;
}

static inline uint64_t swap_if64(uint64_t *at, uint64_t expected, uint64_t value)
{
    __atomic_compare_exchange_n(at, &expected, value, false, ORDER, ORDER);
    return expected;
}

static inline void or32(uint32_t *at, uint32_t bits)
{
    __atomic_fetch_or(at, bits, ORDER);
}

static inline void add64(uint64_t *at, uint64_t value)
{
    __atomic_fetch_add(at, value, ORDER);
}

#define refresh32    store32
#define warp_pause() ((void)0)

#include "capture/patches/record.cuh"

void fake_patch_access(const void *user, uint64_t pc, const void *pointer, uint32_t size,
                       uint32_t access)
{
    struct patch_launch *launch = (struct patch_launch *)(uintptr_t)user;
    if (size > 16) {
        record_range(launch, pc, (uint64_t)(uintptr_t)pointer, size / 16, access);
    } else {
        record_access(launch, pc, (uint64_t)(uintptr_t)pointer, size, access);
    }
}

void fake_patch_exit(const void *user, uint64_t threads)
{
    for (uint64_t i = 0; i < threads; i++) {
        record_exit((struct patch_launch *)(uintptr_t)user);
    }
}
