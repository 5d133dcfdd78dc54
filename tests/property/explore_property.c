/* The search through all classes of orders against brute force, on random small programs.
 *
 *     property_explore [--seed N] [--programs N] [--program K]
 *
 * A program is a few items on a few chains with a random order that always holds; each item is a
 * little script that reads and writes cells, where it goes on may depend on what it read. Brute
 * force runs every linear order. The search starts with two runs and must find each class, with as
 * many orders as brute force has in it. Prints the seed and counts; exit 1 on a difference. */
#include "base/hash.h"
#include "base/rng.h"
#include "explore/classes.h"
#include "explore/count.h"
#include "programs_options.h"
#include "support/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITEMS  7u
#define MAX_CHAINS 3u
#define CELLS      4u
#define STEPS      4u

/* Reads cell `cell` into the sum, or writes the sum plus `value` there; a step with `only` >= 0 is
 * skipped unless the sum's lowest bit is that. */
struct step {
    bool writes;
    unsigned cell, value;
    int only;
};

struct program {
    uint32_t count, chains;
    uint32_t chain[MAX_ITEMS], place[MAX_ITEMS];
    uint32_t before[MAX_ITEMS][MAX_CHAINS];
    struct step steps[MAX_ITEMS][STEPS];
};

/* One run: what each item touched, and the cells at the end. */
struct probe_outcome {
    unsigned reads[MAX_ITEMS], writes[MAX_ITEMS]; /* masks, by item */
    unsigned cells[CELLS];
};

struct known {
    uint64_t hash;
    uint64_t orders;
    bool found;
};

struct totals {
    uint64_t programs, orders, classes, runs, dependent_programs;
};

static void make_program(struct program *program, struct rng *rng)
{
    *program = (struct program){0};
    program->chains = 1 + (uint32_t)rng_below(rng, MAX_CHAINS);
    program->count = 1 + (uint32_t)rng_below(rng, MAX_ITEMS);
    uint32_t length[MAX_CHAINS] = {0};
    uint32_t last[MAX_CHAINS];
    for (uint32_t i = 0; i < program->count; i++) {
        uint32_t c = (uint32_t)rng_below(rng, program->chains);
        program->chain[i] = c;
        program->place[i] = length[c] + 1;
        if (length[c] > 0) {
            memcpy(program->before[i], program->before[last[c]], sizeof program->before[i]);
        }
        program->before[i][c] = length[c];
        /* a wait for an earlier item, now and then */
        if (i > 0 && rng_below(rng, 4) == 0) {
            uint32_t x = (uint32_t)rng_below(rng, i);
            for (uint32_t k = 0; k < program->chains; k++) {
                uint32_t more = k == program->chain[x] ? program->place[x] : program->before[x][k];
                program->before[i][k] = more > program->before[i][k] ? more : program->before[i][k];
            }
        }
        length[c]++;
        last[c] = i;
        for (unsigned s = 0; s < STEPS; s++) {
            program->steps[i][s] = (struct step){
                .writes = rng_below(rng, 3) == 0,
                .cell = (unsigned)rng_below(rng, CELLS),
                .value = (unsigned)rng_below(rng, 4),
                .only = rng_below(rng, 2) ? (int)rng_below(rng, 2) : -1,
            };
            if (rng_below(rng, 3) == 0) {
                program->steps[i][s].only = 2; /* never */
            }
        }
    }
}

static void run_program(const struct program *program, const uint32_t *order,
                        struct probe_outcome *outcome)
{
    *outcome = (struct probe_outcome){0};
    for (uint32_t at = 0; at < program->count; at++) {
        uint32_t i = order[at];
        unsigned sum = i;
        for (unsigned s = 0; s < STEPS; s++) {
            const struct step *step = &program->steps[i][s];
            if (step->only >= 0 && (int)(sum & 1) != step->only) {
                continue;
            }
            if (step->writes) {
                outcome->cells[step->cell] = sum + step->value;
                outcome->writes[i] |= 1u << step->cell;
            } else {
                sum = sum * 5 + outcome->cells[step->cell];
                outcome->reads[i] |= 1u << step->cell;
            }
        }
    }
}

/* A run as the search sees it. */
struct made {
    struct poset poset;
    uint32_t *need;
    uint64_t hash;
    uint32_t items[MAX_ITEMS]; /* of the poset -> of the program */
};

