/* What the lanes of a warp tell each other: shuffle, vote, match, redux, elect.
 *
 * Each lane names its members, and all of them have to be there: lanes that lack some wait until
 * they come, or until nothing else can run. Lanes that execute an operation together may name
 * different members (tiles of a warp): each such set is a matter of its own. */
#include "ptx/warp.h"

static const uint32_t *members_of(char *r, const struct op *op)
{
    return slot_32(r, (uint32_t)op->imm);
}

/* The lanes of the running group, which is all of `mask`, that have all their members; the others
 * wait. Where that parts the group, what goes on is placed behind the operation already. */
static uint32_t complete_lanes(struct warp *w, const struct op *op, const uint32_t *members,
                               uint32_t mask)
{
    struct group *g = &w->groups[w->current];
    const bool forced = g->forced;
    uint32_t complete = mask;
    g->forced = false;
    if (mask == w->live) {
        return mask;
    }
    EACH_LANE(i, mask)
    {
        complete &= members[i] & w->live & ~mask ? ~(1u << i) : FULL_MASK;
    }
    if (forced) {
        if (complete != mask) {
            warp_lacks(w, op);
        }
        return mask;
    }
    if (!complete) {
        g->state = GROUP_members;
        w->stop = true;
    } else if (complete != mask) {
        struct frame *frame = g->frame;
        const uint32_t pc = g->pc++;
        g->mask = complete;
        group_add(w, frame, pc, mask & ~complete);
        w->stop = true;
    }
    return complete;
}

/* Of `left`, the lanes that name the same members as its lowest. */
static uint32_t same_members(const uint32_t *members, uint32_t left)
{
    const uint32_t named = members[__builtin_ctz(left)];
    uint32_t same = 0;
    EACH_LANE(i, left)
    {
        same |= members[i] == named ? 1u << i : 0;
    }
    return same;
}

void exec_shuffle(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    mask = complete_lanes(w, op, members_of(r, op), mask);
    const uint32_t *b = slot_32(r, op->b), *c = slot_32(r, op->c);
    uint32_t *dst = slot_32(r, op->dst), in_range = 0, a[WARP_LANES];
    __builtin_memcpy(a, r + op->a, sizeof a);
    EACH_LANE(i, mask)
    {
        const uint32_t clamp = c[i] & 0x1f, segment = c[i] >> 8 & 0x1f;
        const uint32_t highest = (i & segment) | (clamp & ~segment), lowest = i & segment;
        uint32_t from;
        bool ok;
        if (op->sub == SHUFFLE_up) {
            from = i - (b[i] & 0x1f);
            ok = (int32_t)from >= (int32_t)highest;
        } else {
            from = op->sub == SHUFFLE_down   ? i + (b[i] & 0x1f)
                   : op->sub == SHUFFLE_bfly ? (i ^ (b[i] & 0x1f))
                                             : lowest | (b[i] & 0x1f & ~segment);
            ok = from <= highest;
        }
        dst[i] = a[ok ? from & 0x1f : i];
        in_range |= ok ? 1u << i : 0;
    }
    if (op->aux) {
        uint32_t *pred = slot_32(r, op->aux);
        *pred = (*pred & ~mask) | in_range;
    }
}

/* The vote of the lanes in `there`, told to those in `same`. */
static void vote(char *r, const struct op *op, uint32_t there, uint32_t same)
{
    const uint32_t yes = *slot_32(r, op->a) & there;
    uint32_t *dst = slot_32(r, op->dst);
    if (op->sub == VOTE_ballot) {
        EACH_LANE(i, same)
        {
            dst[i] = yes;
        }
        return;
    }
    const bool holds = op->sub == VOTE_all   ? yes == there
                       : op->sub == VOTE_any ? yes != 0
                                             : yes == there || yes == 0;
    *dst = holds ? *dst | same : *dst & ~same;
}

void exec_vote(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint32_t *members = members_of(r, op);
    mask = complete_lanes(w, op, members, mask);
    for (uint32_t left = mask, same; left; left &= ~same) {
        same = same_members(members, left);
        vote(r, op, members[__builtin_ctz(left)] & mask, same);
    }
}

void exec_match(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint32_t *members = members_of(r, op);
    mask = complete_lanes(w, op, members, mask);
    uint64_t value[WARP_LANES];
    EACH_LANE(k, mask)
    {
        value[k] = op->sub & 2 ? slot_64(r, op->a)[k] : slot_32(r, op->a)[k];
    }
    uint32_t *dst = slot_32(r, op->dst), all_same = 0;
    EACH_LANE(i, mask)
    {
        const uint32_t there = members[i] & mask;
        uint32_t same = 0;
        EACH_LANE(k, there)
        {
            same |= value[k] == value[i] ? 1u << k : 0;
        }
        if (op->sub & 1) {
            all_same |= same == there ? 1u << i : 0;
            same = same == there ? there : 0;
        }
        dst[i] = same;
    }
    if (op->aux) {
        uint32_t *pred = slot_32(r, op->aux);
        *pred = (*pred & ~mask) | all_same;
    }
}

static uint32_t reduce(uint32_t which, bool is_signed, uint32_t x, uint32_t y)
{
    const bool below = is_signed ? (int32_t)x < (int32_t)y : x < y;
    switch (which) {
    case ATOMIC_add:
        return x + y;
    case ATOMIC_min:
        return below ? x : y;
    case ATOMIC_max:
        return below ? y : x;
    case ATOMIC_and:
        return x & y;
    case ATOMIC_or:
        return x | y;
    default:
        return x ^ y;
    }
}

void exec_redux(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint32_t *members = members_of(r, op);
    mask = complete_lanes(w, op, members, mask);
    uint32_t a[WARP_LANES], *dst = slot_32(r, op->dst);
    __builtin_memcpy(a, r + op->a, sizeof a);
    for (uint32_t left = mask, same; left; left &= ~same) {
        const uint32_t there = members[__builtin_ctz(left)] & mask;
        uint32_t sum = 0, is_first = 1;
        same = same_members(members, left);
        EACH_LANE(i, there)
        {
            sum = is_first ? a[i] : reduce(op->sub, op->aux != 0, sum, a[i]);
            is_first = 0;
        }
        EACH_LANE(k, same)
        {
            dst[k] = sum;
        }
    }
}

void exec_activemask(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    uint32_t *dst = slot_32(r, op->dst);
    EACH_LANE(i, mask)
    {
        dst[i] = mask;
    }
}

void exec_elect(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint32_t *members = members_of(r, op);
    mask = complete_lanes(w, op, members, mask);
    uint32_t *dst = slot_32(r, op->dst), *pred = slot_32(r, op->aux);
    *pred &= ~mask;
    for (uint32_t left = mask, same; left; left &= ~same) {
        const uint32_t named = members[__builtin_ctz(left)] & mask;
        same = same_members(members, left);
        const uint32_t leader = (uint32_t)__builtin_ctz(named ? named : same);
        EACH_LANE(i, same)
        {
            dst[i] = leader;
        }
        *pred |= 1u << leader & same;
    }
}
