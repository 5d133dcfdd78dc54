/* As late as possible: a join runs exactly what it waits for, the most recently submitted of the
 * runnable first, so that what no edge forces has not happened yet. */
#include "vcuda/sched.h"

static struct op *pick(void)
{
    return sched_newest(true);
}

const struct policy sched_lazy = {.name = "lazy", .pick = pick};
