/* Everything runs when it is submitted, or as soon as what it waits for lets it. */
#include "vcuda/sched.h"

static struct op *pick(void)
{
    return sched_oldest(false);
}

const struct policy sched_eager = {.name = "eager", .runs_at_submission = true, .pick = pick};
