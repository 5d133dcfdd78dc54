/* Questions that a model answers once it is read, and its end. */
#include "explore/model.h"

#include <stdlib.h>

/* Stops at the first stretch that two sets share. */
struct any {
    struct bytes_visitor visitor;
    bool met;
};

static bool meet(struct bytes_visitor *self, const struct piece *a, const struct piece *b,
                 uint64_t begin, uint64_t end)
{
    ((struct any *)self)->met = true;
    return false;
}

static bool share(const struct bytes *a, const struct bytes *b)
{
    struct any any = {.visitor = {.meet = meet}};
    if (a->count > 0 && b->count > 0 && bytes_near(a, b)) {
        uint64_t begin = a->begin > b->begin ? a->begin : b->begin;
        uint64_t end = a->end < b->end ? a->end : b->end;
        bytes_meet(a, b, begin, end, &any.visitor);
    }
    return any.met;
}

static bool touches_host(const struct model_item *item)
{
    return item->host_reads || item->host_writes;
}

bool model_conflict(const struct model *model, uint32_t x, uint32_t y)
{
    const struct model_item *a = &model->items.items[x], *b = &model->items.items[y];
    if ((a->kind == SSAN_op_kind_HOSTFUNC || b->kind == SSAN_op_kind_HOSTFUNC) && touches_host(a) &&
        touches_host(b)) {
        return true;
    }
    if (a->prints && b->prints) {
        return true;
    }
    for (unsigned i = 0; i < ssan_access_count; i++) {
        for (unsigned k = 0; k < ssan_access_count; k++) {
            bool reads_only = i == SSAN_access_READ && k == SSAN_access_READ;
            if (!reads_only && share(&a->ways[i], &b->ways[k])) {
                return true;
            }
        }
    }
    return false;
}

static bool row_has(const struct model_row *row, struct plan_item id)
{
    return id.stream < row->streams && row->counts[id.stream] >= id.seq;
}

bool model_before(const struct model *model, uint32_t x, uint32_t y)
{
    const struct model_item *a = &model->items.items[x], *b = &model->items.items[y];
    return !a->is_void && !b->is_void && row_has(&b->before, a->id);
}

bool model_before_call(const struct model *model, uint32_t x, uint32_t call)
{
    const struct model_item *item = &model->items.items[x];
    return !item->is_void && row_has(&model->calls.items[call].joined, item->id);
}

uint32_t model_find(const struct model *model, struct plan_item id)
{
    for (size_t i = 0; i < model->items.count; i++) {
        const struct plan_item *known = &model->items.items[i].id;
        if (known->stream == id.stream && known->seq == id.seq) {
            return (uint32_t)i;
        }
    }
    return MODEL_NONE;
}

uint32_t model_find_call(const struct model *model, struct plan_call id)
{
    for (size_t i = 0; i < model->calls.count; i++) {
        const struct plan_call *known = &model->calls.items[i].id;
        if (known->thread == id.thread && known->number == id.number && known->query == id.query) {
            return (uint32_t)i;
        }
    }
    return MODEL_NONE;
}

const struct model_alloc *model_alloc_at(const struct model *model, uint64_t address,
                                         uint64_t position)
{
    size_t low = 0, high = model->allocs.count;
    while (low < high) { /* the first that begins behind the address */
        size_t middle = low + (high - low) / 2;
        if (model->allocs.items[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    while (low > 0 && model->allocs.items[low - 1].reach > address) {
        const struct model_alloc *alloc = &model->allocs.items[--low];
        if (address - alloc->address < alloc->size && alloc->born <= position &&
            position < alloc->dead) {
            return alloc;
        }
    }
    return NULL;
}

const struct model_line *model_line(const struct model *model, uint32_t site)
{
    return site != 0 && site < model->lines.count && model->lines.items[site].file.length > 0
               ? &model->lines.items[site]
               : NULL;
}

void model_forget_bytes(struct model *model)
{
    for (size_t i = 0; i < model->items.count; i++) {
        for (unsigned way = 0; way < ssan_access_count; way++) {
            bytes_finish(&model->items.items[i].ways[way]);
            model->items.items[i].ways[way] = (struct bytes){0};
        }
    }
}

void model_finish(struct model *model)
{
    model_forget_bytes(model);
    VEC_FREE(&model->items);
    VEC_FREE(&model->order);
    VEC_FREE(&model->calls);
    VEC_FREE(&model->syncs);
    VEC_FREE(&model->steps);
    VEC_FREE(&model->allocs);
    VEC_FREE(&model->lines);
    arena_finish(&model->arena);
}
