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

static inline void load_entry(const struct patch_entry *from, struct patch_entry *entry)
{
    entry->key = load64(&from->key);
    entry->directory = load32(&from->directory);
    entry->parts = load32(&from->parts);
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

static inline void order_stores(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

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
