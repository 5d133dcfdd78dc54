/* Clocks as trees of shared nodes; see clock.h for the model. Released nodes are kept by kind: the
 * engine makes and drops one at nearly every edge. Functions on nodes borrow what they are given
 * and return a new reference. */
#include "core/clock.h"

#include "base/mem.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static const size_t node_bytes[CLOCK_KINDS] = {
    [CLOCK_LEAF] = offsetof(struct clock_leaf, rules),
    [CLOCK_RULED] = sizeof(struct clock_leaf),
    [CLOCK_INNER] = sizeof(struct clock_inner),
};

static const struct clock_leaf empty_leaf = {.head = {.refs = 1, .kind = CLOCK_RULED}};
static const struct clock_inner empty_inner = {.head = {.refs = 1, .kind = CLOCK_INNER}};

static const struct clock_leaf *leaf_of(const struct clock *node)
{
    return node ? (const struct clock_leaf *)node : &empty_leaf;
}

static const struct clock_inner *inner_of(const struct clock *node)
{
    return node ? (const struct clock_inner *)node : &empty_inner;
}

static uint32_t rule_at(const struct clock_leaf *leaf, uint32_t i)
{
    return leaf->head.kind == CLOCK_RULED ? leaf->rules[i] : 0;
}

/* Contents are up to the caller. NULL when out of memory. */
static void *node_create(struct clocks *clocks, enum clock_kind kind, uint16_t depth)
{
    struct clock *node = clocks->spare[kind];
    if (node) {
        memcpy(&clocks->spare[kind], (const void *)(node + 1), sizeof(struct clock *));
    } else {
        node = mem_alloc(node_bytes[kind]);
        if (!node) {
            clocks->failed = true;
            return NULL;
        }
    }
    *node = (struct clock){.refs = 1, .depth = depth, .kind = (uint16_t)kind};
    clocks->bytes += node_bytes[kind];
    return node;
}

void clock_drop_slow(struct clocks *clocks, struct clock *clock)
{
    if (clock->kind == CLOCK_INNER) {
        struct clock_inner *inner = (struct clock_inner *)clock;
        for (uint32_t i = 0; i < CLOCK_FANOUT; i++) {
            clock_drop(clocks, inner->children[i]);
        }
    }
    clocks->bytes -= node_bytes[clock->kind];
    memcpy((void *)(clock + 1), &clocks->spare[clock->kind], sizeof(struct clock *));
    clocks->spare[clock->kind] = clock;
}

const struct clock_leaf *clock_leaf_slow(const struct clock *clock, uint32_t chain)
{
    for (; clock && clock->depth > 0; chain %= 1u << (CLOCK_BITS * (clock->depth + 1u))) {
        uint64_t child = (uint64_t)chain >> (CLOCK_BITS * clock->depth);
        if (child >= CLOCK_FANOUT) {
            return NULL;
        }
        clock = inner_of(clock)->children[child];
        if (!clock) {
            return NULL;
        }
    }
    return clock && chain < CLOCK_FANOUT ? leaf_of(clock) : NULL;
}

uint32_t clock_rule(const struct clock *clock, uint32_t chain)
{
    const struct clock_leaf *leaf = clock_leaf_of(clock, chain);
    return leaf ? rule_at(leaf, chain % CLOCK_FANOUT) : 0;
}

/* The leaf at *cursor; NULL where there is none, *cursor then stands behind the gap. */
static const struct clock_leaf *leaf_at(const struct clock *clock, uint64_t *cursor)
{
    while (clock->depth > 0) {
        uint32_t bits = CLOCK_BITS * clock->depth;
        clock = inner_of(clock)->children[(*cursor >> bits) % CLOCK_FANOUT];
        if (!clock) {
            *cursor = ((*cursor >> bits) + 1) << bits;
            return NULL;
        }
    }
    return leaf_of(clock);
}

bool clock_next(const struct clock *clock, uint64_t *cursor, struct clock_entry *entry)
{
    uint64_t end = clock ? UINT64_C(1) << (CLOCK_BITS * (clock->depth + 1u)) : 0;
    while (*cursor < end) {
        const struct clock_leaf *leaf = leaf_at(clock, cursor);
        uint32_t i = (uint32_t)(*cursor % CLOCK_FANOUT);
        if (leaf && leaf->ticks[i] != 0) {
            *entry = (struct clock_entry){(uint32_t)*cursor, leaf->ticks[i], rule_at(leaf, i)};
            ++*cursor;
            return true;
        }
        *cursor += leaf ? 1 : 0;
    }
    return false;
}

