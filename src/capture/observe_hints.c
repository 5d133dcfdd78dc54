/* Hints of a kernel, from launches that have ended.
 *
 * A window has several operands where they lie near each other, so what one launch tells is a set;
 * the next one makes it smaller. An instruction of which no operand is left takes its addresses
 * from elsewhere, and is not guessed any more. Hints are never changed: who learns makes new ones,
 * old ones stay for those who read them. Cost of a launch: hints times windows. */
#include "capture/observe_hints.h"

#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LEARN_FIRST 4u  /* launches of a kernel that are learnt from in any case */
#define LEARN_EVERY 64u /* and one in so many later on */

struct site_hint {
    uint32_t code;     /* PATCH_CODE */
    uint64_t operands; /* OBSERVE_OPERAND of those that it may be; 0: it is none for sure */
};

struct kernel_hints {
    struct kernel_hints *older;
    uint32_t count;
    struct site_hint items[PATCH_SITES]; /* by code */
};

/* The window of the one operand that it can be; NULL: there is none, or there are several. */
static struct pool_window *find_window(struct pool_launch *launch, const struct site_hint *hint,
                                       bool *is_ambiguous)
{
    struct pool_window *found = NULL;
    for (uint32_t i = 0; i < launch->window_count; i++) {
        if (launch->windows[i].operands & hint->operands) {
            *is_ambiguous = *is_ambiguous || found;
            found = found ? NULL : &launch->windows[i];
        }
    }
    return found;
}

/* The cell where a patch looks for it; NULL: both are taken. */
static struct patch_site *free_site(struct patch_launch *record, uint32_t code)
{
    const uint32_t home_at = PATCH_CODE_PLACE(code) % PATCH_SITES;
    struct patch_site *home = &record->sites[home_at];
    struct patch_site *other = &record->sites[home_at ^ PATCH_TRY(1) / sizeof *other];
    return home->head == 0 ? home : other->head == 0 ? other : NULL;
}

size_t hints_give(struct pool_launch *launch, struct patch_launch *record)
{
    struct observed_kernel *kernel = launch->kernel;
    const struct kernel_hints *hints = atomic_load_explicit(&kernel->hints, memory_order_acquire);
    uint32_t number = atomic_fetch_add_explicit(&kernel->hinted, 1, memory_order_relaxed);
    bool is_ambiguous = false;
    size_t end = 0;
    for (uint32_t i = 0; hints && i < hints->count; i++) {
        const struct site_hint *hint = &hints->items[i];
        uint32_t kind = PATCH_CODE_KIND(hint->code);
        struct pool_window *window = find_window(launch, hint, &is_ambiguous);
        uint64_t base = window ? record->windows[window - launch->windows].bases[kind - 1] : 0;
        struct patch_site *site = base ? free_site(record, hint->code) : NULL;
        if (site) {
            site->head = (uint64_t)window->first << 32 | hint->code | PATCH_GUESS;
            site->base = base;
            window->guessed |= 1u << kind;
            size_t behind = (size_t)((char *)(site + 1) - (char *)record);
            end = behind > end ? behind : end;
        }
    }
    launch->is_to_learn =
        is_ambiguous || number < LEARN_FIRST || number % LEARN_EVERY == LEARN_EVERY - 1;
    launch->has_guesses = end > 0;
    return end;
}

/* The operands of the window that a site is in; 0: none is known. */
static uint64_t operands_of(const struct pool_launch *launch, const struct patch_site *site)
{
    for (uint32_t i = 0; i < launch->window_count; i++) {
        if (launch->windows[i].first == (uint32_t)(site->head >> 32)) {
            return launch->windows[i].operands;
        }
    }
    return 0;
}

static struct site_hint *find_hint(struct kernel_hints *hints, uint32_t code, uint32_t *at)
{
    uint32_t low = 0, high = hints->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (hints->items[middle].code < code) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *at = low;
    return low < hints->count && hints->items[low].code == code ? &hints->items[low] : NULL;
}

/* Whether it says something new. */
static bool learn_site(struct kernel_hints *hints, uint32_t code, uint64_t operands)
{
    uint32_t at;
    struct site_hint *hint = find_hint(hints, code, &at);
    if (hint) {
        uint64_t before = hint->operands;
        hint->operands &= operands;
        return hint->operands != before;
    }
    if (hints->count == PATCH_SITES) {
        return false;
    }
    memmove(&hints->items[at + 1], &hints->items[at], (hints->count - at) * sizeof hints->items[0]);
    hints->items[at] = (struct site_hint){code, operands};
    hints->count++;
    return true;
}

void hints_learn(const struct pool_launch *launch, const struct patch_launch *record)
{
    struct observed_kernel *kernel = launch->kernel;
    struct kernel_hints *known = atomic_load_explicit(&kernel->hints, memory_order_acquire);
    struct kernel_hints *hints = mem_zalloc(1, sizeof *hints);
    bool is_new = false;
    if (!hints) {
        return;
    }
    if (known) {
        *hints = *known;
    }
    hints->older = known;
    for (uint32_t i = 0; i < PATCH_SITES; i++) {
        const struct patch_site *site = &record->sites[i];
        if (site->head != 0 && !(site->head & PATCH_GUESS)) {
            is_new = learn_site(hints, (uint32_t)site->head, operands_of(launch, site)) || is_new;
        }
    }
    /* Of two that learn at once, one is too late; it is not the last launch. */
    if (!is_new || !atomic_compare_exchange_strong_explicit(
                       &kernel->hints, &known, hints, memory_order_release, memory_order_relaxed)) {
        mem_free(hints);
    }
}
