/* Which fix is told, see explain_fix_told.h. Cost: O(findings) for each. */
#include "core/explain_fix_told.h"

#include "core/explain_failures.h"
#include "core/explain_side.h"

#include <string.h>

/* Which findings go with the fix of `work` and which stay. False when out of memory. */
static bool fill_lists(struct fix *fix, struct arena *arena, const struct checker *checker,
                       const struct work *work, const char *const *ids)
{
    const size_t count = checker->work_count;
    const char **removes = arena_alloc(arena, count * sizeof *removes);
    const char **leaves = arena_alloc(arena, count * sizeof *leaves);
    bool *stays = arena_alloc(arena, count * sizeof *stays);
    if (!removes || !leaves || !stays) {
        return false;
    }
    for (size_t i = 0; i < count; i++) { /* a finding stays as long as anything of it does */
        stays[checker->works[i].folded_into] |= !work->gone[i];
    }
    for (size_t i = 0; i < count; i++) {
        if (checker->works[i].folded_into != i) {
            continue;
        }
        if (stays[i]) {
            leaves[fix->leave_count++] = ids[i];
        } else {
            removes[fix->remove_count++] = ids[i];
        }
    }
    fix->removes = removes;
    fix->leaves = leaves;
    return true;
}

/* The proposal that passed. NULL when out of memory. */
static const struct fix *tell_checked(struct arena *arena, const struct checker *checker,
                                      const struct work *work, const char *const *ids)
{
    const struct proposal *passed = work->fix;
    struct fix *fix = arena_alloc(arena, sizeof *fix);
    const char **foreign = arena_alloc(arena, sizeof passed->foreign);
    if (!fix || !foreign) {
        return NULL;
    }
    memcpy(foreign, passed->foreign, sizeof passed->foreign);
    *fix = (struct fix){.kind = passed->kind,
                        .checked = true,
                        .partial = passed->partial,
                        .borrowed = passed->borrowed,
                        .foreign = foreign,
                        .foreign_count = passed->foreign_count,
                        .edits = passed->edits,
                        .edit_count = passed->edit_count};
    return fill_lists(fix, arena, checker, work, ids) ? fix : NULL;
}

/* What the owner of the finding's buffer says of it, unless the owner is on both sides, where the
 * program can do nothing with it; NULL: nothing. */
static const char *usage_of(const struct history *history, const struct hazard *hazard)
{
    const uint64_t block =
        hazard_has_block(hazard) ? hazard_block(history, hazard) : BLOCK_PAGEABLE;
    if ((block & BLOCK_PAGEABLE) || (history_site(history, hazard->first.site)->of_library &&
                                     history_site(history, hazard->then.site)->of_library)) {
        return NULL;
    }
    return history->allocs.items[block].usage;
}

static const struct fix *tell_usage(struct arena *arena, const char *usage)
{
    struct fix *fix = arena_alloc(arena, sizeof *fix);
    if (fix) {
        *fix = (struct fix){.kind = FIX_KEEP_USAGE, .usage = usage};
    }
    return fix;
}

bool fix_tell(struct arena *arena, const struct checker *checker, size_t index,
              const char *const *ids, const struct fix **told)
{
    const struct work *work = &checker->works[index];
    const char *usage = usage_of(checker->history, work->hazard);
    *told = NULL;
    if (work->hazard->check == CHECK_UNCHECKED_LAUNCH) {
        *told = explain_ask_error(arena, history_place(checker->history, work->hazard->then.site));
    } else if (usage) {
        *told = tell_usage(arena, usage);
    } else if (work->fix && work->fix->edit_count > 0) {
        *told = tell_checked(arena, checker, work, ids);
    } else { /* none without source edits */
        return true;
    }
    return *told != NULL;
}
