/* Stacks of many shapes, built without frame pointers: each function calls take(self) from its
 * depth and returns what it gave. */
#ifndef SSAN_TESTS_CAPTURE_FRAMES_H
#define SSAN_TESTS_CAPTURE_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FRAMES_API __attribute__((visibility("default")))

typedef uint64_t frames_take(void *self);

/* `depth` frames of one function, with locals of differing sizes. */
FRAMES_API uint64_t frames_recursive(unsigned depth, frames_take *take, void *self);
/* A frame whose size is known at run time only. */
FRAMES_API uint64_t frames_variable(size_t bytes, frames_take *take, void *self);
/* A frame that realigns the stack, above `depth` others. */
FRAMES_API uint64_t frames_aligned(unsigned depth, frames_take *take, void *self);
/* A frame of 5 MiB, which no packed rule can hold. */
FRAMES_API uint64_t frames_huge(frames_take *take, void *self);
/* Below qsort of the C library. */
FRAMES_API uint64_t frames_sorting(frames_take *take, void *self);
/* Assembler: all registers that a callee keeps hold other things, the CFA is in one of them. */
FRAMES_API uint64_t frames_odd_register(frames_take *take, void *self);
/* Assembler without a table, with and without a frame record. */
FRAMES_API uint64_t frames_untold_chain(frames_take *take, void *self);
FRAMES_API uint64_t frames_untold(frames_take *take, void *self);
/* C++: below a handler of an exception that was thrown `depth` frames further in, and in the
 * destructor that unwinding runs. */
FRAMES_API uint64_t frames_catching(unsigned depth, frames_take *take, void *self);
FRAMES_API uint64_t frames_cleanup(unsigned depth, frames_take *take, void *self);

#ifdef __cplusplus
}
#endif

#endif
