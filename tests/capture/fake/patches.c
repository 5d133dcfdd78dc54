/* The device patches on the CPU: the code of src/capture/patches with warps of one lane, each
 * atomic operation one of the host's. The device's thread runs it while the library reads and
 * clears the same memory, as on a GPU. */
#include "capture/fake/fake.h"

#include "capture/patch_abi.h"

#include <limits.h>
#include <stdatomic.h>

#define warp_step()                  ((void)0)
#define warp_active()                1u
#define warp_all_equal(mask, value)  true
#define warp_from_first(mask, value) (value)
#define warp_lane()                  0u
#define warp_near(at)                ((const void *)(at))
#define warp_far(at, access)         ((void)0)

#include "support/warp_memory.h"

#include "capture/patches/record.cuh"

void fake_patch_access(const void *user, uint64_t pc, const void *pointer, uint32_t size,
                       uint32_t access)
{
    struct patch_launch *launch = (struct patch_launch *)(uintptr_t)user;
    if (size > 16) {
        record_bulk(launch, pc, (uint64_t)(uintptr_t)pointer, size / 16, access);
    } else {
        record_access(launch, pc, (uint64_t)(uintptr_t)pointer, size, access);
    }
}

static atomic_uint windows;

void fake_patch_end(const void *user)
{
    const struct patch_launch *launch = user;
    const struct patch_flags *flags = (void *)(uintptr_t)launch->flags;
    for (uint32_t i = 0; i < launch->window_count; i++) {
        windows += flags->touched[i] != 0;
    }
}

unsigned fake_windows(void)
{
    return fake_is_patched(SANITIZER_AT_GLOBAL_ACCESS) ? windows : UINT_MAX;
}
