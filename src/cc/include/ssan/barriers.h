/* Barriers and fences that the compiler may move no access across.
 *
 * In clang's own they are instructions of which the alias analysis of LLVM 14 believes that they
 * leave alone what has no address outside of its module: loads of a __shared__ variable were moved
 * across __syncthreads. The empty statements of assembly that stand around them here may access
 * everything. */
#ifndef SSAN_CC_BARRIERS_H
#define SSAN_CC_BARRIERS_H
#pragma GCC system_header

#define SSAN_BARRIER_      static __device__ __inline__ __attribute__((always_inline))
#define SSAN_KEEP_ORDER_() __asm__ volatile("" ::: "memory")

/* As clang's function or builtin, which device.h has given another name. */
#define SSAN_FENCE_(name, parameters, instruction)                                                 \
    SSAN_BARRIER_ void name parameters                                                             \
    {                                                                                              \
        SSAN_KEEP_ORDER_();                                                                        \
        instruction;                                                                               \
        SSAN_KEEP_ORDER_();                                                                        \
    }
#define SSAN_VOTE_(name, instruction)                                                              \
    SSAN_BARRIER_ int name(int predicate)                                                          \
    {                                                                                              \
        SSAN_KEEP_ORDER_();                                                                        \
        const int result = instruction(predicate);                                                 \
        SSAN_KEEP_ORDER_();                                                                        \
        return result;                                                                             \
    }

SSAN_FENCE_(ssan_syncthreads, (void), __syncthreads())
SSAN_FENCE_(__syncwarp, (unsigned int mask = 0xffffffffu), ssan_clang_syncwarp(mask))
SSAN_FENCE_(__barrier_sync, (unsigned int id), ssan_clang_barrier_sync(id))
SSAN_FENCE_(__barrier_sync_count, (unsigned int id, unsigned int count),
            ssan_clang_barrier_sync_count(id, count))
SSAN_FENCE_(__threadfence, (void), ssan_clang_threadfence())
SSAN_FENCE_(__threadfence_block, (void), ssan_clang_threadfence_block())
SSAN_FENCE_(__threadfence_system, (void), ssan_clang_threadfence_system())
SSAN_VOTE_(__syncthreads_and, ssan_clang_syncthreads_and)
SSAN_VOTE_(__syncthreads_or, ssan_clang_syncthreads_or)
SSAN_VOTE_(__syncthreads_count, ssan_clang_syncthreads_count)

/* A builtin, which can't be defined. */
#define __syncthreads() ssan_syncthreads()

#undef SSAN_VOTE_
#undef SSAN_FENCE_
#undef SSAN_KEEP_ORDER_
#undef SSAN_BARRIER_

#endif
