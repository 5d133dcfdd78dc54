/* The text form of an exploration: results, the reference's first, each with its orders and the
 * command that shows it again. */
#include "report/explore.h"

#include "report/words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define EXACT_BELOW   1e18L
#define GROUPS_TOLD   10u /* wrong results, unless verbose */
#define EXCERPT_BYTES 60u
#define DETAIL        20 /* column of what is told of a result */
#define LINES_TOLD    5u

void explore_number(struct strbuf *out, long double number, bool estimated)
{
    if (!isfinite(number)) {
        strbuf_puts(out, "more than 1e4900");
    } else if (number < EXACT_BELOW) {
        strbuf_printf(out, "%s%.0Lf", estimated ? "about " : "", number);
    } else {
        strbuf_printf(out, "about %.1Le", number);
    }
}

void explore_wrong(struct strbuf *out, const struct explore_facts *facts)
{
    if (facts->random) {
        strbuf_printf(out, "%" PRIu64 " of %" PRIu64 " runs wrong", facts->random_wrong,
                      facts->random_tried);
        return;
    }
    bool cut = !facts->all_orders_run && facts->orders_run != facts->orders_total;
    explore_number(out, facts->orders_wrong, facts->run_estimated && facts->orders_wrong > 0);
    strbuf_puts(out, " of ");
    explore_number(out, cut ? facts->orders_run : facts->orders_total,
                   cut ? facts->run_estimated : facts->total_estimated);
    strbuf_puts(out, " orders wrong");
    if (cut && facts->orders_total > facts->orders_run) {
        strbuf_puts(out, " (");
        explore_number(out, facts->orders_total, facts->total_estimated);
        strbuf_puts(out, " in all)");
    } else if (cut) {
        strbuf_puts(out, " (not all)");
    }
    if (facts->early_wrong > 0) {
        strbuf_printf(out, ", %" PRIu64 " of %" PRIu64 " early runs wrong", facts->early_wrong,
                      facts->early_tried);
    }
}

static const char *plural(uint64_t number)
{
    return number == 1 ? "" : "s";
}

static void add_share(struct strbuf *out, const struct explore_facts *facts)
{
    long double share = facts->orders_total > 0 && isfinite(facts->orders_total)
                            ? facts->orders_run / facts->orders_total
                            : 0;
    share = share > 1 ? 1 : share;
    if (share >= 0.0001L || share == 0) {
        strbuf_printf(out, "%s%.4Lg %%",
                      facts->total_estimated || facts->run_estimated ? "about " : "", share * 100);
    } else {
        strbuf_printf(out, "about %.1Le %%", share * 100);
    }
}

/* "10 orders of 5 items on 2 streams, all run, in 6 classes (11 runs)" */
static void add_extent(struct strbuf *out, const struct explore_facts *facts)
{
    strbuf_puts(out, "explore: ");
    if (facts->random) {
        strbuf_printf(out,
                      "%" PRIu64 " random schedule%s, seeds %" PRIu64 " to %" PRIu64 ", of %" PRIu64
                      " item%s on %" PRIu64 " stream%s with ",
                      facts->random_tried, plural(facts->random_tried), facts->random_seed,
                      facts->random_seed + facts->random_tried - (facts->random_tried > 0 ? 1 : 0),
                      facts->items, plural(facts->items), facts->streams, plural(facts->streams));
        explore_number(out, facts->orders_total, facts->total_estimated);
        strbuf_printf(out, " orders (%" PRIu64 " runs)\n", facts->runs);
        return;
    }
    explore_number(out, facts->orders_total, facts->total_estimated);
    strbuf_printf(out, " order%s of %" PRIu64 " item%s on %" PRIu64 " stream%s",
                  facts->orders_total == 1 ? "" : "s", facts->items, plural(facts->items),
                  facts->streams, plural(facts->streams));
    if (facts->all_orders_run) {
        strbuf_printf(out, ", all run, in %" PRIu64 " class%s", facts->classes,
                      facts->classes == 1 ? "" : "es");
    } else {
        strbuf_puts(out, ", ");
        explore_number(out, facts->orders_run, facts->run_estimated);
        strbuf_puts(out, " of them run (");
        add_share(out, facts);
        strbuf_printf(out, "), in %" PRIu64 " class%s", facts->classes,
                      facts->classes == 1 ? "" : "es");
    }
    strbuf_printf(out, " (%" PRIu64 " run%s)\n", facts->runs, plural(facts->runs));
}

static void add_excerpt(struct strbuf *out, const char *line)
{
    strbuf_puts(out, "\"");
    strbuf_add_printable(out, line, strlen(line), EXCERPT_BYTES);
    strbuf_puts(out, "\"");
}

static void add_end(struct strbuf *out, const struct explore_group *group)
{
    if (group->timed_out) {
        strbuf_puts(out, "it did not end");
    } else if (group->exit_signal) {
        strbuf_printf(out, "signal %d", group->exit_signal);
    } else {
        strbuf_printf(out, "exit %d", group->exit_code);
    }
}

