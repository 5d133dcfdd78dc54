/* The gate's device code on the fake, which runs items in the order of submission: a kernel whose
 * gate would be opened by what has been submitted goes on as if it had waited for that, any other
 * one as if its time were over. */
#include "capture/fake/fake.h"

#include "capture/gate_abi.h"

#define HELD_NS 20000000

void fake_gate_enter(const void *user)
{
    const uint64_t *address = (const void *)((const char *)user + GATE_OFFSET);
    struct gate_block *block = (struct gate_block *)(uintptr_t)*address;
    struct gate_state *state;
    uint32_t release;
    if (!block || block->release != GATE_HOLDS) {
        return;
    }
    state = (struct gate_state *)(uintptr_t)block->state;
    release = __atomic_load_n(&block->done, __ATOMIC_ACQUIRE) || fake_has_copy_to(&block->done) ||
                      (block->by_host && __atomic_load_n(&state->opened, __ATOMIC_ACQUIRE))
                  ? GATE_BY_PARTNER
                  : GATE_BY_LIMIT;
    state->submitted_then = __atomic_load_n(&state->submitted, __ATOMIC_ACQUIRE);
    state->blocks = 1;
    state->held_ns = HELD_NS;
    block->release = release;
    __atomic_store_n(&state->release, release, __ATOMIC_RELEASE);
}
