/* Lists for plans; see schedule.h. Walks the host's calls and lists, at each, what they need. */
#include "explore/schedule.h"

#include "base/mem.h"

static const struct model_item *model_item(const struct run *run, uint32_t item)
{
    return &run->model.items.items[run->items[item]];
}

void schedule_ready(const struct run *run, const uint32_t *order, const uint32_t *need,
                    uint32_t *ready)
{
    const struct poset *poset = &run->poset;
    for (uint32_t at = 0; at < poset->count; at++) {
        uint32_t y = order ? order[at] : at;
        const uint32_t *row = need + (size_t)y * poset->chains;
        uint32_t call = model_item(run, y)->call;
        for (uint32_t c = 0; c < poset->chains; c++) {
            if (row[c] > 0) {
                uint32_t x = poset->chain_items[poset->chain_begin[c] + row[c] - 1];
                call = ready[x] > call ? ready[x] : call;
            }
        }
        ready[y] = call; /* MODEL_NONE is above all */
    }
}

uint32_t schedule_joined(const struct run *run, uint32_t item)
{
    size_t low = 0, high = run->model.calls.count;
    while (low < high) { /* the first call that comes behind the join */
        size_t middle = low + (high - low) / 2;
        if (model_before_call(&run->model, run->items[item], (uint32_t)middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low == run->model.calls.count ? MODEL_NONE : low > 0 ? (uint32_t)low - 1 : 0;
}

struct list {
    const struct run *run;
    const uint32_t *order, *need;
    struct plan *plan;
    bool *listed;
    bool failed;
};

static void add(struct list *list, uint32_t item)
{
    list->listed[item] = true;
    if (!VEC_PUSH(&list->plan->items, model_item(list->run, item)->id)) {
        list->failed = true;
    }
}

/* The item and all that comes before it in the class. */
static void add_with_past(struct list *list, uint32_t item)
{
    const struct poset *poset = &list->run->poset;
    for (uint32_t at = 0; at < poset->count && !list->listed[item]; at++) {
        uint32_t x = list->order ? list->order[at] : at;
        if (!list->listed[x] && (x == item || poset_comes_before(poset, list->need, x, item))) {
            add(list, x);
        }
    }
}

/* What the host has joined when it enters the call. `seen`: how much of each chain it had before.
 */
static void add_joined(struct list *list, uint32_t call, uint32_t *seen)
{
    const struct poset *poset = &list->run->poset;
    for (uint32_t c = 0; c < poset->chains; c++) {
        uint32_t end = poset->chain_begin[c + 1] - poset->chain_begin[c];
        while (seen[c] < end) {
            uint32_t item = poset->chain_items[poset->chain_begin[c] + seen[c]];
            if (!model_before_call(&list->run->model, list->run->items[item], call)) {
                break;
            }
            add_with_past(list, item);
            seen[c]++;
        }
    }
}

static void add_early(struct list *list, const struct schedule_early *early, const uint32_t *ready)
{
    if (list->listed[early->item] || ready[early->item] > early->call) {
        return;
    }
    add_with_past(list, early->item);
    struct plan_by by = {.call = list->run->model.calls.items[early->call].id,
                         .item = model_item(list->run, early->item)->id};
    if (!VEC_PUSH(&list->plan->bys, by)) {
        list->failed = true;
    }
}

/* Items of plan->afters are ready no sooner than their call returns, nor what needs them. */
static void hold(const struct list *list, uint32_t *ready)
{
    const struct poset *poset = &list->run->poset;
    for (size_t i = 0; i < list->plan->afters.count; i++) {
        const struct plan_by *after = &list->plan->afters.items[i];
        uint32_t call = model_find_call(&list->run->model, after->call);
        uint32_t found = model_find(&list->run->model, after->item);
        uint32_t item = found == MODEL_NONE ? MODEL_NONE : list->run->places[found];
        for (uint32_t y = 0; call != MODEL_NONE && item != MODEL_NONE && y < poset->count; y++) {
            if ((y == item || poset_comes_before(poset, list->need, item, y)) && ready[y] < call) {
                ready[y] = call;
            }
        }
    }
}

bool schedule_make(const struct run *run, const uint32_t *order, const uint32_t *need,
                   const struct schedule_early *early, size_t early_count, struct plan *plan)
{
    const struct poset *poset = &run->poset;
    struct list list = {.run = run, .order = order, .need = need, .plan = plan};
    list.listed = mem_zalloc((size_t)poset->count + 1, sizeof *list.listed);
    uint32_t *seen = mem_zalloc((size_t)poset->chains + 1, sizeof *seen);
    uint32_t *ready = mem_zalloc((size_t)poset->count + 1, sizeof *ready);
    bool fine = list.listed && seen && ready;
    if (fine) {
        schedule_ready(run, order, need, ready);
        hold(&list, ready);
    }
    for (uint32_t call = 0; fine && call < run->model.calls.count; call++) {
        add_joined(&list, call, seen);
        for (size_t i = 0; i < early_count; i++) {
            if (early[i].call == call) {
                add_early(&list, &early[i], ready);
            }
        }
    }
    for (uint32_t at = 0; fine && at < poset->count; at++) {
        uint32_t item = order ? order[at] : at;
        if (!list.listed[item]) {
            add(&list, item);
        }
    }
    mem_free(list.listed);
    mem_free(seen);
    mem_free(ready);
    return fine && !list.failed;
}

size_t schedule_due(const struct run *run, const struct plan *plan, uint32_t call)
{
    size_t due = 0;
    const struct model_row *joined = &run->model.calls.items[call].joined;
    for (size_t i = 0; i < plan->items.count; i++) {
        struct plan_item id = plan->items.items[i];
        if (id.stream < joined->streams && joined->counts[id.stream] >= id.seq) {
            due = i + 1;
        }
    }
    for (size_t k = 0; k < plan->bys.count; k++) {
        struct plan_item id = plan->bys.items[k].item;
        for (size_t i = due;
             model_find_call(&run->model, plan->bys.items[k].call) < call && i < plan->items.count;
             i++) {
            if (plan->items.items[i].stream == id.stream && plan->items.items[i].seq == id.seq) {
                due = i + 1;
            }
        }
    }
    return due;
}

/* One more call that the item waits for; of calls in a row the last will do. */
static bool add_after(struct plan *plan, size_t pins, const struct plan_by *after)
{
    struct plan_by *last =
        plan->afters.count > pins ? &plan->afters.items[plan->afters.count - 1] : NULL;
    if (last && last->call.thread == after->call.thread && last->item.seq == after->item.seq &&
        last->item.stream == after->item.stream) {
        last->call = after->call;
        return true;
    }
    return VEC_PUSH(&plan->afters, *after);
}

bool schedule_hold(const struct run *run, uint32_t end, struct plan *plan)
{
    const struct model *model = &run->model;
    const size_t pins = plan->afters.count;
    bool fine = true, asked = false;
    for (uint32_t call = 0; fine && call < end && call < model->calls.count; call++) {
        const struct model_call *query = &model->calls.items[call];
        if (query->id.query == 0 || query->answered) {
            continue;
        }
        size_t due = asked ? schedule_due(run, plan, call) : plan->items.count;
        asked = true;
        if (due < plan->items.count) {
            struct plan_by after = {.call = query->id, .item = plan->items.items[due]};
            uint32_t item = model_find(model, after.item);
            fine = model->items.items[item].call > call || add_after(plan, pins, &after);
        }
    }
    return fine;
}
