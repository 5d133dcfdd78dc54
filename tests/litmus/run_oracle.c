/* The oracle alone against the stated verdicts, each listing through print and read and in the
 * index. Links nothing of src/core.
 *
 *     litmus_oracle DIRECTORY */
#include "litmus/litmus.h"

#include "support/must.h"

#include <string.h>

static bool check(const struct litmus *litmus, bool strict)
{
    struct verdict stated = {0}, found = {0};
    litmus_without_by(&litmus->expect[strict], &stated);
    litmus_oracle(litmus, strict, &found);
    char *want = verdict_text(&stated), *got = verdict_text(&found);
    bool same = strcmp(want, got) == 0;
    if (!same) {
        printf("%s, threads %s: stated\n%s  the oracle says\n%s\n", litmus->name,
               strict ? "strict" : "observed", want, got);
    }
    mem_free(want);
    mem_free(got);
    verdict_finish(&stated);
    verdict_finish(&found);
    return same;
}

/* Whether INDEX.md of the directory has a row for the listing. */
static bool is_indexed(const char *directory, const struct litmus *litmus)
{
    char path[4096], line[512], row[256];
    bool found = false;
    snprintf(path, sizeof path, "%s/INDEX.md", directory);
    snprintf(row, sizeof row, "| `%s` |", litmus->name);
    FILE *in = fopen(path, "r");
    MUST(in);
    while (!found && fgets(line, sizeof line, in)) {
        found = strncmp(line, row, strlen(row)) == 0;
    }
    fclose(in);
    if (!found) {
        printf("%s: not in INDEX.md\n", litmus->name);
    }
    return found;
}

int main(int argc, char **argv)
{
    struct litmus_set set = {0};
    size_t wrong = 0;
    MUST(argc == 2);
    litmus_load(&set, argv[1]);
    for (size_t i = 0; i < set.items.count; i++) {
        const struct litmus *litmus = &set.items.items[i];
        bool kept = litmus_round_trip(litmus);
        if (!kept) {
            printf("%s: printed and read back it is another trace\n", litmus->name);
        }
        bool observed = check(litmus, false), strict = check(litmus, true);
        wrong += !(kept && observed && strict && is_indexed(argv[1], litmus));
    }
    printf("%zu listings, %zu wrong\n", set.items.count, wrong);
    litmus_finish(&set);
    return wrong == 0 ? 0 : 1;
}
