/* Hints of a kernel, from launches that have ended.
 *
 * A window has several operands where they lie near each other, so what one launch tells is a set;
 * the next one makes it smaller. An instruction of which no operand is left takes its addresses
 * from elsewhere, and is not guessed any more; one that did not take its guess over is forgotten
 * until it is seen again. Guesses leave half of the cells to those that are found: an instruction
 * must find room whatever is guessed. Hints are never changed: who learns makes new ones, old ones
 * stay for those who read them, VERSIONS of a kernel at most. Cost of a launch: hints times
 * windows. */
#include "capture/observe_hints.h"

#include "base/mem.h"

#include <stdatomic.h>
#include <string.h>

#define LEARN_FIRST   4u  /* launches of a kernel that are learnt from in any case, */
#define LEARN_UNCLEAR 64u /* where an operand is not clear, */
#define LEARN_EVERY   64u /* and one in so many later on */
#define VERSIONS      64u

#define GROUP 8u /* neighbouring cells that are tried one after the other */

struct site_hint {
    uint32_t code;     /* PATCH_CODE */
    uint64_t operands; /* OBSERVE_OPERAND of those that it may be; 0: it is none for sure */
};

struct kernel_hints {
    struct kernel_hints *older;
    uint32_t version, count;
    struct site_hint items[]; /* by code */
};

/* The window of the one operand that it can be; NULL: there is none, or there are several. */
static struct pool_window *find_window(struct pool_launch *launch, const struct site_hint *hint,
                                       bool *is_unclear)
{
    struct pool_window *found = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < launch->window_count; i++) {
        if (launch->windows[i].operands & hint->operands) {
            found = &launch->windows[i];
            count++;
        }
    }
    *is_unclear = *is_unclear || count > 1;
    return count == 1 ? found : NULL;
}

/* A cell where each access looks for the instruction; NULL: there is none, or its group has as many
 * guesses as it may. */
static struct patch_site *free_site(struct patch_launch *record, uint8_t *guesses, uint32_t code)
{
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t at = PATCH_CODE_PLACE(code) % PATCH_SITES ^ PATCH_TRY(i) / sizeof record->sites[0];
        if (record->sites[at].head == 0 && guesses[at / GROUP] < GROUP / 2) {
            guesses[at / GROUP]++;
            return &record->sites[at];
        }
    }
    return NULL;
}

size_t hints_give(struct pool_launch *launch, struct patch_launch *record)
{
    struct observed_kernel *kernel = launch->kernel;
    const struct kernel_hints *hints = atomic_load_explicit(&kernel->hints, memory_order_acquire);
    uint32_t number = atomic_fetch_add_explicit(&kernel->hinted, 1, memory_order_relaxed);
    uint8_t guesses[PATCH_SITES / GROUP] = {0};
    bool is_unclear = false;
    size_t end = 0;
    for (uint32_t i = 0; hints && i < hints->count; i++) {
        const struct site_hint *hint = &hints->items[i];
        uint32_t kind = PATCH_CODE_KIND(hint->code);
        struct pool_window *window = find_window(launch, hint, &is_unclear);
        uint64_t base = window ? record->windows[window - launch->windows].bases[kind - 1] : 0;
        struct patch_site *site = base ? free_site(record, guesses, hint->code) : NULL;
        if (site) {
            site->head = (uint64_t)window->first << 32 | hint->code | PATCH_GUESS;
            site->base = base;
            window->guessed |= 1u << kind;
            size_t behind = (size_t)((char *)(site + 1) - (char *)record);
            end = behind > end ? behind : end;
        }
    }
    launch->is_to_learn = number < LEARN_FIRST || (is_unclear && number < LEARN_UNCLEAR) ||
                          number % LEARN_EVERY == LEARN_EVERY - 1;
    launch->has_guesses = end > 0;
    return end;
}

/* -- learning -- */

/* What a launch tells of an instruction. */
struct lesson {
    uint32_t code;
    bool was_there;    /* false: it was in no window */
    uint64_t operands; /* of one that it was in */
};

