/* Every ordering rule with code is worth a listing: with its mutant the engine must get at least
 * one verdict wrong.
 *
 *     litmus_mutants DIRECTORY
 *
 * Prints rule, number of listings that notice, what the mutant did in the first of them (an edge
 * was dropped: more is found; an edge was added, as no-edge rules forbid: less is found), and its
 * name; exit 1 when a rule survives, or when one without code does not say why. */
#include "litmus/verdict.h"

#include "support/must.h"

#include <string.h>

struct rule {
    const char *id;
    bool has_code;
    const char *why;
};

/* What the mutants of all rules did. */
enum effect { SAME, MORE_FOUND, LESS_FOUND, OTHER_FOUND, EFFECTS };

static const char *const effect_words[EFFECTS] = {"nothing", "edge dropped", "edge added",
                                                  "other order"};

static const struct rule rules[] = {
#define ORDER(name, id, source, test, code, why) {id, code, why},
#include "core/order.def"
#undef ORDER
};

static size_t lines_of(const char *text)
{
    size_t count = 0;
    if (strcmp(text, "clean\n") == 0) {
        return 0;
    }
    for (; (text = strchr(text, '\n')); text++) {
        count++;
    }
    return count;
}

/* How the verdict of a listing differs from the stated one under a mutant. */
static enum effect effect_of(const struct litmus *litmus, uint32_t mutant, bool strict)
{
    struct verdict stated = {0}, found = {0};
    for (size_t i = 0; i < litmus->expect[strict].lines.count; i++) {
        verdict_add(&stated, litmus->expect[strict].lines.items[i]);
    }
    litmus_engine(litmus, strict, mutant, &found);
    char *want = verdict_text(&stated), *got = verdict_text(&found);
    const size_t before = lines_of(want), after = lines_of(got);
    const enum effect effect = strcmp(want, got) == 0 ? SAME
                               : after > before       ? MORE_FOUND
                               : after < before       ? LESS_FOUND
                                                      : OTHER_FOUND;
    mem_free(want);
    mem_free(got);
    verdict_finish(&stated);
    verdict_finish(&found);
    return effect;
}

/* The effect of a mutant on a listing that is right without it, in the first mode that shows one.
 */
static enum effect mutant_effect(const struct litmus *litmus, uint32_t mutant)
{
    enum effect effect = SAME;
    for (int strict = 0; strict < 2 && effect == SAME; strict++) {
        if (effect_of(litmus, 0, strict) == SAME) {
            effect = effect_of(litmus, mutant, strict);
        }
    }
    return effect;
}

/* Prints the row of a rule with code; its effect in the first listing that notices. */
static enum effect try_rule(const struct litmus_set *set, uint32_t index)
{
    const char *killer = NULL;
    enum effect first = SAME;
    size_t killers = 0;
    for (size_t i = 0; i < set->items.count; i++) {
        const enum effect effect = mutant_effect(&set->items.items[i], index + 1);
        if (effect != SAME) {
            first = killer ? first : effect;
            killer = killer ? killer : set->items.items[i].name;
            killers++;
        }
    }
    printf("%-12s %3zu  %-12s  %s\n", rules[index].id, killers, effect_words[first],
           killer ? killer : "SURVIVES");
    return first;
}

int main(int argc, char **argv)
{
    struct litmus_set set = {0};
    size_t effects[EFFECTS] = {0}, with_code = 0, without_reason = 0;
    const uint32_t count = sizeof rules / sizeof *rules;
    MUST(argc == 2);
    litmus_load(&set, argv[1]);
    for (uint32_t r = 0; r < count; r++) {
        if (rules[r].has_code) {
            with_code++;
            effects[try_rule(&set, r)]++;
        } else if (!rules[r].why[0]) {
            printf("%-12s neither code nor a reason\n", rules[r].id);
            without_reason++;
        }
    }
    printf("%zu listings, %u rules: %zu mutants, of which %zu survive (killed as an edge dropped: "
           "%zu, added: %zu, moved: %zu); %zu rules have no code and say why\n",
           set.items.count, count, with_code, effects[SAME], effects[MORE_FOUND],
           effects[LESS_FOUND], effects[OTHER_FOUND], count - with_code - without_reason);
    litmus_finish(&set);
    return effects[SAME] == 0 && without_reason == 0 ? 0 : 1;
}