/* A copy that is nobody else's; NULL when out of memory. */
static struct clock *copy(struct clocks *clocks, const struct clock *node, enum clock_kind kind)
{
    struct clock *made = node_create(clocks, kind, node->depth);
    if (!made) {
        return NULL;
    }
    size_t shared =
        node_bytes[kind] < node_bytes[node->kind] ? node_bytes[kind] : node_bytes[node->kind];
    memcpy(made + 1, node + 1, shared - sizeof *node);
    if (kind == CLOCK_RULED && node->kind == CLOCK_LEAF) {
        memset(((struct clock_leaf *)made)->rules, 0, sizeof empty_leaf.rules);
    }
    for (uint32_t i = 0; kind == CLOCK_INNER && i < CLOCK_FANOUT; i++) {
        clock_ref(((struct clock_inner *)made)->children[i]);
    }
    return made;
}

/* The clock as one of at least `depth`, as a new reference. */
static struct clock *raise(struct clocks *clocks, const struct clock *clock, uint32_t depth)
{
    struct clock *raised = clock_ref((struct clock *)clock);
    while (raised && raised->depth < depth) {
        struct clock_inner *inner =
            node_create(clocks, CLOCK_INNER, (uint16_t)(raised->depth + 1u));
        if (!inner) {
            clock_drop(clocks, raised);
            return NULL;
        }
        memset(inner->children, 0, sizeof inner->children);
        inner->children[0] = raised;
        raised = &inner->head;
    }
    return raised;
}

/* The joined entry of a chain: the later tick, and at equal ticks the better (documented)
 * provenance. What b adds without a rule of its own comes by `rule`. */
static struct clock_entry later(struct clock_entry a, struct clock_entry b, uint32_t rule)
{
    b.rule = b.rule != 0 ? b.rule : rule;
    if (a.tick != b.tick) {
        return a.tick > b.tick ? a : b;
    }
    return a.rule == 0 || b.rule != 0 ? a : b;
}

/* Leaves of which one has rules, or to which b comes by one. */
static struct clock *join_ruled(struct clocks *clocks, const struct clock *a, const struct clock *b,
                                uint32_t rule)
{
    struct clock_leaf sum = empty_leaf;
    bool like_a = a != NULL, like_b = true, ruled = false;
    for (uint32_t i = 0; i < CLOCK_FANOUT; i++) {
        struct clock_entry left = {i, leaf_of(a)->ticks[i], rule_at(leaf_of(a), i)};
        struct clock_entry right = {i, leaf_of(b)->ticks[i], rule_at(leaf_of(b), i)};
        struct clock_entry both = later(left, right, rule);
        like_a = like_a && both.tick == left.tick && both.rule == left.rule;
        like_b = like_b && both.tick == right.tick && both.rule == right.rule;
        ruled = ruled || both.rule != 0;
        sum.ticks[i] = both.tick;
        sum.rules[i] = (uint8_t)both.rule;
    }
    if (like_a || like_b) {
        return clock_ref((struct clock *)(like_a ? a : b));
    }
    enum clock_kind kind = ruled ? CLOCK_RULED : CLOCK_LEAF;
    struct clock *joined = copy(clocks, &sum.head, kind);
    return joined ? joined : clock_ref((struct clock *)a);
}

/* Two leaves without rules: which of them is behind in no chain, else their maximum. */
static struct clock *join_leaves(struct clocks *clocks, const struct clock *a,
                                 const struct clock *b)
{
    const uint32_t *left = leaf_of(a)->ticks, *right = leaf_of(b)->ticks;
    uint32_t a_lacks = 0, b_lacks = 0;
    for (uint32_t i = 0; i < CLOCK_FANOUT; i++) {
        a_lacks |= right[i] > left[i];
        b_lacks |= left[i] > right[i];
    }
    if (!a_lacks || !b_lacks) {
        return clock_ref((struct clock *)(a_lacks ? b : a));
    }
    struct clock_leaf *joined = node_create(clocks, CLOCK_LEAF, 0);
    if (!joined) {
        return clock_ref((struct clock *)a);
    }
    for (uint32_t i = 0; i < CLOCK_FANOUT; i++) {
        joined->ticks[i] = left[i] > right[i] ? left[i] : right[i];
    }
    return &joined->head;
}

