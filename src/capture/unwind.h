/* Walks the calling thread's stack by a cache from return address to unwind rule.
 *
 * Any thread, inside any callback. Known addresses take no lock of ours and no memory. */
#ifndef SSAN_CAPTURE_UNWIND_H
#define SSAN_CAPTURE_UNWIND_H

#include "capture/unwind_cfi.h"

#include "trace/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A frame: module << 48 | return address. */
#define UNWIND_ADDRESS       ((UINT64_C(1) << 48) - 1)
#define UNWIND_MODULE(frame) ((uint32_t)((frame) >> 48))

/* The registers of a point in a function, by their DWARF numbers; the program counter apart. Those
 * that a caller may lose are not set. */
struct unwind_registers {
    uint64_t pc;
    uint64_t values[CFI_REGISTERS];
};

/* Maps the tables; `sink` takes `module` events. False: no memory. Before any walk. */
bool unwind_open(struct ssan_sink *sink);
void unwind_close(void);

/* In a forked child, where another thread may have held the lock. */
void unwind_after_fork(void);

/* The registers here. Inline, as they change with the frame. */
static inline __attribute__((always_inline)) void unwind_here(struct unwind_registers *out)
{
#if defined __x86_64__
    uint64_t *v = out->values;
    __asm__ volatile("leaq 1f(%%rip), %%rax\n\t"
                     "movq %%rax, %0\n\t"
                     "movq %%rsp, %1\n\t"
                     "movq %%rbp, %2\n\t"
                     "movq %%rbx, %3\n\t"
                     "movq %%r12, %4\n\t"
                     "movq %%r13, %5\n\t"
                     "movq %%r14, %6\n\t"
                     "movq %%r15, %7\n"
                     "1:"
                     : "=m"(out->pc), "=m"(v[7]), "=m"(v[6]), "=m"(v[3]), "=m"(v[12]), "=m"(v[13]),
                       "=m"(v[14]), "=m"(v[15])
                     :
                     : "rax");
#else
    register uint64_t *v __asm__("x9") = out->values;
    __asm__ volatile("stp x19, x20, [%1, #152]\n\t"
                     "stp x21, x22, [%1, #168]\n\t"
                     "stp x23, x24, [%1, #184]\n\t"
                     "stp x25, x26, [%1, #200]\n\t"
                     "stp x27, x28, [%1, #216]\n\t"
                     "stp x29, x30, [%1, #232]\n\t"
                     "mov x10, sp\n\t"
                     "str x10, [%1, #248]\n\t"
                     "adr x10, 1f\n\t"
                     "str x10, %0\n"
                     "1:"
                     : "=m"(out->pc)
                     : "r"(v)
                     : "x10", "memory");
#endif
}

/* What a walk has found, innermost first. */
struct unwind_stack {
    uint64_t hash;    /* of the frames in order; begin with any number */
    uint64_t *frames; /* the caller's, `room` of them */
    uint32_t count, room;
    bool goes_on; /* also when there is no more room: for what `special` looks for */
};

/* One more frame, where there is room. */
static inline void unwind_push(struct unwind_stack *stack, uint64_t frame)
{
    if (stack->count < stack->room) {
        stack->frames[stack->count++] = frame;
        stack->hash = (stack->hash ^ frame) * UINT64_C(0x9e3779b97f4a7c15);
        stack->hash ^= stack->hash >> 32;
    }
}

enum unwind_step {
    UNWIND_KEEP,
    UNWIND_DROP, /* pass over the frame */
    UNWIND_END,  /* the walk ends before it */
};

/* Asked for each frame of a module with flags (objects.h). */
typedef enum unwind_step unwind_special(void *self, unsigned flags);

/* Walks from a point. It ends with the outermost frame, with the room, with what `special` says, or
 * with the first frame that can't be right. `registers` are used up. */
void unwind_walk(struct unwind_registers *registers, struct unwind_stack *stack,
                 unwind_special *special, void *self);

#endif
