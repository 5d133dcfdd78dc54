/* The matrix of copies (rows C1 to A7) and the rule of memsets, row by row. */
#include "support/oracle_rules.h"

#define DOCUMENTED ((unsigned)WORLD_DOCUMENTED | (unsigned)WORLD_DOCUMENTED_LIFE)
#define OBSERVED   ((unsigned)WORLD_OBSERVED | (unsigned)WORLD_OBSERVED_LIFE)
#define BOTH       (DOCUMENTED | OBSERVED)

/* D, K, P, M of 4.1. */
enum side { DEVICE, LOCKED, PAGEABLE, MANAGED };

static enum side side_of(enum ssan_memory memory)
{
    switch (memory) {
    case SSAN_memory_DEVICE:
        return DEVICE;
    case SSAN_memory_PINNED:
    case SSAN_memory_REGISTERED:
        return LOCKED;
    case SSAN_memory_MANAGED:
        return MANAGED;
    default:
        return PAGEABLE;
    }
}

/* Rows C1 to C5 in one reading: no managed memory left. */
static struct copy_rule sync_copy(enum side src, enum side dst, bool small, unsigned reading)
{
    struct copy_rule rule = {0};
    bool from_host = src != DEVICE, to_host = dst != DEVICE;
    if (to_host) { /* C3, C5 */
        rule.host_sync = reading;
    } else if (from_host && src == LOCKED && !(small && reading == DOCUMENTED)) { /* C2 */
        rule.host_sync = reading;
    } else if (from_host) { /* C1; C2 of at most 64 KiB as documented */
        rule.source_free = reading;
        rule.joins_prior = small && reading == DOCUMENTED ? 0 : reading;
    } /* else C4: nothing */
    return rule;
}

static struct copy_rule either(struct copy_rule a, struct copy_rule b)
{
    return (struct copy_rule){a.source_free | b.source_free, a.host_sync | b.host_sync,
                              a.joins_prior | b.joins_prior};
}

struct copy_rule oracle_copy_rule(enum ssan_form form, enum ssan_memory source,
                                  enum ssan_memory destination, uint64_t size)
{
    enum side src = side_of(source), dst = side_of(destination);
    bool small = size <= 65536, managed = src == MANAGED || dst == MANAGED;
    if (form == SSAN_form_SYNC && managed) { /* C6: documented, M plays D */
        struct copy_rule documented = sync_copy(src == MANAGED ? DEVICE : src,
                                                dst == MANAGED ? DEVICE : dst, small, DOCUMENTED);
        return either(documented, (struct copy_rule){.host_sync = OBSERVED});
    }
    if (form == SSAN_form_SYNC) {
        return either(sync_copy(src, dst, small, DOCUMENTED), sync_copy(src, dst, small, OBSERVED));
    }
    if (managed) { /* A6 */
        return (struct copy_rule){0};
    }
    if (src != DEVICE && dst != DEVICE) { /* A5 */
        return (struct copy_rule){.host_sync = BOTH};
    }
    if (src == PAGEABLE) { /* A1 */
        return (struct copy_rule){.source_free = OBSERVED};
    }
    if (dst == PAGEABLE) { /* A2 */
        return (struct copy_rule){.host_sync = OBSERVED};
    }
    return (struct copy_rule){0}; /* A3, A4 */
}

struct copy_rule oracle_memset_rule(enum ssan_form form, enum ssan_memory destination)
{
    enum side dst = side_of(destination);
    if (form != SSAN_form_SYNC || (dst != LOCKED && dst != MANAGED)) { /* R-COPY-19, R-COPY-18 */
        return (struct copy_rule){0};
    }
    return (struct copy_rule){.host_sync = dst == MANAGED ? OBSERVED : BOTH};
}