static struct clock *join_nodes(struct clocks *clocks, const struct clock *a, const struct clock *b,
                                uint32_t rule);

static struct clock *join_inner(struct clocks *clocks, const struct clock *a, const struct clock *b,
                                uint32_t rule)
{
    struct clock *children[CLOCK_FANOUT];
    bool like_a = a != NULL, like_b = true;
    for (uint32_t i = 0; i < CLOCK_FANOUT; i++) {
        const struct clock *left = inner_of(a)->children[i], *right = inner_of(b)->children[i];
        children[i] = join_nodes(clocks, left, right, rule);
        like_a = like_a && children[i] == left;
        like_b = like_b && children[i] == right;
    }
    struct clock_inner *joined = NULL;
    if (!like_a && !like_b) {
        joined = node_create(clocks, CLOCK_INNER, b->depth);
    }
    if (joined) {
        memcpy(joined->children, children, sizeof children);
        return &joined->head;
    }
    for (uint32_t i = 0; i < CLOCK_FANOUT; i++) {
        clock_drop(clocks, children[i]);
    }
    return clock_ref((struct clock *)(like_a || !like_b ? a : b));
}

/* a | b of nodes of one depth; both may be NULL. */
static struct clock *join_nodes(struct clocks *clocks, const struct clock *a, const struct clock *b,
                                uint32_t rule)
{
    if (!b || a == b) {
        return clock_ref((struct clock *)a);
    }
    if (!a && rule == 0) {
        return clock_ref((struct clock *)b);
    }
    if (b->depth > 0) {
        return join_inner(clocks, a, b, rule);
    }
    bool plain = a && a->kind == CLOCK_LEAF && b->kind == CLOCK_LEAF && rule == 0;
    return plain ? join_leaves(clocks, a, b) : join_ruled(clocks, a, b, rule);
}

/* Clocks of different depth. */
static struct clock *join_raised(struct clocks *clocks, const struct clock *a,
                                 const struct clock *b, uint32_t rule)
{
    struct clock *left = raise(clocks, a, b->depth), *right = raise(clocks, b, a->depth);
    struct clock *joined =
        left && right ? join_nodes(clocks, left, right, rule) : clock_ref((struct clock *)a);
    clock_drop(clocks, left);
    clock_drop(clocks, right);
    return joined;
}

struct clock *clock_join(struct clocks *clocks, struct clock *a, const struct clock *b,
                         uint32_t rule)
{
    if (!b || a == b) {
        return a;
    }
    bool raised = a && a->depth != b->depth;
    struct clock *joined =
        raised ? join_raised(clocks, a, b, rule) : join_nodes(clocks, a, b, rule);
    clock_drop(clocks, a);
    return joined;
}

/* The leaf with its entry i replaced. Takes over the reference. */
static struct clock *put_leaf(struct clocks *clocks, struct clock *take_leaf, uint32_t i,
                              struct clock_entry entry)
{
    bool ruled = entry.rule != 0 || take_leaf->kind == CLOCK_RULED;
    enum clock_kind kind = ruled ? CLOCK_RULED : CLOCK_LEAF;
    struct clock *leaf = take_leaf;
    if (take_leaf->refs > 1 || take_leaf->kind != kind) {
        leaf = copy(clocks, take_leaf, kind);
        if (!leaf) {
            return take_leaf;
        }
        clock_drop(clocks, take_leaf);
    }
    ((struct clock_leaf *)leaf)->ticks[i] = entry.tick;
    if (ruled) {
        ((struct clock_leaf *)leaf)->rules[i] = (uint8_t)entry.rule;
    }
    return leaf;
}

/* The clock with one entry replaced. Takes over the reference; `take` may be NULL at a depth. */
static struct clock *put(struct clocks *clocks, struct clock *take, uint32_t depth,
                         struct clock_entry entry)
{
    if (!take) {
        const struct clock *empty = depth > 0 ? &empty_inner.head : &empty_leaf.head;
        take = copy(clocks, empty, depth > 0 ? CLOCK_INNER : CLOCK_LEAF);
        if (!take) {
            return NULL;
        }
        take->depth = (uint16_t)depth;
    }
    if (depth == 0) {
        return put_leaf(clocks, take, entry.chain % CLOCK_FANOUT, entry);
    }
    struct clock *node = take;
    if (take->refs > 1) {
        node = copy(clocks, take, CLOCK_INNER);
        if (!node) {
            return take;
        }
        clock_drop(clocks, take);
    }
    struct clock **child =
        &((struct clock_inner *)node)->children[(uint64_t)entry.chain >> (CLOCK_BITS * depth)];
    entry.chain = (uint32_t)(entry.chain % (UINT64_C(1) << (CLOCK_BITS * depth)));
    *child = put(clocks, *child, depth - 1, entry);
    return node;
}

