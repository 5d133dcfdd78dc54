/* Words of the calling thread's own stack, with the bounds that make reading them safe. */
#ifndef SSAN_CAPTURE_UNWIND_MEMORY_H
#define SSAN_CAPTURE_UNWIND_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* The end of the stack that `sp`, the calling thread's stack pointer, is in: of the thread's, or of
 * one that the program made itself. All words from sp to there can be read. Asks the kernel once a
 * stack; no memory, no lock. */
uint64_t unwind_stack_end(uint64_t sp);

/* The word at an address, which the caller has checked. Whoever instruments memory is not asked:
 * frames of others are none of ours. */
static inline __attribute__((no_sanitize("address", "thread"))) uint64_t
unwind_word(uint64_t address)
{
    return *(const volatile uint64_t *)(uintptr_t)address;
}

#endif
