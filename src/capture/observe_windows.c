/* Windows of launches from their operands.
 *
 * A kernel that was never seen is thought to access FIRST_REACH bytes behind an operand for each of
 * its threads, and nothing worth a window if these are few; one that went beyond that, eight times
 * as many, up to the end of the block; one that stayed below, as many as it used: what is set aside
 * has to be read back and zeroed. Windows of operands that touch become one. Cost of a launch: a
 * look-up for each word of its parameters, one small copy: of up to 600 bytes, or 5 KB with all
 * that is guessed. */
#include "capture/observe_windows.h"

#include "capture/memory.h"
#include "capture/observe_claims.h"
#include "capture/observe_hints.h"

#include <stdatomic.h>
#include <string.h>

#define FIRST_REACH 64u
#define MOST_REACH  (FIRST_REACH << 12)
#define LEAST_BYTES (UINT64_C(1) << 20) /* behind an operand, whatever the threads are */
#define OUTSIDE     2u                  /* leaves that a launch may have beside its windows */
#define LOOKED_AT   64u                 /* of its leaves, to find so many */
#define GROWTHS     3u                  /* of a kernel's windows, from which on they never shrink */

static void remove_at(struct window_plan *plan, uint32_t at)
{
    plan->count--;
    memmove(&plan->items[at], &plan->items[at + 1], (plan->count - at) * sizeof plan->items[0]);
}

/* Adds leaves; those that it touches become part of it. Where there is no room, the smallest goes.
 */
static void add_leaves(struct window_plan *plan, uint64_t first, uint64_t end, uint64_t operands)
{
    uint32_t at = 0, smallest = 0;
    for (uint32_t i = plan->count; i-- > 0;) {
        if (plan->items[i].first <= end && first <= plan->items[i].end) {
            first = plan->items[i].first < first ? plan->items[i].first : first;
            end = plan->items[i].end > end ? plan->items[i].end : end;
            operands |= plan->items[i].operands;
            remove_at(plan, i);
        }
    }
    end = end - first > PATCH_WINDOW_MOST ? first + PATCH_WINDOW_MOST : end;
    if (plan->count == PATCH_WINDOWS) {
        for (uint32_t i = 1; i < plan->count; i++) {
            if (plan->items[i].end - plan->items[i].first <
                plan->items[smallest].end - plan->items[smallest].first) {
                smallest = i;
            }
        }
        if (plan->items[smallest].end - plan->items[smallest].first >= end - first) {
            return;
        }
        remove_at(plan, smallest);
    }
    while (at < plan->count && plan->items[at].first < first) {
        at++;
    }
    memmove(&plan->items[at + 1], &plan->items[at], (plan->count - at) * sizeof plan->items[0]);
    plan->items[at] = (struct planned_window){first, end, operands};
    plan->count++;
}

static void take_operand(void *self, const struct observe_operand *operand)
{
    struct window_plan *plan = self;
    uint64_t address = operand->address, end = operand->block_end;
    end = end - address > plan->reach ? address + plan->reach : end;
    uint64_t leaf = UINT64_C(1) << PATCH_WINDOW_SHIFT;
    add_leaves(plan, address / leaf, (end + leaf - 1) / leaf, OBSERVE_OPERAND(operand->offset));
}

bool windows_are_worth(const struct observed_kernel *kernel, uint64_t threads)
{
    return kernel->kinds != 0 && (threads >= WINDOWS_THREADS ||
                                  atomic_load_explicit(&kernel->growths, memory_order_relaxed) > 0);
}

struct window_plan windows_plan(const struct observed_kernel *kernel,
                                const struct observe_arguments *arguments, uint64_t threads)
{
    struct window_plan plan = {.count = 0};
    uint64_t a_thread = atomic_load_explicit(&kernel->reach, memory_order_relaxed);
    if (!windows_are_worth(kernel, threads)) {
        return plan;
    }
    a_thread = a_thread ? a_thread : FIRST_REACH;
    plan.reach = threads > UINT64_MAX / a_thread ? UINT64_MAX : threads * a_thread;
    plan.reach = plan.reach < LEAST_BYTES ? LEAST_BYTES : plan.reach;
    if (!observe_operands_each(kernel, arguments, take_operand, &plan)) {
        plan.count = 0;
    }
    return plan;
}

