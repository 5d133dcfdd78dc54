/* Every ordering rule with code is worth a listing: with its mutant the engine must get at least
 * one verdict wrong.
 *
 *     litmus_mutants DIRECTORY
 *
 * Prints rule, number of listings that notice, and one of them; exit 1 when a rule survives. */
#include "litmus/verdict.h"

#include "support/must.h"

#include <string.h>

struct rule {
    const char *id;
    bool has_code;
};

static const struct rule rules[] = {
#define ORDER(name, id, source, test, code, why) {id, code},
#include "core/order.def"
#undef ORDER
};

static bool notices(const struct litmus *litmus, uint32_t mutant, bool strict)
{
    struct verdict stated = {0}, found = {0};
    for (size_t i = 0; i < litmus->expect[strict].lines.count; i++) {
        verdict_add(&stated, litmus->expect[strict].lines.items[i]);
    }
    litmus_engine(litmus, strict, mutant, &found);
    char *want = verdict_text(&stated), *got = verdict_text(&found);
    bool differs = strcmp(want, got) != 0;
    mem_free(want);
    mem_free(got);
    verdict_finish(&stated);
    verdict_finish(&found);
    return differs;
}

int main(int argc, char **argv)
{
    struct litmus_set set = {0};
    size_t survivors = 0, with_code = 0;
    MUST(argc == 2);
    litmus_load(&set, argv[1]);
    for (uint32_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        const char *killer = NULL;
        size_t killers = 0;
        for (size_t i = 0; rules[r].has_code && i < set.items.count; i++) {
            const struct litmus *litmus = &set.items.items[i];
            if ((notices(litmus, r + 1, false) && !notices(litmus, 0, false)) ||
                (notices(litmus, r + 1, true) && !notices(litmus, 0, true))) {
                killer = killer ? killer : litmus->name;
                killers++;
            }
        }
        if (rules[r].has_code) {
            with_code++;
            survivors += killers == 0;
            printf("%-12s %3zu  %s\n", rules[r].id, killers, killer ? killer : "SURVIVES");
        }
    }
    printf("%zu rules with code, %zu survive\n", with_code, survivors);
    litmus_finish(&set);
    return survivors == 0 ? 0 : 1;
}
