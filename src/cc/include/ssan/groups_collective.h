/* What works alike for several kinds of groups: waiting, reductions, scans, copies.
 *
 * Written from the CUDA C++ Programming Guide, "Cooperative Groups". memcpy_async copies at once,
 * which is one of the times at which CUDA may do so. Included by cooperative_groups.h alone. */
#ifndef SSAN_CC_GROUPS_COLLECTIVE_H
#define SSAN_CC_GROUPS_COLLECTIVE_H
#pragma GCC system_header

namespace cooperative_groups {

template <class Group> SSAN_CG_ void sync(const Group &group)
{
    group.sync();
}
template <class Group>
SSAN_CG_ auto thread_rank(const Group &group) -> decltype(group.thread_rank())
{
    return group.thread_rank();
}
template <class Group> SSAN_CG_ auto group_size(const Group &group) -> decltype(group.size())
{
    return group.size();
}

template <class T> struct plus {
    SSAN_CG_ T operator()(T a, T b) const
    {
        return a + b;
    }
};
template <class T> struct less {
    SSAN_CG_ T operator()(T a, T b) const
    {
        return b < a ? b : a;
    }
};
template <class T> struct greater {
    SSAN_CG_ T operator()(T a, T b) const
    {
        return a < b ? b : a;
    }
};
template <class T> struct bit_and {
    SSAN_CG_ T operator()(T a, T b) const
    {
        return a & b;
    }
};
template <class T> struct bit_or {
    SSAN_CG_ T operator()(T a, T b) const
    {
        return a | b;
    }
};
template <class T> struct bit_xor {
    SSAN_CG_ T operator()(T a, T b) const
    {
        return a ^ b;
    }
};

/* Every thread of the tile gets the value over all of it: log2(Size) exchanges. */
template <unsigned int Size, class Parent, class T, class Operation>
SSAN_CG_ T reduce(const thread_block_tile<Size, Parent> &tile, T value, Operation operation)
{
    for (unsigned int distance = Size / 2; distance; distance /= 2) {
        value = operation(value, tile.shfl_xor(value, distance));
    }
    return value;
}
template <class T, class Operation>
SSAN_CG_ T reduce(const coalesced_group &group, T value, Operation operation)
{
    T all = group.shfl(value, 0);
    for (unsigned int rank = 1; rank < group.size(); rank++) {
        all = operation(all, group.shfl(value, rank));
    }
    return all;
}

/* Threads get the value over themselves and all of lower rank, or over those alone. */
template <class Group, class T, class Operation>
SSAN_CG_ T inclusive_scan(const Group &group, T value, Operation operation)
{
    for (unsigned int distance = 1; distance < group.size(); distance *= 2) {
        T other = group.shfl_up(value, distance);
        if (group.thread_rank() >= distance) {
            value = operation(other, value);
        }
    }
    return value;
}
template <class Group, class T> SSAN_CG_ T inclusive_scan(const Group &group, T value)
{
    return inclusive_scan(group, value, plus<T>());
}
template <class Group, class T, class Operation>
SSAN_CG_ T exclusive_scan(const Group &group, T value, Operation operation)
{
    T before = group.shfl_up(inclusive_scan(group, value, operation), 1);
    return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> SSAN_CG_ T exclusive_scan(const Group &group, T value)
{
    return exclusive_scan(group, value, plus<T>());
}

/* One thread of a group calls; the others pass by, or get the result. */
template <class Group, class Function, class... Given>
SSAN_CG_ void invoke_one(const Group &group, Function &&function, Given &&...given)
{
    if (group.thread_rank() == 0) {
        function(given...);
    }
}
template <class Group, class Function, class... Given>
SSAN_CG_ auto invoke_one_broadcast(const Group &group, Function &&function, Given &&...given)
    -> decltype(function(given...))
{
    decltype(function(given...)) result{};
    if (group.thread_rank() == 0) {
        result = function(given...);
    }
    return group.shfl(result, 0);
}

/* Bytes, by all threads of the group; complete for it after wait(). */
template <class Group, class To, class From>
SSAN_CG_ void memcpy_async(const Group &group, To *to, const From *from, size_t bytes)
{
    const size_t step = group.size();
    size_t i = group.thread_rank();
    if (sizeof(To) == sizeof(From) && bytes % sizeof(To) == 0) {
        for (; i < bytes / sizeof(To); i += step) {
            __builtin_memcpy(&to[i], &from[i], sizeof(To));
        }
    } else {
        for (; i < bytes; i += step) {
            ((char *)to)[i] = ((const char *)from)[i];
        }
    }
}
/* Elements: as many as both sides have. */
template <class Group, class T>
SSAN_CG_ void memcpy_async(const Group &group, T *to, size_t to_count, const T *from,
                           size_t from_count)
{
    const size_t count = to_count < from_count ? to_count : from_count;
    for (size_t i = group.thread_rank(); i < count; i += group.size()) {
        to[i] = from[i];
    }
}
template <class Group> SSAN_CG_ void wait(const Group &group)
{
    group.sync();
}
template <unsigned int Stages, class Group> SSAN_CG_ void wait_prior(const Group &group)
{
    group.sync();
}

} // namespace cooperative_groups

#endif
