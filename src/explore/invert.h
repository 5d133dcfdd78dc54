/* Schedules in which the two operations of a finding happen the other way round.
 *
 * The model of a first run knows which order holds in every schedule; what it leaves open may be
 * turned round. Each variant is a legal schedule; which of them shows an effect is for trials to
 * tell. One thread. */
#ifndef SSAN_EXPLORE_INVERT_H
#define SSAN_EXPLORE_INVERT_H

#include "explore/facts.h"

/* Two accesses that nothing orders; `first` was issued before. */
struct invert_pair {
    uint32_t first;          /* item */
    uint32_t then;           /* item; MODEL_NONE: an access of the host */
    uint32_t thread, number; /* of the host access (fact_host) */
};

struct invert_pairs {
    struct invert_pair *items;
    size_t count, room;
};

/* What stands at the two positions of a first run, and dynamic repeats of it, at most `most` in
 * all: later ones, spread over the run. No pair comes back when one of the two is neither an item
 * nor a host access behind an item, or when something orders them. False when out of memory. */
bool invert_find(const struct model *model, const struct facts *facts, uint64_t first,
                 uint64_t then, size_t most, struct invert_pairs *pairs);

enum invert_variant {
    INVERT_NEAR,  /* in the order of submission but for the two */
    INVERT_PAIR,  /* the two listed, the rest as late as possible */
    INVERT_LATE,  /* `first` behind everything that need not wait for it */
    INVERT_EAGER, /* `first` held back, the rest at once */
    INVERT_TORN,  /* two kernels, block by block in turns; further ones: other seeds */
    INVERT_VARIANTS = INVERT_TORN + 4
};

/* Makes the plan of a variant. `plan` is zeroed before and needs plan_finish. *there is false where
 * the pair has no such variant. False when out of memory. */
bool invert_plan(const struct model *model, const struct facts *facts,
                 const struct invert_pair *pair, enum invert_variant variant, struct plan *plan,
                 bool *there);

enum invert_result {
    INVERT_DONE,     /* `then` has happened, and `first` behind it or never */
    INVERT_KEPT,     /* `first` had ended before */
    INVERT_DIVERGED, /* the program did something else there */
};

/* What became of the pair of the run `model` in another run. */
enum invert_result invert_check(const struct model *model, const struct invert_pair *pair,
                                const struct model *other, const struct facts *other_facts);

/* "s1.1,s2.1": the items of a plan as `--schedule order:` takes them. */
void invert_words(const struct plan *plan, struct strbuf *out);
/* Lists all items of a run in the order in which they ran, and among them the host access of the
 * pair where it has one. False when out of memory. */
bool invert_replay(const struct model *model, const struct facts *facts,
                   const struct invert_pair *pair, struct plan *plan);

#endif
