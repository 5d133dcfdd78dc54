/* Models into posets. Streams with items become chains, in the order of their ids; since the items
 * of a stream run in order, those that ran are a prefix of it. */
#include "explore/run.h"

#include "base/hash.h"
#include "base/mem.h"

/* Of each stream: its chain, and of each of its items how many count up to it. */
struct chains {
    uint32_t *chain; /* by stream; UINT32_MAX: none */
    uint32_t *begin; /* by stream: into `ranks` */
    uint32_t *ranks; /* by seq, from 0 */
    uint32_t count;
};

/* What ran, and what a device fault kept from it: that comes behind the fault in this run, and may
 * come before it in another. */
static bool counts(const struct model_item *item)
{
    return (item->closed != 0 || item->dead) && !item->is_void;
}

static bool make_chains(const struct model *model, struct chains *chains)
{
    size_t streams = (size_t)model->streams + 1;
    chains->chain = mem_zalloc(streams, sizeof *chains->chain);
    chains->begin = mem_zalloc(streams + 1, sizeof *chains->begin);
    chains->ranks = mem_zalloc(model->items.count + streams, sizeof *chains->ranks);
    if (!chains->chain || !chains->begin || !chains->ranks) {
        return false;
    }
    for (size_t i = 0; i < model->items.count; i++) {
        chains->begin[model->items.items[i].id.stream + 1]++;
    }
    for (size_t i = 0; i < streams; i++) { /* one more for "none of them" */
        chains->begin[i + 1] += chains->begin[i] + 1;
    }
    for (size_t i = 0; i < model->items.count; i++) {
        const struct model_item *item = &model->items.items[i];
        uint32_t *rank = chains->ranks + chains->begin[item->id.stream] + item->id.seq;
        rank[0] = rank[-1] + counts(item);
    }
    for (size_t i = 0; i < streams; i++) {
        uint32_t all = chains->ranks[chains->begin[i + 1] - 1];
        chains->chain[i] = all > 0 ? chains->count++ : UINT32_MAX;
    }
    return true;
}

static void finish_chains(struct chains *chains)
{
    mem_free(chains->chain);
    mem_free(chains->begin);
    mem_free(chains->ranks);
}

static void fill_item(struct run *run, const struct chains *chains, uint32_t at)
{
    const struct model_item *item = &run->model.items.items[run->items[at]];
    uint32_t *row = poset_row(&run->poset, run->poset.before, at);
    run->poset.items[at] = (struct poset_item){
        .chain = chains->chain[item->id.stream],
        .place = chains->ranks[chains->begin[item->id.stream] + item->id.seq],
        .name = (uint64_t)item->id.stream << 32 | item->id.seq,
        .mark = item->hash ^ item->touched,
    };
    for (uint32_t stream = 0; stream < item->before.streams; stream++) {
        if (chains->chain[stream] != UINT32_MAX) {
            row[chains->chain[stream]] =
                chains->ranks[chains->begin[stream] + item->before.counts[stream]];
        }
    }
}

/* All that an item touches lies in here. */
struct hull {
    uint64_t begin, end;
    bool host;
};

static struct hull hull_of(const struct model_item *item)
{
    struct hull hull = {UINT64_MAX, 0, item->host_reads || item->host_writes};
    for (unsigned way = 0; way < ssan_access_count; way++) {
        const struct bytes *set = &item->ways[way];
        if (set->count > 0) {
            hull.begin = set->begin < hull.begin ? set->begin : hull.begin;
            hull.end = set->end > hull.end ? set->end : hull.end;
        }
    }
    return hull;
}

/* Whether what comes behind it runs at all depends on such an item. */
static bool is_fault(const struct run *run, uint32_t item)
{
    return run->model.fault && run->model.items.items[run->items[item]].op == run->model.fault_op;
}