static const char *way_words(enum explore_way way)
{
    static const char *const words[] = {"", ", with items done before the host waits for them",
                                        ", with queries answered the other way",
                                        ", with kernels interleaved", ""};
    return words[way];
}

/* The command that makes the run again. */
static void add_replay(struct strbuf *out, const struct explore_facts *facts, const char *schedule)
{
    if (!schedule) {
        strbuf_printf(out, "its schedule %s\n",
                      facts->keeps ? "could not be kept"
                                   : "needs a file: --keep FOLDER writes it there");
        return;
    }
    strbuf_puts(out, "streamsan run --schedule ");
    words_shell(out, schedule);
    strbuf_printf(out, "%s%s --", facts->device ? " --device " : "",
                  facts->device ? facts->device : "");
    for (size_t i = 0; facts->command[i]; i++) {
        strbuf_puts(out, " ");
        words_shell(out, facts->command[i]);
    }
    strbuf_puts(out, "\n");
}

/* "6 orders", "1 run" */
static void add_amount(struct strbuf *out, const struct explore_facts *facts,
                       const struct explore_group *group)
{
    const uint64_t runs = facts->random ? group->random_runs : group->runs;
    if (facts->random || group->classes == 0) {
        strbuf_printf(out, "%" PRIu64 " run%s", runs, plural(runs));
    } else {
        explore_number(out, group->orders, group->estimated);
        strbuf_puts(out, group->orders == 1 ? " order" : " orders");
    }
}

/* The line in which the output is another one. */
static void add_line(struct strbuf *out, const struct explore_group *group)
{
    strbuf_printf(out, "output line %" PRIu64 ": ", group->output_line);
    add_excerpt(out, group->got);
    if (group->expected) {
        strbuf_puts(out, ", not ");
        add_excerpt(out, group->expected);
    }
}

/* Whether a result before this one has the same command. */
static bool is_told(const struct explore_facts *facts, const struct explore_group *group)
{
    for (const struct explore_group *each = facts->groups; each < group; each++) {
        if (each->schedule && each->verdict != EXPLORE_SAME && each->runs > 0 &&
            strcmp(each->schedule, group->schedule) == 0) {
            return true;
        }
    }
    return false;
}

static void add_group(struct strbuf *out, const struct explore_facts *facts,
                      const struct explore_group *group)
{
    strbuf_puts(out, "  ");
    add_amount(out, facts, group);
    strbuf_pad_to(out, DETAIL - 2);
    strbuf_puts(out, group->verdict == EXPLORE_WRONG    ? "  wrong: "
                     : group->verdict == EXPLORE_MEMORY ? "  same output, different memory: "
                                                        : "  as in the program's own order: ");
    add_end(out, group);
    if (group->verdict != EXPLORE_SAME) {
        strbuf_puts(out, way_words(group->way));
    } else if (group->classes == 0 && !facts->random) {
        strbuf_puts(out, way_words(EXPLORE_EARLY)); /* no order as late as possible gave this */
    }
    strbuf_puts(out, group->repeat == EXPLORE_NOT_AGAIN ? ", not so when run again\n" : "\n");
    if (group->got && !facts->output_varies) {
        strbuf_printf(out, "%*s", DETAIL, "");
        add_line(out, group);
        strbuf_puts(out, "\n");
    }
    if (group->verdict != EXPLORE_SAME) {
        strbuf_printf(out, "%*s", DETAIL, "");
        if (group->schedule && is_told(facts, group)) {
            strbuf_puts(out, "by the same command\n");
        } else {
            add_replay(out, facts, group->schedule);
        }
    }
}

/* Which streams the numbers in orders are. */
static void add_streams(struct strbuf *out, const struct explore_facts *facts,
                        const struct report *report)
{
    struct strbuf text = {0};
    bool orders = false;
    for (size_t i = 0; i < facts->group_count; i++) {
        const struct explore_group *group = &facts->groups[i];
        orders = orders || (group->verdict != EXPLORE_SAME && group->schedule &&
                            strncmp(group->schedule, "order:", 6) == 0);
    }
    if (orders) {
        words_streams(&text, report, NULL);
    }
    if (text.length > 0) {
        strbuf_printf(out, "  streams: %s\n", strbuf_text(&text));
    }
    out->failed |= text.failed;
    strbuf_finish(&text);
}

static void add_varying(struct strbuf *out, const struct explore_facts *facts)
{
    size_t count = facts->varying_count, told = count < LINES_TOLD ? count : LINES_TOLD;
    for (size_t i = 0; i < told; i++) {
        strbuf_printf(out, "%s%" PRIu64,
                      i > 0        ? ", "
                      : count == 1 ? "  Line "
                                   : "  Lines ",
                      facts->varying[i]);
    }
    if (count > told) {
        strbuf_printf(out, " and %zu more", count - told);
    }
    if (count > 0) {
        strbuf_printf(out, " of the output var%s\n",
                      count == 1 ? "ies by itself: the words that do are not compared."
                                 : "y by themselves: the words that do are not compared.");
    }
}