static void make_poset(const struct program *program, const uint32_t *order, struct made *made)
{
    struct probe_outcome outcome;
    run_program(program, order, &outcome);
    MUST(poset_create(&made->poset, program->count, program->chains));
    for (uint32_t at = 0; at < program->count; at++) {
        uint32_t i = order[at];
        made->items[at] = i;
        made->poset.items[at] = (struct poset_item){program->chain[i], program->place[i], i + 1, 7};
        memcpy(poset_row(&made->poset, made->poset.before, at), program->before[i],
               program->chains * sizeof(uint32_t));
    }
    for (uint32_t b = 0; b < program->count; b++) {
        for (uint32_t a = 0; a < b; a++) {
            uint32_t x = order[a], y = order[b];
            bool conflict = (outcome.writes[x] & (outcome.reads[y] | outcome.writes[y])) ||
                            (outcome.reads[x] & outcome.writes[y]);
            if (conflict && !poset_comes_before(&made->poset, made->poset.before, a, b)) {
                MUST(VEC_PUSH(&made->poset.pairs, (struct poset_pair){a, b}));
            }
        }
    }
    MUST(poset_seal(&made->poset));
    made->need = mem_zalloc((size_t)program->count * program->chains + 1, sizeof *made->need);
    MUST(made->need != NULL);
    poset_close(&made->poset, NULL, made->need);
    made->hash = poset_hash(&made->poset, made->need);
}

static void finish_made(struct made *made)
{
    poset_finish(&made->poset);
    mem_free(made->need);
    mem_free(made);
}

/* All linear orders, by class. */
struct brute {
    const struct program *program;
    struct known known[5040];
    size_t count;
    uint64_t orders;
};

static void note_order(struct brute *brute, const uint32_t *order)
{
    struct made *made = mem_zalloc(1, sizeof *made);
    MUST(made != NULL);
    make_poset(brute->program, order, made);
    size_t i = 0;
    while (i < brute->count && brute->known[i].hash != made->hash) {
        i++;
    }
    if (i == brute->count) {
        brute->known[brute->count++] = (struct known){.hash = made->hash};
    }
    brute->known[i].orders++;
    brute->orders++;
    finish_made(made);
}

static void all_orders(struct brute *brute, uint32_t *order, uint32_t at, uint32_t *done)
{
    const struct program *program = brute->program;
    if (at == program->count) {
        note_order(brute, order);
        return;
    }
    for (uint32_t i = 0; i < program->count; i++) {
        bool ready = program->place[i] == done[program->chain[i]] + 1;
        for (uint32_t c = 0; c < program->chains; c++) {
            ready = ready && program->before[i][c] <= done[c];
        }
        if (ready) {
            order[at] = i;
            done[program->chain[i]]++;
            all_orders(brute, order, at + 1, done);
            done[program->chain[i]]--;
        }
    }
}

struct search {
    const struct program *program;
    struct classes classes;
    VEC(struct made *) runs; /* by class */
    uint64_t count;
};

/* Runs an order and gives the hash of its class. */
static uint64_t try_order(struct search *search, const uint32_t *order)
{
    struct made *made = mem_zalloc(1, sizeof *made);
    uint32_t entry;
    bool is_new;
    MUST(made != NULL);
    search->count++;
    make_poset(search->program, order, made);
    uint64_t hash = made->hash;
    MUST(classes_add(&search->classes, hash, &made->poset, made->need, &entry, &is_new));
    if (is_new) {
        MUST(VEC_PUSH(&search->runs, made));
    } else {
        finish_made(made);
    }
    return hash;
}

/* Two runs are under way at a time, as with two jobs. */
struct flight {
    bool used;
    struct reversal reversal;
    uint32_t order[MAX_ITEMS];
};

static void land(struct search *search, struct flight *flight)
{
    if (flight->used) {
        uint64_t hash = try_order(search, flight->order);
        MUST(classes_ended(&search->classes, &flight->reversal, hash));
        flight->used = false;
    }
}

