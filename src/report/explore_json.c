/* The JSON form of an exploration: the report of the first run, and a member `explore`. */
#include "report/explore.h"

#include "report/json_parts.h"

#include <math.h>

/* Whole numbers below 2^53 as such, else reals; null for what no number holds. */
static json_t *number(long double value)
{
    if (!isfinite((double)value)) {
        return json_null();
    }
    return value < 9007199254740992.0L ? json_integer((json_int_t)value) : json_real((double)value);
}

static const char *verdict_name(enum explore_verdict verdict)
{
    static const char *const words[] = {"same", "memory", "wrong"};
    return words[verdict];
}

static const char *way_name(enum explore_way way)
{
    static const char *const words[] = {"order", "early", "query", "random"};
    return words[way];
}

static json_t *output_object(struct json_build *build, const struct explore_group *group)
{
    if (!group->got && !group->expected) {
        return json_null();
    }
    json_t *object = json_object();
    json_put(build, object, "line", json_number(group->output_line));
    json_put(build, object, "got", json_text(group->got));
    json_put(build, object, "expected", json_text(group->expected));
    return object;
}

/* The words of the command that makes the run again. */
static json_t *replay_array(struct json_build *build, const struct explore_facts *facts,
                            const char *schedule)
{
    if (!schedule) {
        return json_null();
    }
    json_t *array = json_array();
    const char *const words[] = {"streamsan", "run",      "--schedule",
                                 schedule,    "--device", facts->device};
    for (size_t i = 0; i < (facts->device ? 6 : 4); i++) {
        json_add(build, array, json_text(words[i]));
    }
    json_add(build, array, json_string("--"));
    for (size_t i = 0; facts->command[i]; i++) {
        json_add(build, array, json_text(facts->command[i]));
    }
    return array;
}

static json_t *group_object(struct json_build *build, const struct explore_facts *facts,
                            const struct explore_group *group)
{
    json_t *object = json_object(), *ended = json_object();
    json_put(build, ended, "code",
             group->exit_signal || group->timed_out ? json_null() : json_integer(group->exit_code));
    json_put(build, ended, "signal",
             group->exit_signal ? json_integer(group->exit_signal) : json_null());
    json_put(build, object, "verdict", json_string(verdict_name(group->verdict)));
    json_put(build, object, "way", json_string(way_name(group->way)));
    json_put(build, object, "exit", ended);
    json_put(build, object, "timed_out", json_boolean(group->timed_out));
    json_put(build, object, "orders", number(group->orders));
    json_put(build, object, "orders_estimated", json_boolean(group->estimated));
    json_put(build, object, "classes", json_number(group->classes));
    json_put(build, object, "runs", json_number(group->runs));
    json_put(build, object, "output", output_object(build, group));
    json_put(build, object, "repeated",
             group->repeat == EXPLORE_NOT_RUN_AGAIN ? json_null()
                                                    : json_boolean(group->repeat == EXPLORE_AGAIN));
    json_put(build, object, "schedule", json_text(group->schedule));
    json_put(build, object, "replay", replay_array(build, facts, group->schedule));
    return object;
}

static json_t *orders_object(struct json_build *build, const struct explore_facts *facts)
{
    json_t *object = json_object();
    json_put(build, object, "total", number(facts->orders_total));
    json_put(build, object, "total_estimated", json_boolean(facts->total_estimated));
    json_put(build, object, "run", number(facts->orders_run));
    json_put(build, object, "run_estimated", json_boolean(facts->run_estimated));
    json_put(build, object, "wrong", number(facts->orders_wrong));
    json_put(build, object, "different_memory", number(facts->orders_memory));
    return object;
}

static json_t *varying_array(struct json_build *build, const struct explore_facts *facts)
{
    json_t *array = json_array();
    for (size_t i = 0; i < facts->varying_count; i++) {
        json_add(build, array, json_number(facts->varying[i]));
    }
    return array;
}

static json_t *explore_object(struct json_build *build, const struct explore_facts *facts)
{
    json_t *object = json_object(), *classes = json_object(), *torn = json_object();
    json_t *early = json_object();
    json_t *random = json_null(), *differs = json_null(), *results = json_array();
    json_put(build, classes, "run", json_number(facts->classes));
    json_put(build, classes, "wrong", json_number(facts->classes_wrong));
    json_put(build, classes, "different_memory", json_number(facts->classes_memory));
    json_put(build, torn, "tried", json_number(facts->torn_tried));
    json_put(build, torn, "wrong", json_number(facts->torn_wrong));
    json_put(build, torn, "pairs", json_number(facts->torn_pairs));
    json_put(build, early, "tried", json_number(facts->early_tried));
    json_put(build, early, "wrong", json_number(facts->early_wrong));
    json_put(build, early, "alone", json_number(facts->one_early));
    json_put(build, early, "places", json_number(facts->early_places));
    json_put(build, torn, "replay", replay_array(build, facts, facts->torn_schedule));
    if (facts->random) {
        random = json_object();
        json_put(build, random, "tried", json_number(facts->random_tried));
        json_put(build, random, "wrong", json_number(facts->random_wrong));
        json_put(build, random, "seed", json_number(facts->random_seed));
    }
    if (facts->found_call) {
        differs = json_object();
        json_put(build, differs, "expected", json_text(facts->expected_call));
        json_put(build, differs, "found", json_text(facts->found_call));
    }
    for (size_t i = 0; i < facts->group_count; i++) {
        json_add(build, results, group_object(build, facts, &facts->groups[i]));
    }
    json_put(build, object, "items", json_number(facts->items));
    json_put(build, object, "streams", json_number(facts->streams));
    json_put(build, object, "threads", json_number(facts->threads));
    json_put(build, object, "orders", orders_object(build, facts));
    json_put(build, object, "classes", classes);
    json_put(build, object, "all_run", json_boolean(facts->all_run));
    json_put(build, object, "runs", json_number(facts->runs));
    json_put(build, object, "random", random);
    json_put(build, object, "early", early);
    json_put(build, object, "torn", torn);
    json_put(build, object, "infeasible", json_number(facts->infeasible));
    json_put(build, object, "forced", json_number(facts->forced));
    json_put(build, object, "output_varies", json_boolean(facts->output_varies));
    json_put(build, object, "varying_lines", varying_array(build, facts));
    json_put(build, object, "memory_compared", json_boolean(facts->memory_compared));
    json_put(build, object, "not_deterministic", differs);
    json_put(build, object, "results", results);
    return object;
}

bool explore_json(struct strbuf *out, const struct explore_facts *facts,
                  const struct report *report, const struct verdict *verdict, bool with_addresses)
{
    struct json_build build = {report, false, with_addresses};
    json_t *root = json_report(report, verdict, with_addresses);
    if (root) {
        json_put(&build, root, "explore", explore_object(&build, facts));
    }
    if (root && build.failed) {
        json_decref(root);
        root = NULL;
    }
    return json_print(out, root);
}