/* Which of the two has to be first matters to the result. */
static bool conflict(const struct run *run, const struct hull *hulls, uint32_t x, uint32_t y)
{
    bool near = (hulls[x].begin < hulls[y].end && hulls[y].begin < hulls[x].end) ||
                (hulls[x].host && hulls[y].host);
    return is_fault(run, x) || is_fault(run, y) ||
           (near && model_conflict(&run->model, run->items[x], run->items[y]));
}

static bool fill_pairs(struct run *run)
{
    struct poset *poset = &run->poset;
    struct hull *hulls = mem_zalloc((size_t)poset->count + 1, sizeof *hulls);
    bool fine = hulls != NULL;
    for (uint32_t i = 0; fine && i < poset->count; i++) {
        hulls[i] = hull_of(&run->model.items.items[run->items[i]]);
    }
    for (uint32_t y = 0; fine && y < poset->count; y++) {
        for (uint32_t x = 0; fine && x < y; x++) {
            bool chained = poset->items[x].chain == poset->items[y].chain;
            if (chained || !conflict(run, hulls, x, y)) {
                continue;
            }
            if (poset_comes_before(poset, poset->before, x, y)) {
                poset_fix(poset, x, y);
            } else {
                fine = VEC_PUSH(&poset->pairs, (struct poset_pair){x, y});
            }
        }
    }
    mem_free(hulls);
    return fine;
}

static uint32_t count_items(const struct model *model)
{
    uint32_t count = 0;
    for (size_t i = 0; i < model->items.count; i++) {
        count += counts(&model->items.items[i]);
    }
    return count;
}

/* Those that ran, then the others as they were submitted. */
static void list_in_order(struct run *run)
{
    const struct model *model = &run->model;
    uint32_t at = 0;
    for (size_t i = 0; i < model->order.count; i++) {
        run->items[at++] = model->order.items[i];
    }
    for (size_t i = 0; i < model->items.count; i++) {
        if (counts(&model->items.items[i]) && model->items.items[i].closed == 0) {
            run->items[at++] = (uint32_t)i;
        }
    }
}

/* Items, rows and pairs. */
static bool fill(struct run *run)
{
    struct chains chains = {0};
    const struct model *model = &run->model;
    bool fine = make_chains(model, &chains);
    uint32_t count = count_items(model);
    fine = fine && poset_create(&run->poset, count, chains.count);
    run->items = mem_zalloc((size_t)count + 1, sizeof *run->items);
    run->places = mem_zalloc(model->items.count + 1, sizeof *run->places);
    run->need = mem_zalloc((size_t)count * chains.count + 1, sizeof *run->need);
    fine = fine && run->items && run->places && run->need;
    for (size_t i = 0; fine && i < model->items.count; i++) {
        run->places[i] = MODEL_NONE;
    }
    if (fine) {
        list_in_order(run);
    }
    for (uint32_t i = 0; fine && i < count; i++) {
        run->places[run->items[i]] = i;
        fill_item(run, &chains, i);
    }
    finish_chains(&chains);
    return fine && fill_pairs(run) && poset_seal(&run->poset);
}

static uint64_t hash_joins(const struct poset *poset)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < poset->count; i++) {
        const uint32_t *row = poset_row(poset, poset->before, i);
        uint64_t hash = poset->items[i].name;
        for (uint32_t c = 0; c < poset->chains; c++) {
            hash = hash_mix(hash, row[c]);
        }
        sum += hash;
    }
    return sum;
}

bool run_create(struct run *run, struct model *take_model)
{
    *run = (struct run){.model = *take_model};
    *take_model = (struct model){0};
    bool fine = fill(run);
    if (fine) {
        poset_close(&run->poset, NULL, run->need);
        run->hash = poset_hash(&run->poset, run->need);
        run->joins = hash_joins(&run->poset);
    }
    model_forget_bytes(&run->model);
    return fine;
}

void run_finish(struct run *run)
{
    model_finish(&run->model);
    poset_finish(&run->poset);
    mem_free(run->items);
    mem_free(run->places);
    mem_free(run->need);
    *run = (struct run){0};
}