static void search_all(struct search *search, const uint32_t *first, const uint32_t *second)
{
    struct flight flights[2] = {{0}};
    unsigned turn = 0;
    try_order(search, first);
    try_order(search, second);
    for (;;) {
        struct flight *flight = &flights[turn++ % 2];
        land(search, flight);
        enum classes_next next = classes_next(&search->classes, &flight->reversal);
        MUST(next != CLASSES_NO_MEMORY);
        if (next == CLASSES_DONE) {
            return;
        }
        if (next == CLASSES_WAIT) {
            continue;
        }
        const struct made *made = search->runs.items[flight->reversal.entry];
        uint32_t order[MAX_ITEMS];
        memcpy(order, search->classes.order.items, search->program->count * sizeof *order);
        if (!flight->reversal.literal) { /* any order of the class will do */
            MUST(poset_canonical(&made->poset, search->classes.need.items, order));
        }
        for (uint32_t i = 0; i < search->program->count; i++) {
            flight->order[i] = made->items[order[i]];
        }
        flight->used = true;
    }
}

static void least_and_greatest(const struct program *program, bool greatest, uint32_t *order)
{
    uint32_t done[MAX_CHAINS] = {0};
    for (uint32_t at = 0; at < program->count; at++) {
        for (uint32_t k = 0; k < program->count; k++) {
            uint32_t i = greatest ? program->count - 1 - k : k;
            bool ready = program->place[i] == done[program->chain[i]] + 1;
            for (uint32_t c = 0; c < program->chains; c++) {
                ready = ready && program->before[i][c] <= done[c];
            }
            if (ready) {
                order[at] = i;
                done[program->chain[i]]++;
                break;
            }
        }
    }
}

/* False on a difference. */
static bool compare(struct search *search, const struct brute *brute)
{
    const struct count_limits exact = {.down_sets = 1000000, .bytes = UINT64_C(1) << 30};
    long double sum = 0;
    bool fine = search->classes.entries.count == brute->count;
    for (size_t i = 0; i < search->classes.entries.count; i++) {
        const struct class_entry *entry = &search->classes.entries.items[i];
        struct order_count count;
        MUST(count_orders(entry->poset, entry->need, &exact, &count));
        sum += count.count;
        size_t k = 0;
        while (k < brute->count && brute->known[k].hash != entry->hash) {
            k++;
        }
        fine = fine && k < brute->count && !count.estimated &&
               count.count == (long double)brute->known[k].orders;
    }
    const struct made *made = search->runs.items[0];
    struct order_count all;
    MUST(count_orders(&made->poset, made->poset.before, &exact, &all));
    return fine && sum == (long double)brute->orders && all.count == sum;
}

static bool run_one(uint64_t seed, uint64_t index, struct totals *totals)
{
    struct rng rng = {hash_mix(seed, index)};
    struct program program;
    uint32_t order[MAX_ITEMS], other[MAX_ITEMS], done[MAX_CHAINS] = {0};
    make_program(&program, &rng);
    struct brute *brute = mem_zalloc(1, sizeof *brute);
    struct search search = {.program = &program};
    MUST(brute != NULL);
    brute->program = &program;
    all_orders(brute, order, 0, done);
    least_and_greatest(&program, false, order);
    least_and_greatest(&program, true, other);
    search_all(&search, order, other);
    bool fine = compare(&search, brute);
    if (!fine) {
        printf("program %llu: %zu classes, brute force has %zu with %llu orders\n",
               (unsigned long long)index, search.classes.entries.count, brute->count,
               (unsigned long long)brute->orders);
    }
    totals->programs++;
    totals->orders += brute->orders;
    totals->classes += brute->count;
    totals->runs += search.count;
    totals->dependent_programs += search.count > brute->count + 1;
    classes_finish(&search.classes);
    for (size_t i = 0; i < search.runs.count; i++) {
        finish_made(search.runs.items[i]);
    }
    VEC_FREE(&search.runs);
    mem_free(brute);
    return fine;
}

int main(int argc, char **argv)
{
    struct programs_options options = {.seed = 20261130, .programs = 4000};
    if (!programs_options_read(&options, argc, argv)) {
        return 64;
    }
    struct totals totals = {0};
    bool fine = true;
    for (uint64_t i = options.first; fine && i < options.first + options.programs; i++) {
        fine = run_one(options.seed, i, &totals);
    }
    printf(
        "%llu programs, %llu orders in %llu classes, %llu runs, %llu programs with runs of other "
        "classes than foreseen: %s\n",
        (unsigned long long)totals.programs, (unsigned long long)totals.orders,
        (unsigned long long)totals.classes, (unsigned long long)totals.runs,
        (unsigned long long)totals.dependent_programs,
        fine ? "search and brute force agree" : "search and brute force differ");
    return fine && totals.programs > 0 ? 0 : 1;
}
