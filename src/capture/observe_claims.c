/* Of a kernel the most that a launch has claimed is kept, and forgotten slowly: those that claim
 * much come again. */
#include "capture/observe_claims.h"

#include "capture/observe_windows.h"

#include <stdatomic.h>

#define FEW        64u /* pages: not worth a look at the parameters */
#define UNKNOWN    8u  /* a launch of an unknown kernel: one in so many pages at most */
#define FORGETTING 16u

struct estimate {
    uint64_t leaves; /* of 256 KiB */
    uint64_t last_end;
};

/* The operands of one block mostly follow one another. */
static void add_operand(void *self, const struct observe_operand *operand)
{
    struct estimate *estimate = self;
    if (operand->block_end != estimate->last_end) {
        estimate->leaves += (operand->block_end >> PATCH_WINDOW_SHIFT) -
                            (operand->address >> PATCH_WINDOW_SHIFT) + 1;
        estimate->last_end = operand->block_end;
    }
}

/* Pages for all kinds of accesses that the kernel can make, in so many leaves. */
static uint64_t pages_of(const struct observed_kernel *kernel, uint64_t leaves)
{
    uint64_t pages = 0;
    for (uint32_t kind = 1; kind <= PATCH_KINDS; kind++) {
        pages += kernel->kinds >> kind & 1 ? windows_pages(leaves, kind) : 0;
    }
    return pages;
}

bool claims_are_known(const struct observed_kernel *kernel)
{
    return atomic_load_explicit(&kernel->touched, memory_order_relaxed) != 0;
}

/* Of a launch of an unknown kernel. */
static uint32_t estimate_pages(const struct pool *pool, const struct pool_launch *launch,
                               const struct observe_arguments *arguments, uint64_t threads)
{
    struct estimate estimate = {0, 0};
    const uint64_t most = pool->page_count / UNKNOWN, windows = windows_pages_of(launch);
    uint64_t pages = threads < most ? threads : most;
    if (pages > FEW && observe_operands_each(launch->kernel, arguments, add_operand, &estimate)) {
        const uint64_t all = pages_of(launch->kernel, estimate.leaves);
        pages = all < pages ? all : pages;
    }
    return (uint32_t)(windows < pages ? pages - windows : 0);
}

static void set_promise(struct pool *pool, struct pool_launch *launch, uint32_t pages)
{
    pool->promised += pages;
    pool->promised -= launch->promised;
    launch->promised = pages;
}

void claims_promise(struct pool *pool, struct pool_launch *launch)
{
    uint32_t touched = 0, claims = 0;
    if (launch->kernel) {
        touched = atomic_load_explicit(&launch->kernel->touched, memory_order_relaxed);
        claims = atomic_load_explicit(&launch->kernel->claims, memory_order_relaxed);
    }
    set_promise(pool, launch, !touched ? 0 : launch->lacks_windows ? touched - 1 : claims);
}

void claims_give_back(struct pool *pool, struct pool_launch *launch)
{
    set_promise(pool, launch, 0);
}

void claims_promise_unknown(struct pool *pool, uint64_t user,
                            const struct observe_arguments *arguments, uint64_t threads)
{
    struct pool_launch *launch = &pool->launches[pool_record(pool, user)];
    const uint32_t pages = estimate_pages(pool, launch, arguments, threads);
    pthread_mutex_lock(&pool->lock);
    set_promise(pool, launch, pages);
    pthread_mutex_unlock(&pool->lock);
}

/* What to expect when `pages` come behind `old`. */
static uint32_t forget(uint32_t old, uint32_t pages)
{
    return pages >= old ? pages : old - (old - pages + FORGETTING - 1) / FORGETTING;
}

void claims_learn(const struct pool *pool, const struct pool_launch *launch, bool is_lost)
{
    struct observed_kernel *kernel = launch->kernel;
    const uint32_t claims = atomic_load_explicit(&kernel->claims, memory_order_relaxed);
    const uint32_t touched = atomic_load_explicit(&kernel->touched, memory_order_relaxed);
    const uint32_t most = pool->page_count, least = is_lost ? most / UNKNOWN : 0;
    uint32_t own = launch->pages.count < most ? (uint32_t)launch->pages.count : most;
    uint32_t all = launch->touched < most ? launch->touched : most;
    own = own < least ? least : own;
    all = all < own ? own : all;
    atomic_store_explicit(&kernel->claims, forget(claims, own), memory_order_relaxed);
    atomic_store_explicit(&kernel->touched, forget(touched ? touched - 1 : 0, all) + 1,
                          memory_order_relaxed);
}
