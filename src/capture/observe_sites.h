/* Which instructions may have made an access: the entries of a launch's record, as sites. */
#ifndef SSAN_CAPTURE_OBSERVE_SITES_H
#define SSAN_CAPTURE_OBSERVE_SITES_H

#include "capture/observe_leaves.h"
#include "capture/observe_module.h"
#include "capture/patch_abi.h"

struct observe_sites {
    const struct observed_kernel *kernel;
    const struct patch_launch *record; /* a copy on the host */
};

/* The site of struct observe_leaves, whose `self` is a struct observe_sites: every instruction that
 * may have made accesses of this kind to these parts. 0 when none is known. */
uint32_t observe_sites_find(void *self, uint32_t kind, uint64_t begin, uint64_t end,
                            const struct observe_parts *parts);

#endif