static bool was_there(const struct patch_launch *record, uint32_t code)
{
    bool found = false;
    for (uint32_t i = 0; i < PATCH_SITES && !found; i++) {
        found = record->sites[i].head != 0 && (uint32_t)record->sites[i].head == code;
    }
    return found;
}

/* False: the site tells nothing, or no code and no window that this launch can have. A guess that
 * was not taken over says that the instruction was nowhere, if it wasn't in another window. */
static bool read_site(const struct pool_launch *launch, const struct patch_launch *record,
                      const struct patch_site *site, struct lesson *lesson)
{
    uint32_t kind = PATCH_CODE_KIND((uint32_t)site->head);
    lesson->code = (uint32_t)site->head & ~PATCH_GUESS;
    lesson->was_there = !(site->head & PATCH_GUESS);
    if (!lesson->was_there && was_there(record, lesson->code)) {
        return false;
    }
    for (uint32_t i = 0; i < launch->window_count && kind >= 1 && kind <= PATCH_KINDS; i++) {
        if (launch->windows[i].first == (uint32_t)(site->head >> 32)) {
            lesson->operands = launch->windows[i].operands;
            return true;
        }
    }
    return false;
}

/* The place of the code among the hints. */
static uint32_t place_of(const struct kernel_hints *hints, uint32_t code)
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
    return low;
}

static bool is_at(const struct kernel_hints *hints, uint32_t at, uint32_t code)
{
    return at < hints->count && hints->items[at].code == code;
}

/* Whether the hints do not say so yet. */
static bool is_new(const struct kernel_hints *hints, const struct lesson *lesson)
{
    uint32_t at = hints ? place_of(hints, lesson->code) : 0;
    if (!hints || !is_at(hints, at, lesson->code)) {
        return lesson->was_there && (!hints || hints->count < PATCH_SITES);
    }
    return !lesson->was_there || (hints->items[at].operands & ~lesson->operands) != 0;
}

/* There is room for one more. */
static void apply(struct kernel_hints *hints, const struct lesson *lesson)
{
    uint32_t at = place_of(hints, lesson->code);
    struct site_hint *item = &hints->items[at];
    size_t behind = (hints->count - at) * sizeof *item;
    if (!is_at(hints, at, lesson->code)) {
        memmove(item + 1, item, behind);
        *item = (struct site_hint){lesson->code, lesson->operands};
        hints->count++;
    } else if (lesson->was_there) {
        item->operands &= lesson->operands;
    } else {
        memmove(item, item + 1, behind - sizeof *item);
        hints->count--;
    }
}

/* A copy with room for all; NULL: no memory, or there were enough of them. */
static struct kernel_hints *next_version(struct kernel_hints *known)
{
    if (known && known->version == VERSIONS) {
        return NULL;
    }
    struct kernel_hints *hints =
        mem_zalloc(1, sizeof *hints + PATCH_SITES * sizeof hints->items[0]);
    if (hints) {
        hints->older = known;
        hints->version = known ? known->version + 1 : 1;
        hints->count = known ? known->count : 0;
        if (known) {
            memcpy(hints->items, known->items, known->count * sizeof known->items[0]);
        }
    }
    return hints;
}

void hints_learn(const struct pool_launch *launch, const struct patch_launch *record)
{
    struct observed_kernel *kernel = launch->kernel;
    struct kernel_hints *known = atomic_load_explicit(&kernel->hints, memory_order_acquire);
    struct kernel_hints *hints = NULL;
    for (uint32_t i = 0; i < PATCH_SITES; i++) {
        struct lesson lesson;
        if (record->sites[i].head == 0 || !read_site(launch, record, &record->sites[i], &lesson) ||
            !is_new(hints ? hints : known, &lesson)) {
            continue;
        }
        hints = hints ? hints : next_version(known);
        if (!hints) {
            return;
        }
        apply(hints, &lesson);
    }
    /* Of two that learn at once, one is too late; it is not the last launch. */
    if (hints && !atomic_compare_exchange_strong_explicit(
                     &kernel->hints, &known, hints, memory_order_release, memory_order_relaxed)) {
        mem_free(hints);
    }
}