static void add_notes(struct strbuf *out, const struct explore_facts *facts)
{
    if (facts->found_call) {
        strbuf_printf(out,
                      "  The program is not deterministic: behind the same calls and the same work "
                      "it called\n      %s\n  in one run and\n      %s\n  in another. So this is a "
                      "sample of its schedules, not all of them.\n",
                      facts->expected_call, facts->found_call);
    }
    if (facts->output_varies) {
        strbuf_puts(out, "  Its output is not the same each time, in one and the same order: only "
                         "the exit status counts.\n");
    }
    add_varying(out, facts);
    if (facts->threads > 1) {
        strbuf_printf(out,
                      "  The calls of %" PRIu64 " host threads were kept in the order of the "
                      "first run; other orders of calls were not tried.\n",
                      facts->threads);
    }
    if (facts->infeasible > 0 && !facts->all_run) {
        strbuf_printf(out, "  %" PRIu64 " run%s did not follow the schedule to the end.\n",
                      facts->infeasible, plural(facts->infeasible));
    }
    if (facts->forced > 0) {
        strbuf_printf(out,
                      "  In %" PRIu64 " run%s the device ran work by itself, since the program "
                      "waited for it without a call.\n",
                      facts->forced, plural(facts->forced));
    }
    if (facts->early_tried > 0) {
        strbuf_printf(out,
                      "  early: %" PRIu64 " of %" PRIu64 " run%s wrong (items done before the host "
                      "waits for them, in orders that are right else)\n",
                      facts->early_wrong, facts->early_tried, plural(facts->early_tried));
    }
    if (facts->one_early < facts->early_places) {
        strbuf_printf(out,
                      "  early places: %" PRIu64 " of %" PRIu64
                      " tried (a place: one item done when "
                      "one call returns, before the host waits for it)\n",
                      facts->one_early, facts->early_places);
    }
    if (facts->torn_tried > 0) {
        strbuf_printf(out,
                      "  torn: %" PRIu64 " of %" PRIu64 " tried wrong (two kernels that race, "
                      "interleaved by block; not counted in the orders)\n",
                      facts->torn_wrong, facts->torn_tried);
    }
    if (facts->torn_tried < facts->torn_pairs) {
        strbuf_printf(out, "  pairs of kernels interleaved: %" PRIu64 " of %" PRIu64 " tried\n",
                      facts->torn_tried, facts->torn_pairs);
    }
    if (facts->torn_wrong > 0) {
        strbuf_printf(out, "%*s", DETAIL, "");
        add_replay(out, facts, facts->torn_schedule);
    }
}

/* Of the first run: what was made to fail, and what did not come to that. */
static void add_failures(struct strbuf *out, const struct run_info *run)
{
    for (size_t i = 0; i < run->failure_count; i++) {
        strbuf_puts(out, "  failed as asked for: ");
        words_failure(out, &run->failures[i]);
        strbuf_puts(out, "\n");
    }
    for (size_t i = 0; i < run->missed_count; i++) {
        strbuf_puts(out, "  --fail ");
        words_missed(out, &run->missed[i]);
        strbuf_puts(out, "\n");
    }
}

void explore_text(struct strbuf *out, const struct explore_facts *facts,
                  const struct report *report, bool verbose)
{
    size_t told = 0, left = 0;
    add_extent(out, facts);
    add_streams(out, facts, report);
    add_failures(out, &report->run);
    for (size_t i = 0; i < facts->group_count; i++) {
        const struct explore_group *group = &facts->groups[i];
        if (group->runs == 0 && i > 0) {
            continue;
        }
        if (group->verdict == EXPLORE_WRONG && !verbose && told == GROUPS_TOLD) {
            left++;
            continue;
        }
        told += group->verdict == EXPLORE_WRONG;
        add_group(out, facts, group);
    }
    if (left > 0) {
        strbuf_printf(out, "  and %zu more wrong result%s (--verbose tells all)\n", left,
                      plural(left));
    }
    add_notes(out, facts);
    if (facts->unexplained) {
        strbuf_puts(out,
                    "  No finding of the first run explains this. Either the program goes another "
                    "way there, which the command\n  shows with its findings; or the host reads or "
                    "writes memory itself: announce it with SSAN_HOST_READ\n  and "
                    "SSAN_HOST_WRITE (streamsan/annotate.h).\n");
    }
    explore_wrong(out, facts);
    strbuf_puts(out, "\n");
}

void explore_short(struct strbuf *out, const struct explore_facts *facts)
{
    for (size_t i = 0; i < facts->group_count; i++) {
        const struct explore_group *group = &facts->groups[i];
        if (group->verdict != EXPLORE_WRONG) {
            continue;
        }
        strbuf_puts(out, "explore: wrong: ");
        add_amount(out, facts, group);
        strbuf_puts(out, ": ");
        add_end(out, group);
        strbuf_puts(out, way_words(group->way));
        strbuf_puts(out, group->repeat == EXPLORE_NOT_AGAIN ? ", not so when run again: " : ": ");
        if (group->got && !facts->output_varies) {
            add_line(out, group);
            strbuf_puts(out, ": ");
        }
        add_replay(out, facts, group->schedule);
    }
    explore_wrong(out, facts);
    strbuf_puts(out, "\n");
}