/* The least depth of a clock that has the chain. */
static uint32_t depth_for(uint32_t chain)
{
    uint32_t depth = 0;
    while ((uint64_t)chain >> (CLOCK_BITS * (depth + 1)) > 0) {
        depth++;
    }
    return depth;
}

struct clock *clock_set(struct clocks *clocks, struct clock *a, struct epoch at, uint32_t rule)
{
    uint32_t tick = clock_tick(a, at.chain), old_rule = clock_rule(a, at.chain);
    if (tick > at.tick || (tick == at.tick && (tick == 0 || old_rule == 0 || rule != 0))) {
        return a;
    }
    uint32_t depth = depth_for(at.chain);
    if (a && a->depth < depth) {
        struct clock *raised = raise(clocks, a, depth);
        if (!raised) {
            return a;
        }
        clock_drop(clocks, a);
        a = raised;
    }
    return put(clocks, a, a ? a->depth : depth, (struct clock_entry){at.chain, at.tick, rule});
}

struct clock *clock_lower(struct clocks *clocks, struct clock *a, struct clock_entry entry)
{
    if (clock_tick(a, entry.chain) <= entry.tick) {
        return a;
    }
    uint32_t rule = entry.tick != 0 ? clock_rule(a, entry.chain) : 0;
    return put(clocks, a, a->depth, (struct clock_entry){entry.chain, entry.tick, rule});
}

bool clock_within(const struct clock *part, const struct clock *clock)
{
    struct clock_entry entry;
    for (uint64_t cursor = 0; part != clock && clock_next(part, &cursor, &entry);) {
        if (clock_tick(clock, entry.chain) < entry.tick) {
            return false;
        }
    }
    return true;
}

static bool equal_leaves(const struct clock_leaf *a, const struct clock_leaf *b)
{
    if (memcmp(a->ticks, b->ticks, sizeof a->ticks) != 0) {
        return false;
    }
    for (uint32_t i = 0; a->head.kind != b->head.kind && i < CLOCK_FANOUT; i++) {
        if (rule_at(a, i) != rule_at(b, i)) {
            return false;
        }
    }
    return a->head.kind != CLOCK_RULED || b->head.kind != CLOCK_RULED ||
           memcmp(a->rules, b->rules, sizeof a->rules) == 0;
}

bool clock_equal(const struct clock *a, const struct clock *b)
{
    if (a == b) {
        return true;
    }
    if (!a || !b || a->depth != b->depth) {
        return false;
    }
    if (a->depth == 0) {
        return equal_leaves(leaf_of(a), leaf_of(b));
    }
    for (uint32_t i = 0; i < CLOCK_FANOUT; i++) {
        if (!clock_equal(inner_of(a)->children[i], inner_of(b)->children[i])) {
            return false;
        }
    }
    return true;
}

bool verify_clock(const struct clock *clock)
{
    if (!clock) {
        return true;
    }
    bool fine = clock->refs > 0 && (clock->depth > 0) == (clock->kind == CLOCK_INNER);
    for (uint32_t i = 0; fine && i < CLOCK_FANOUT; i++) {
        if (clock->kind == CLOCK_RULED) {
            fine = leaf_of(clock)->ticks[i] != 0 || leaf_of(clock)->rules[i] == 0;
        } else if (clock->kind == CLOCK_INNER) {
            const struct clock *child = inner_of(clock)->children[i];
            fine = !child || (child->depth + 1 == clock->depth && verify_clock(child));
        }
    }
    return fine;
}

void clocks_finish(struct clocks *clocks)
{
    for (uint32_t kind = 0; kind < CLOCK_KINDS; kind++) {
        while (clocks->spare[kind]) {
            struct clock *node = clocks->spare[kind];
            memcpy(&clocks->spare[kind], (const void *)(node + 1), sizeof(struct clock *));
            mem_free(node);
        }
    }
}