/* What a launch got and what it did without, in pages. */
struct taking {
    uint64_t taken, missing;
};

/* Lock held. */
static void take_window(struct pool *pool, struct pool_launch *launch, struct patch_launch *record,
                        struct taking *taking, const struct planned_window *planned)
{
    struct pool_window *window = &launch->windows[launch->window_count];
    struct patch_window *there = &record->windows[launch->window_count];
    uint64_t first = planned->first, count = planned->end - first;
    memset(window, 0, sizeof *window);
    memset(there, 0, sizeof *there);
    for (uint32_t kind = 1; kind <= PATCH_KINDS; kind++) {
        if (!(launch->kernel->kinds >> kind & 1)) {
            continue;
        }
        uint64_t pages = windows_pages(count, kind);
        uint64_t address = slabs_take(&pool->slabs, pages);
        if (!address) {
            taking->missing += pages;
            continue;
        }
        taking->taken += pages;
        uint64_t before = windows_pages(first, kind) * PATCH_PAGE_BYTES;
        window->pages[kind - 1] = address;
        there->bases[kind - 1] = ((address - before) & PATCH_ADDRESS) | count << 48;
    }
    window->first = there->first = (uint32_t)first;
    window->count = there->count = (uint32_t)count;
    window->operands = planned->operands;
    launch->window_count++;
}

/* A launch without windows is far slower, and memory comes later than it is asked for: asked for is
 * what the next launch like this one would not find, or the one behind that. Lock held. */
static void ask_ahead(struct pool *pool, const struct taking *taking)
{
    uint64_t wanted = taking->taken + taking->missing;
    uint64_t left = slabs_left(&pool->slabs);
    if (taking->missing > 0 || left < 2 * wanted) {
        pool->wanted_pages = wanted > pool->wanted_pages ? wanted : pool->wanted_pages;
    }
    pool->short_pages = left < wanted ? wanted : 0;
}

void windows_give(struct pool *pool, uint64_t user, const struct window_plan *plan,
                  uint64_t threads, struct sanitizer_stream *handle)
{
    uint32_t index = pool_record(pool, user);
    struct patch_launch *record = &pool->templates[index]; /* goes there as far as its windows */
    struct pool_launch *launch = &pool->launches[index];
    const size_t from = offsetof(struct patch_launch, ring_mask); /* as it is there; whole words */
    struct taking taking = {0, 0};
    if (plan->count == 0) {
        return;
    }
    launch->threads = threads;
    pthread_mutex_lock(&pool->lock);
    for (uint32_t i = 0; i < plan->count && !pool->wants_release; i++) {
        take_window(pool, launch, record, &taking, &plan->items[i]);
    }
    ask_ahead(pool, &taking);
    record->window_count = launch->window_count;
    launch->lacks_windows = launch->window_count < plan->count || taking.missing > 0;
    claims_promise(pool, launch);
    pthread_mutex_unlock(&pool->lock);
    if (record->window_count == 0) {
        return;
    }
    size_t guessed = hints_give(launch, record);
    size_t windows =
        offsetof(struct patch_launch, windows) + record->window_count * sizeof(struct patch_window);
    size_t bytes = (guessed ? guessed : windows) - from;
    /* Where that fails the launch may have its windows or not: it keeps them until it is drained.
     */
    (void)pool->api->copy_to_device_async(pool_at(user + from), (char *)record + from, bytes,
                                          handle);
}

