/* Every listing: stated verdict == oracle == engine, in both thread modes; the nearest misses it
 * states; print and read again give the same trace.
 *
 *     litmus_engine DIRECTORY */
#include "litmus/verdict.h"

#include "support/compare.h"
#include "support/must.h"

#include <string.h>

/* Takes nothing; false, after telling, when the two verdicts differ. */
static bool same_verdict(const struct litmus *litmus, bool strict, const char *who,
                         struct verdict *stated, struct verdict *found)
{
    char *want = verdict_text(stated), *got = verdict_text(found);
    bool same = strcmp(want, got) == 0;
    if (!same) {
        printf("%s, threads %s: stated\n%s  %s says\n%s\n", litmus->name,
               strict ? "strict" : "observed", want, who, got);
    }
    mem_free(want);
    mem_free(got);
    verdict_finish(stated);
    verdict_finish(found);
    return same;
}

static void copy_verdict(const struct verdict *from, struct verdict *to)
{
    for (size_t i = 0; i < from->lines.count; i++) {
        verdict_add(to, from->lines.items[i]);
    }
}

static bool check_mode(const struct litmus *litmus, bool strict)
{
    struct verdict stated = {0}, found = {0};
    litmus_without_by(&litmus->expect[strict], &stated);
    litmus_oracle(litmus, strict, &found);
    bool right = same_verdict(litmus, strict, "the oracle", &stated, &found);
    copy_verdict(&litmus->expect[strict], &stated);
    litmus_engine(litmus, strict, 0, &found);
    right &= same_verdict(litmus, strict, "the engine", &stated, &found);
    struct strbuf why = {0};
    if (compare_tape(&litmus->tape, strict, 0, &why, NULL) != COMPARE_AGREE) {
        printf("%s, threads %s: %s\n", litmus->name, strict ? "strict" : "observed",
               strbuf_text(&why));
        right = false;
    }
    strbuf_finish(&why);
    if (litmus->nearest[strict].lines.count > 0) {
        copy_verdict(&litmus->nearest[strict], &stated);
        litmus_nearest(litmus, strict, &found);
        right &= same_verdict(litmus, strict, "explain", &stated, &found);
    }
    return right;
}

int main(int argc, char **argv)
{
    struct litmus_set set = {0};
    size_t wrong = 0, nearest = 0;
    MUST(argc == 2);
    litmus_load(&set, argv[1]);
    for (size_t i = 0; i < set.items.count; i++) {
        const struct litmus *litmus = &set.items.items[i];
        bool kept = litmus_round_trip(litmus);
        if (!kept) {
            printf("%s: printed and read back it is another trace\n", litmus->name);
        }
        bool observed = check_mode(litmus, false), strict = check_mode(litmus, true);
        wrong += !(kept && observed && strict);
        nearest += litmus->nearest[0].lines.count + litmus->nearest[1].lines.count;
    }
    printf("%zu listings in both thread modes, %zu nearest misses, %zu wrong\n", set.items.count,
           nearest, wrong);
    litmus_finish(&set);
    return wrong == 0 ? 0 : 1;
}
