/* What the lanes of a warp tell each other: shuffle, vote, match, redux, elect.
 *
 * All members have to be there: a group that lacks some waits until they come, or until nothing
 * else can run. */
#include "ptx/warp.h"

/* True when the group has to wait for other members. */
static bool wait_for_members(struct warp *w, uint32_t wanted, uint32_t mask)
{
    struct group *g = &w->groups[w->current];
    if ((wanted & w->live & ~mask) == 0 || g->forced) {
        g->forced = false;
        return false;
    }
    g->state = GROUP_members;
    w->stop = true;
    return true;
}

static uint32_t members_of(char *r, const struct op *op, uint32_t mask)
{
    return slot_32(r, (uint32_t)op->imm)[__builtin_ctz(mask)];
}

void exec_shuffle(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    if (wait_for_members(w, members_of(r, op, mask), mask)) {
        return;
    }
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

void exec_vote(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint32_t members = members_of(r, op, mask);
    if (wait_for_members(w, members, mask)) {
        return;
    }
    const uint32_t there = members & mask, yes = *slot_32(r, op->a) & there;
    uint32_t *dst = slot_32(r, op->dst);
    if (op->sub == VOTE_ballot) {
        EACH_LANE(i, mask)
        {
            dst[i] = yes;
        }
        return;
    }
    const bool holds = op->sub == VOTE_all   ? yes == there
                       : op->sub == VOTE_any ? yes != 0
                                             : yes == there || yes == 0;
    *dst = holds ? *dst | mask : *dst & ~mask;
}

void exec_match(char *r, const struct op *op, uint32_t mask, struct warp *w)
{
    const uint32_t members = members_of(r, op, mask);
    if (wait_for_members(w, members, mask)) {
        return;
    }
    const uint32_t there = members & mask;
    uint64_t value[WARP_LANES];
    EACH_LANE(k, mask)
    {
        value[k] = op->sub & 2 ? slot_64(r, op->a)[k] : slot_32(r, op->a)[k];
    }
    uint32_t *dst = slot_32(r, op->dst), all_same = 0;
    EACH_LANE(i, mask)
    {
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
    const uint32_t members = members_of(r, op, mask);
    if (wait_for_members(w, members, mask)) {
        return;
    }
    const uint32_t *a = slot_32(r, op->a);
    const uint32_t there = members & mask;
    uint32_t *dst = slot_32(r, op->dst), sum = 0, is_first = 1;
    EACH_LANE(i, there)
    {
        sum = is_first ? a[i] : reduce(op->sub, op->aux != 0, sum, a[i]);
        is_first = 0;
    }
    EACH_LANE(k, mask)
    {
        dst[k] = sum;
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
    const uint32_t members = members_of(r, op, mask);
    if (wait_for_members(w, members, mask)) {
        return;
    }
    const uint32_t there = members & mask ? members & mask : mask,
                   leader = (uint32_t)__builtin_ctz(there);
    uint32_t *dst = slot_32(r, op->dst), *pred = slot_32(r, op->aux);
    EACH_LANE(i, mask)
    {
        dst[i] = leader;
    }
    *pred = (*pred & ~mask) | (1u << leader & mask);
}
