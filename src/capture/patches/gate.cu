/* The gate: device code that is called by every thread of every block as the block begins.
 *
 * A launch that is not held has no gate in its user data. Of a held one the first lane of each warp waits for
 * the others, so no thread goes on before the release; the threads that wait sleep in between, and
 * leave the rest of the device to others. Whoever sees the end first decides it for all. Built by
 * nvcc --compile-as-tools-patch; runs on every GPU that has nanosleep (7.0 and later). */
#include "capture/gate_abi.h"

#include <sanitizer_patching.h>

#define POLL_NS 1000

static __device__ __forceinline__ uint64_t now_ns(void)
{
    uint64_t time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

template <typename T> static __device__ __forceinline__ T look(const T *at)
{
    return *(const volatile T *)at;
}

static __device__ __forceinline__ uint64_t set_once(uint64_t *at, uint64_t value)
{
    uint64_t old = atomicCAS((unsigned long long *)at, 0ull, (unsigned long long)value);
    return old ? old : value;
}

/* Whether this block is one of those that are held; all its warps get the same answer. */
static __device__ bool is_held(struct gate_block *gate)
{
    uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z) + 1;
    for (uint32_t i = 0; i < gate->most; i++) {
        uint32_t there = look(&gate->table[i]);
        if (!there) {
            there = atomicCAS(&gate->table[i], 0u, block);
        }
        if (!there || there == block) {
            return true;
        }
    }
    return gate->most == 0;
}

static __device__ void release(struct gate_block *gate, enum gate_release by, uint64_t held_ns)
{
    struct gate_state *state = (struct gate_state *)gate->state;
    if (atomicCAS(&gate->release, (uint32_t)GATE_HOLDS, (uint32_t)by) != GATE_HOLDS) {
        return;
    }
    state->held_ns = held_ns;
    state->submitted_then = look(&state->submitted);
    state->blocks = look(&gate->blocks);
    __threadfence_system();
    *(volatile uint32_t *)&state->release = by;
    __threadfence_system();
}

static __device__ bool is_open(const struct gate_block *gate)
{
    const struct gate_state *state = (const struct gate_state *)gate->state;
    return look(&gate->done) || (gate->by_host && look(&state->opened));
}

static __device__ void wait(struct gate_block *gate)
{
    uint64_t begun = set_once(&gate->begun, now_ns());
    while (look(&gate->release) == GATE_HOLDS) {
        /* signed: another thread's time may be the later one */
        int64_t held = (int64_t)(now_ns() - begun);
        if (is_open(gate)) {
            uint64_t seen = set_once(&gate->done_seen, now_ns());
            if ((int64_t)(now_ns() - seen) >= (int64_t)gate->grace_ns) {
                release(gate, GATE_BY_PARTNER, (uint64_t)held);
            }
        } else if (held >= (int64_t)gate->limit_ns) {
            release(gate, GATE_BY_LIMIT, (uint64_t)held);
        }
        __nanosleep(POLL_NS);
    }
}

extern "C" __device__ __noinline__ SanitizerPatchResult GATE_ENTER(void *user, uint64_t pc)
{
    uint64_t address = user ? *(const uint64_t *)((const char *)user + GATE_OFFSET) : 0;
    struct gate_block *gate = (struct gate_block *)address;
    uint32_t mask, lane;
    if (!gate) {
        return SANITIZER_PATCH_SUCCESS;
    }
    mask = __activemask();
    lane = (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
    if (lane == (uint32_t)__ffs(mask) - 1 && is_held(gate)) {
        if (threadIdx.x + threadIdx.y + threadIdx.z == 0 && look(&gate->release) == GATE_HOLDS) {
            atomicAdd(&gate->blocks, 1u);
        }
        wait(gate);
    }
    __syncwarp(mask);
    return SANITIZER_PATCH_SUCCESS;
}
