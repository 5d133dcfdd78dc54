/* Looks for kernels to hold. Invariant: a kernel that is given ends before `first` begins, or is
 * it, in every schedule; and none of it has to happen before `then`, be it by events, by streams or
 * because the host waits in between. */
#include "explore/gates.h"

static bool is_kernel(const struct model *model, uint32_t item)
{
    return model->items.items[item].kind == SSAN_op_kind_KERNEL;
}

static bool holds_back(const struct model *model, uint32_t kernel, uint32_t first)
{
    return kernel == first || model_before(model, kernel, first);
}

enum gates_answer gates_held(const struct model *model, const struct invert_pair *pair, unsigned n,
                             uint32_t *held)
{
    bool some = false;
    for (uint32_t i = pair->first + 1; i-- > 0;) {
        if (!is_kernel(model, i) || !holds_back(model, i, pair->first)) {
            continue;
        }
        some = true;
        if ((pair->then == MODEL_NONE || !model_before(model, i, pair->then)) && n-- == 0) {
            *held = i;
            return GATES_FOUND;
        }
    }
    return some ? GATES_SHARED : GATES_NO_KERNEL;
}