void windows_free(struct pool *pool, struct pool_launch *launch)
{
    for (uint32_t i = 0; i < launch->window_count; i++) {
        const struct pool_window *window = &launch->windows[i];
        for (uint32_t kind = 1; kind <= PATCH_KINDS; kind++) {
            if (window->pages[kind - 1]) {
                slabs_give(&pool->slabs, window->pages[kind - 1],
                           windows_pages(window->count, kind));
            }
        }
    }
    launch->window_count = 0;
}

/* Whether a window's block goes on behind it, and the address is there. */
static bool is_behind(const struct pool_window *window, uint64_t address)
{
    struct memory_block block;
    uint64_t end = ((uint64_t)window->first + window->count) << PATCH_WINDOW_SHIFT;
    return address >= end && memory_find(end - 1, &block) && address < block.address + block.size;
}

/* Whether larger windows would have had the leaf; any, where there were none. */
static bool is_missed(const struct pool_launch *launch, uint64_t what)
{
    uint64_t address = pool_leaf_address(what);
    bool is_missed = launch->window_count == 0;
    for (uint32_t i = 0; i < launch->window_count && !is_missed; i++) {
        is_missed = is_behind(&launch->windows[i], address);
    }
    return is_missed && (what & 7) != PATCH_KIND_DIRECTORY;
}

uint64_t windows_pages_of(const struct pool_launch *launch)
{
    uint64_t pages = 0;
    for (uint32_t i = 0; i < launch->window_count; i++) {
        const struct pool_window *window = &launch->windows[i];
        for (uint32_t kind = 1; kind <= PATCH_KINDS; kind++) {
            pages += window->pages[kind - 1] ? windows_pages(window->count, kind) : 0;
        }
    }
    return pages;
}

void windows_note(struct pool_launch *launch, uint64_t what)
{
    uint64_t leaf = pool_leaf_address(what) >> PATCH_WINDOW_SHIFT;
    launch->touched++;
    for (uint32_t i = 0; i < launch->window_count; i++) {
        struct pool_window *window = &launch->windows[i];
        uint64_t at = leaf - window->first;
        if (at < window->count && at >= window->used) {
            window->used = (uint32_t)at + 1;
        }
    }
}

/* The reach with which no window would have been shorter than what was used of it; 0: none was. A
 * window of several operands is used as far as its last one. */
static uint64_t reach_used(const struct pool_launch *launch)
{
    uint64_t used = 0, reach = 1;
    for (uint32_t i = 0; i < launch->window_count; i++) {
        used = launch->windows[i].used > used ? launch->windows[i].used : used;
    }
    while (launch->threads && reach * launch->threads < used << PATCH_WINDOW_SHIFT) {
        reach *= 2;
    }
    return used && launch->threads ? reach : 0;
}

/* Growing counts, so that a kernel whose launches differ keeps what the largest of them need. */
static void set_reach(struct observed_kernel *kernel, uint64_t reach, bool grows)
{
    atomic_store_explicit(&kernel->reach, (uint32_t)reach, memory_order_relaxed);
    if (grows) {
        atomic_fetch_add_explicit(&kernel->growths, 1, memory_order_relaxed);
    }
}

void windows_learn(const struct pool_launch *launch)
{
    struct observed_kernel *kernel = launch->kernel;
    uint32_t known = atomic_load_explicit(&kernel->reach, memory_order_relaxed);
    uint32_t growths = atomic_load_explicit(&kernel->growths, memory_order_relaxed);
    uint64_t reach = known ? known : FIRST_REACH, used = reach_used(launch);
    uint32_t outside = 0;
    for (size_t i = 0; i < launch->pages.count && i < LOOKED_AT; i++) {
        outside += is_missed(launch, launch->pages.items[i].what);
    }
    if (outside > OUTSIDE && launch->window_count == 0) {
        set_reach(kernel, reach, growths == 0);
    } else if (outside > OUTSIDE && reach * 8 <= MOST_REACH) {
        set_reach(kernel, reach * 8, true);
    } else if (outside == 0 && used && used < reach && growths < GROWTHS) {
        set_reach(kernel, used, false);
    }
}
