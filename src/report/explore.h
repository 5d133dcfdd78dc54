/* What exploring all schedules of a program gave, as facts, and their printed forms
 * (docs/explore.md).
 *
 * The caller fills the facts; nothing here decides anything. One thread. */
#ifndef SSAN_REPORT_EXPLORE_H
#define SSAN_REPORT_EXPLORE_H

#include "report/report.h"

enum explore_verdict { EXPLORE_SAME, EXPLORE_MEMORY, EXPLORE_WRONG };

/* What the first run of a result did that others did not. */
enum explore_way { EXPLORE_ORDER, EXPLORE_EARLY, EXPLORE_QUERY, EXPLORE_RANDOM };

/* Whether a wrong result came again when its schedule was run once more. */
enum explore_repeat { EXPLORE_NOT_RUN_AGAIN, EXPLORE_AGAIN, EXPLORE_NOT_AGAIN };

/* Schedules with one result. */
struct explore_group {
    enum explore_verdict verdict;
    enum explore_way way;
    int exit_code, exit_signal; /* exit_signal 0: none */
    bool timed_out;
    long double orders; /* of the classes whose worst result this is; early items aside */
    bool estimated;
    uint64_t classes, runs;
    uint64_t random_runs;       /* of `runs`, those of random schedules */
    uint64_t output_line;       /* the first line of output that is not the reference's; 0: none */
    const char *got, *expected; /* that line; NULL: there is none */
    const char *schedule;       /* what --schedule takes; NULL: it was not kept */
    enum explore_repeat repeat; /* of its first run */
};

struct explore_facts {
    uint64_t items, streams, threads; /* threads: that made calls */
    uint64_t classes, classes_wrong, classes_memory;
    long double orders_total, orders_run, orders_wrong, orders_memory;
    bool total_estimated, run_estimated;
    bool all_orders_run; /* and of their placements all that are tried: all_run */
    bool all_run;
    bool random; /* random schedules instead; the next three are theirs */
    uint64_t random_tried, random_wrong, random_seed;
    uint64_t runs;
    uint64_t infeasible, forced;
    bool output_varies, memory_compared;
    /* Lines of the output that vary by themselves, in words or as a whole: that is not compared. */
    const uint64_t *varying;
    size_t varying_count;
    const char *expected_call,
        *found_call; /* of a program that is not deterministic; NULL: it is */
    /* Runs with items done before the host waits for them, of classes that are right else; runs
     * with one such item, and how many of them there could be. */
    uint64_t early_tried, early_wrong, one_early, early_places;
    uint64_t torn_tried, torn_wrong, torn_pairs;
    const char *torn_schedule; /* of the first wrong one; NULL: it was not kept, or there is none */
    bool keeps;                /* schedules that need a file were to be kept */
    bool unexplained;          /* something is wrong, and no finding says why */
    const char *device;        /* what --device got, NULL: nothing that counts */
    const char *const *command;         /* the program and its words, NULL-terminated */
    const struct explore_group *groups; /* [0] is the reference's */
    size_t group_count;
};

/* "7", "about 2.3e+40" */
void explore_number(struct strbuf *out, long double number, bool estimated);
/* "7 of 10 orders wrong" */
void explore_wrong(struct strbuf *out, const struct explore_facts *facts);
/* The classes of equal results and what is to be said of the search, then a line with
 * explore_wrong. `report`: of the first run. */
void explore_text(struct strbuf *out, const struct explore_facts *facts,
                  const struct report *report, bool verbose);
/* A line for each wrong result, then one with explore_wrong. */
void explore_short(struct strbuf *out, const struct explore_facts *facts);
/* The report of the first run with a member `explore`. False when out of memory. */
bool explore_json(struct strbuf *out, const struct explore_facts *facts,
                  const struct report *report, const struct verdict *verdict, bool with_addresses);

#endif
