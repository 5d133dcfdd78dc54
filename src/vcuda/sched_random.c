/* Seeded choice: at each call perhaps some operations run, at a join any that may, and now and then
 * a kernel stops between two blocks to let another one run. The same seed and the same order of
 * calls give the same run. */
#include "vcuda/plan_order.h"
#include "vcuda/sched.h"

static bool may_run(const struct op *op)
{
    return !op->parked && plan_order_allows(op);
}

static struct op *pick(void)
{
    size_t fresh = 0, chosen;
    for (size_t i = 0; i < device.ready.count; i++) {
        fresh += may_run(device.ready.items[i]);
    }
    if (fresh == 0) {
        return NULL;
    }
    chosen = rng_below(&device.rng, fresh);
    for (size_t i = 0; i < device.ready.count; i++) {
        if (may_run(device.ready.items[i]) && chosen-- == 0) {
            return device.ready.items[i];
        }
    }
    return NULL;
}

static void at_call(void)
{
    uint64_t runs = rng_below(&device.rng, 2) ? 1 + rng_below(&device.rng, 3) : 0;
    for (; runs > 0 && !device.job && !device.sticky; runs--) {
        struct op *op = pick();
        if (!op) {
            break;
        }
        sched_run(op);
    }
}

static uint64_t budget(void)
{
    return rng_below(&device.rng, 4) == 0 ? 1 + rng_below(&device.rng, 4) : 0;
}

const struct policy sched_random = {
    .name = "random", .pick = pick, .call = at_call, .budget = budget};
