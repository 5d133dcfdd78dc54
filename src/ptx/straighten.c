/* Prepares the code of a function for the loop of warp.c, once all its operations are known.
 *
 * Operations that do nothing are taken out (what they count goes to the one behind), each operation
 * learns how far the code goes straight on from it, and accesses through one unchanged base
 * register share what is found out about its addresses. A block is code that is entered at its
 * first operation only and left at its last; facts hold inside one block and one running group.
 * Naive model: nothing removed, straight 0 and no shape known anywhere. Cost: linear in the code.
 */
#include "ptx/parse.h"

#include "base/mem.h"
#include "ptx/exec_ops.h"

#define MOST_WEIGHT   UINT8_MAX
#define MOST_STRAIGHT UINT16_MAX

/* Marks in `is_target` where branches and jump tables go. */
static void find_targets(const struct parser *p, unsigned char *is_target)
{
    const struct builder *b = &p->b;
    for (size_t i = 0; i < b->code.count; i++) {
        if (b->code.items[i].kind == OP_BRANCH) {
            is_target[b->code.items[i].aux] = true;
        }
    }
    for (size_t i = 0; i < p->targets.count; i++) {
        const struct target_list *list = &p->targets.items[i];
        for (uint32_t k = 0; k < list->count; k++) {
            is_target[b->pool.items[list->first + k]] = true;
        }
    }
}

static void retarget(struct parser *p, const uint32_t *moved)
{
    struct builder *b = &p->b;
    for (size_t i = 0; i < b->code.count; i++) {
        if (b->code.items[i].kind == OP_BRANCH) {
            b->code.items[i].aux = moved[b->code.items[i].aux];
        }
    }
    for (size_t i = 0; i < p->targets.count; i++) {
        const struct target_list *list = &p->targets.items[i];
        for (uint32_t k = 0; k < list->count; k++) {
            b->pool.items[list->first + k] = moved[b->pool.items[list->first + k]];
        }
    }
}

/* Takes out what does nothing, but for an operation in front of a label: who jumps there must not
 * count it. `is_target` and `moved` are by old index; is_target is by new index afterwards. */
static void drop_nothings(struct parser *p, unsigned char *is_target, uint32_t *moved)
{
    struct builder *b = &p->b;
    uint32_t kept = 0, dropped = 0;
    bool was_target = false;
    for (size_t i = 0; i < b->code.count; i++) {
        struct op op = b->code.items[i];
        moved[i] = kept;
        was_target |= is_target[i];
        if (op.kind == OP_NOTHING && !is_target[i + 1] && dropped + 1 < MOST_WEIGHT) {
            dropped++;
            continue;
        }
        if (op.kind == OP_NOTHING) {
            op.kind = OP_LANE;
            op.fn = exec_nothing;
        }
        op.weight = (uint8_t)(1 + dropped);
        is_target[kept] = was_target;
        b->code.items[kept++] = op;
        dropped = 0;
        was_target = false;
    }
    b->code.count = kept;
    retarget(p, moved);
}

/* -- shapes -- */

/* Base slots whose shape the warp has at this place of the code; 0: none. */
struct known_shapes {
    uint32_t base[WARP_SHAPES];
    uint32_t next; /* the entry that is given up next */
};

static bool uses_shape(const struct op *op)
{
    return op->fn == exec_load_global || op->fn == exec_store_global ||
           op->fn == exec_load_shared || op->fn == exec_store_shared ||
           op->fn == exec_load_generic || op->fn == exec_store_generic;
}

static void forget(struct known_shapes *known, uint32_t slot)
{
    for (uint32_t i = 0; i < WARP_SHAPES; i++) {
        known->base[i] = known->base[i] == slot ? 0 : known->base[i];
    }
}

/* Forgets what the operation may overwrite; a store, which writes no slot, is taken for a load. */
static void forget_results(const struct parser *p, struct known_shapes *known, const struct op *op)
{
    if (op->kind == OP_MEMORY && op->count > 1) {
        for (uint32_t e = 0; e < op->count; e++) {
            forget(known, p->b.pool.items[op->dst + e]);
        }
    } else {
        forget(known, op->dst);
    }
}

/* Takes the handler that tries rows first, where lanes may be in rows at all. */
static void try_rows(const struct lane_isa *isa, struct op *op)
{
    for (uint32_t i = 0; i < isa->row_count; i++) {
        const struct row_handler *handler = &isa->rows[i];
        if (op->fn == handler->any && op->count == 1 && op->width == handler->width &&
            op->imm % op->width == 0) {
            op->fn = op->shape & SHAPE_KNOWN ? handler->known : handler->first;
            op->in_rows = true;
            return;
        }
    }
}

/* Chooses the entry for a base. Under a guard it may not run, so nothing behind may rely on it. */
static void assign_shape(struct known_shapes *known, struct op *op)
{
    for (uint32_t i = 0; i < WARP_SHAPES; i++) {
        if (known->base[i] == op->a) {
            op->shape = (uint8_t)(i | SHAPE_KNOWN);
            return;
        }
    }
    op->shape = (uint8_t)known->next;
    known->base[known->next] = op->guard ? 0 : op->a;
    known->next = (known->next + 1) % WARP_SHAPES;
}

static void share_shapes(struct parser *p, const unsigned char *is_target)
{
    struct known_shapes known = {0};
    for (size_t i = 0; i < p->b.code.count; i++) {
        struct op *op = &p->b.code.items[i];
        if (is_target[i]) {
            known = (struct known_shapes){0};
        }
        if (uses_shape(op)) {
            assign_shape(&known, op);
            try_rows(p->isa, op);
        }
        forget_results(p, &known, op);
        if (op->kind == OP_BRANCH || op->kind == OP_CONTROL) {
            known = (struct known_shapes){0};
        }
    }
}

/* True when the next operation follows, for all lanes. A clock has to know how many instructions
 * were executed before it. */
static bool is_straight(const struct op *op)
{
    return (op->kind == OP_LANE || op->kind == OP_MEMORY) && !op->guard && op->fn != exec_clock;
}

static void measure_straight(struct parser *p)
{
    for (size_t i = p->b.code.count; i-- > 0;) {
        struct op *op = &p->b.code.items[i];
        if (is_straight(op)) { /* the last operation, which leaves, is not */
            const struct op *next = op + 1;
            op->straight = (uint16_t)(next->straight < MOST_STRAIGHT ? next->straight + 1 : 1);
            op->cost = next->cost + op->weight;
        }
    }
}

bool code_straighten(struct parser *p)
{
    const size_t count = p->b.code.count;
    unsigned char *is_target = mem_zalloc(count + 1, sizeof *is_target);
    uint32_t *moved = mem_alloc((count + 1) * sizeof *moved);
    const bool ok = is_target && moved;
    if (ok) {
        find_targets(p, is_target);
        drop_nothings(p, is_target, moved);
        share_shapes(p, is_target);
        measure_straight(p);
    } else {
        parse_no_memory(p);
    }
    mem_free(is_target);
    mem_free(moved);
    return ok;
}
