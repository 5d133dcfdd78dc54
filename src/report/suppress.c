/* Which findings the user's entries hide, and what becomes of those folded into them.
 *
 * Invariant: every finding, top or folded, is hidden if and only if an entry fits it, and one that
 * is not hidden stands in the report at top or folded into one that is not hidden. Naive model: for
 * each finding the entries one by one. */
#include "report/suppress.h"

#include "report/words.h"

#include <fnmatch.h>
#include <string.h>

static bool fits_kernel(const char *glob, const struct report *report, int index)
{
    const struct report_op *op = words_op(report, index);
    bool named = op && (op->kind == ROP_KERNEL || op->kind == ROP_FAILED);
    return named && op->name && fnmatch(glob, op->name, 0) == 0;
}

bool suppress_fits(const struct suppression *entry, const struct report *report,
                   const struct finding *finding)
{
    if (entry->rule && strcmp(entry->rule, check_info(finding->check)->id) != 0) {
        return false;
    }
    if (entry->id && (!finding->id || strcmp(entry->id, finding->id) != 0)) {
        return false;
    }
    if (entry->buffer && (finding->buffer < 0 ||
                          fnmatch(entry->buffer, words_buffer(report, finding->buffer), 0) != 0)) {
        return false;
    }
    return !entry->kernel || fits_kernel(entry->kernel, report, finding->first.op) ||
           fits_kernel(entry->kernel, report, finding->then.op);
}

/* Hides the finding if an entry fits it; the first that does gives the reason, all count. */
static void mark(struct finding *finding, const struct report *report, struct suppression *entries,
                 size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        if (suppress_fits(&entries[i], report, finding)) {
            entries[i].used++;
            if (!finding->suppressed_by) {
                finding->suppressed_by = entries[i].reason;
            }
        }
    }
}

static bool is_stronger(const struct finding *a, const struct finding *b)
{
    if (a->severity != b->severity) {
        return a->severity > b->severity;
    }
    return check_info(a->check)->rank > check_info(b->check)->rank;
}

/* The one that tells what is left of a hidden finding: the strongest of those folded into it that
 * are not hidden, the first among equals; NULL: none is left. */
static struct finding *heir_of(const struct finding *finding)
{
    struct finding *heir = NULL;
    size_t i;
    for (i = 0; finding->suppressed_by && i < finding->folded_count; i++) {
        struct finding *folded = finding->folded[i];
        if (!folded->suppressed_by && (!heir || is_stronger(folded, heir))) {
            heir = folded;
        }
    }
    return heir;
}

static bool is_in_window(const struct finding *finding, int op)
{
    size_t i;
    for (i = 0; i < finding->window_count && finding->window[i] != op; i++) {
    }
    return i < finding->window_count;
}

/* The fix of `old` removes the heir too (or it would not be folded); false when out of memory. */
static bool inherit_fix(struct arena *arena, struct finding *heir, const struct finding *old)
{
    struct fix *fix = arena_alloc(arena, sizeof *fix);
    const char **removes;
    if (!old->fix) {
        return true;
    }
    removes = arena_alloc(arena, (old->fix->remove_count + 1) * sizeof *removes);
    if (!fix || !removes) {
        return false;
    }
    if (old->fix->remove_count > 0) {
        memcpy(removes, old->fix->removes, old->fix->remove_count * sizeof *removes);
    }
    removes[old->fix->remove_count] = heir->id;
    *fix = *old->fix;
    fix->removes = removes;
    fix->remove_count++;
    fix->of = old;
    heir->fix = fix;
    return true;
}

/* Parts the folded findings of `old`: the hidden ones stay with it, the others go to the heir,
 * which gets its fix and, where it shows both operations, its window. False when out of memory,
 * nothing has changed then. */
static bool part(struct arena *arena, struct finding *old, struct finding *heir)
{
    struct finding **stay = arena_alloc(arena, old->folded_count * sizeof *stay);
    struct finding **go = arena_alloc(arena, old->folded_count * sizeof *go);
    size_t stay_count = 0, go_count = 0, i;
    if (!stay || !go || !inherit_fix(arena, heir, old)) {
        return false;
    }
    for (i = 0; i < old->folded_count; i++) {
        struct finding *folded = old->folded[i];
        if (folded->suppressed_by) {
            stay[stay_count++] = folded;
        } else if (folded != heir) {
            go[go_count++] = folded;
        }
    }
    old->folded = stay;
    old->folded_count = stay_count;
    heir->folded = go;
    heir->folded_count = go_count;
    if (is_in_window(old, heir->first.op) && is_in_window(old, heir->then.op)) {
        heir->window = old->window;
        heir->window_count = old->window_count;
    }
    return true;
}

/* No memory to tell the heir in its place: the hidden finding is told again. */
static void tell_again(struct finding *finding)
{
    finding->suppressed_by = NULL;
}

bool suppress_apply(struct report *report, struct suppression *entries, size_t count)
{
    size_t old_count = report->finding_count, used = 0, i, k;
    struct finding **findings;
    bool good = true;
    report->suppressions = entries;
    report->suppression_count = count;
    if (count == 0 || old_count == 0) {
        return true;
    }
    findings = arena_alloc(&report->arena, 2 * old_count * sizeof *findings);
    if (!findings) {
        return false;
    }
    for (i = 0; i < old_count; i++) {
        struct finding *finding = report->findings[i], *heir;
        mark(finding, report, entries, count);
        for (k = 0; k < finding->folded_count; k++) {
            mark(finding->folded[k], report, entries, count);
        }
        findings[used++] = finding;
        heir = heir_of(finding);
        if (heir && part(&report->arena, finding, heir)) {
            findings[used++] = heir;
        } else if (heir) {
            tell_again(finding);
            good = false;
        }
    }
    report->findings = findings;
    report->finding_count = used;
    return good;
}

void suppress_words(struct strbuf *out, const struct suppression *entry)
{
    const struct {
        const char *key, *value, *quote;
    } parts[] = {{"rule", entry->rule, ""},
                 {"id", entry->id, ""},
                 {"buffer", entry->buffer, "'"},
                 {"kernel", entry->kernel, "'"}};
    const char *gap = "";
    size_t i;
    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].value) {
            strbuf_printf(out, "%s%s %s%s%s", gap, parts[i].key, parts[i].quote, parts[i].value,
                          parts[i].quote);
            gap = ", ";
        }
    }
}
