/* Built twice, with frames of two sizes: libraries that are loaded in turn. */
#include "capture_frames.h"

FRAMES_API uint64_t frames_reloaded(unsigned depth, frames_take *take, void *self);

__attribute__((noinline)) uint64_t frames_reloaded(unsigned depth, frames_take *take, void *self)
{
    volatile char local[SSAN_TEST_FRAME_BYTES];
    uint64_t result;
    __asm__ volatile("" : : "r"(local) : "memory");
    result = depth <= 1 ? take(self) : frames_reloaded(depth - 1, take, self);
    __asm__ volatile("" : : "r"(local) : "memory");
    return result;
}
