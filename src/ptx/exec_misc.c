/* Clocks, fences, sleeping, addresses of frames, rounding modes. */
#include "ptx/warp.h"

#include <fenv.h>

/* Device ticks: instructions of all warps so far. A read that follows another with no access,
 * barrier or atomic between doubles the step, so that loops which wait for time to pass end soon.
 */
uint64_t warp_clock(struct warp *w)
{
    if (w->clock_was_last) {
        w->clock_step = w->clock_step < CLOCK_STEP_LIMIT ? w->clock_step * 2 : CLOCK_STEP_LIMIT;
    } else {
        w->clock_step = 1;
    }
    w->clock_was_last = true;
    uint64_t *clock = w->exec->machine.clock ? w->exec->machine.clock : &w->exec->own_clock;
    *clock += w->clock_step;
    return *clock + w->executed;
}

/* What is left of a move that changes nothing, in front of a label. */
void exec_nothing(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
}

void exec_clock(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint64_t now = warp_clock(w);
    const bool high = op->sub == SPECIAL_clock_hi || op->sub == SPECIAL_globaltimer_hi;
    EACH_LANE(i, mask)
    {
        if (op->sub == SPECIAL_clock64 || op->sub == SPECIAL_globaltimer) {
            slot_64(r, op->dst)[i] = now;
        } else {
            slot_32(r, op->dst)[i] = (uint32_t)(high ? now >> 32 : now);
        }
    }
}

/* The time passes on the virtual clock only. */
void exec_nanosleep(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint32_t *ticks = slot_32(r, op->a);
    uint32_t longest = 0;
    EACH_LANE(i, mask)
    {
        longest = ticks[i] > longest ? ticks[i] : longest;
    }
    uint64_t *clock = w->exec->machine.clock ? w->exec->machine.clock : &w->exec->own_clock;
    *clock += longest < 1000000 ? longest : 1000000;
}

void exec_fence(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void exec_frame_address(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint64_t at = (uint64_t)op->imm + w->groups[w->current].frame->local_base;
    EACH_LANE(i, mask)
    {
        if (op->width == 8) {
            slot_64(r, op->dst)[i] = at;
        } else {
            slot_32(r, op->dst)[i] = (uint32_t)at;
        }
    }
}

void exec_isspacep(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint64_t *address = slot_64(r, op->a);
    uint32_t *dst = slot_32(r, op->dst), bits = 0;
    EACH_LANE(i, mask)
    {
        bits |= address[i] >> WINDOW_SHIFT == op->sub ? 1u << i : 0;
    }
    *dst = (*dst & ~mask) | bits;
}

/* A lane operation under another rounding mode; sub: 1 toward zero, 2 down, 3 up. */
void exec_rounded(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    const int before = fegetround();
    fesetround(modes[op->sub]);
    w->exec->isa->table[op->lane](r, op, mask, w);
    fesetround(before);
}
