/* Groups within a warp: tiles whose size the compiler knows, and lanes that are together.
 *
 * Written from the CUDA C++ Programming Guide, "Cooperative Groups". Included by
 * cooperative_groups.h alone. */
#ifndef SSAN_CC_GROUPS_WARP_H
#define SSAN_CC_GROUPS_WARP_H
#pragma GCC system_header

namespace cooperative_groups {

/* The threads of a warp that are at this line together, or part of them. */
class coalesced_group : public thread_group {
  public:
    SSAN_CG_ coalesced_group() : thread_group(false, __activemask()), rank_(0), groups_(1)
    {
    }
    SSAN_CG_ coalesced_group(unsigned int lanes, unsigned int rank, unsigned int groups)
        : thread_group(false, lanes), rank_(rank), groups_(groups)
    {
    }
    SSAN_CG_ void sync() const
    {
        __syncwarp(mask_);
    }
    SSAN_CG_ unsigned int thread_rank() const
    {
        return (unsigned int)__popc(mask_ & details::lanes_before());
    }
    SSAN_CG_ unsigned int size() const
    {
        return (unsigned int)__popc(mask_);
    }
    SSAN_CG_ unsigned int num_threads() const
    {
        return size();
    }
    SSAN_CG_ unsigned int meta_group_rank() const
    {
        return rank_;
    }
    SSAN_CG_ unsigned int meta_group_size() const
    {
        return groups_;
    }
    template <class T> SSAN_CG_ T shfl(const T &value, unsigned int rank) const
    {
        return details::take(mask_, value, details::lane_of_rank(mask_, rank % size()));
    }
    template <class T> SSAN_CG_ T shfl_up(const T &value, unsigned int delta) const
    {
        const unsigned int rank = thread_rank();
        return shfl(value, rank >= delta ? rank - delta : rank);
    }
    template <class T> SSAN_CG_ T shfl_down(const T &value, unsigned int delta) const
    {
        const unsigned int rank = thread_rank();
        return shfl(value, rank + delta < size() ? rank + delta : rank);
    }
    SSAN_CG_ int any(int predicate) const
    {
        return __any_sync(mask_, predicate);
    }
    SSAN_CG_ int all(int predicate) const
    {
        return __all_sync(mask_, predicate);
    }
    SSAN_CG_ unsigned int ballot(int predicate) const
    {
        return details::ranks_of(mask_, __ballot_sync(mask_, predicate));
    }
    template <class T> SSAN_CG_ unsigned int match_any(T value) const
    {
        return details::ranks_of(mask_, __match_any_sync(mask_, value));
    }
    template <class T> SSAN_CG_ unsigned int match_all(T value, int &predicate) const
    {
        return details::ranks_of(mask_, __match_all_sync(mask_, value, &predicate));
    }

  private:
    unsigned int rank_, groups_; /* among the groups that were made together */
};

SSAN_CG_ coalesced_group coalesced_threads()
{
    return coalesced_group();
}

template <unsigned int Size, class Parent = void> class thread_block_tile;

/* `Size` neighbouring threads: a power of two up to 32. Also what a tile of any parent is converted
 * to. */
template <unsigned int Size> class thread_block_tile<Size, void> : public thread_group {
    static_assert(Size && Size <= 32 && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads");

  public:
    SSAN_CG_ void sync() const
    {
        __syncwarp(mask_);
    }
    SSAN_CG_ static unsigned int thread_rank()
    {
        return details::lane() & (Size - 1);
    }
    SSAN_CG_ static constexpr unsigned int size()
    {
        return Size;
    }
    SSAN_CG_ static constexpr unsigned int num_threads()
    {
        return Size;
    }
    SSAN_CG_ unsigned int meta_group_rank() const
    {
        return rank_;
    }
    SSAN_CG_ unsigned int meta_group_size() const
    {
        return groups_;
    }
    template <class T> SSAN_CG_ T shfl(const T &value, int rank) const
    {
        return details::take(mask_, value, (int)(first_lane() | ((unsigned int)rank & (Size - 1))));
    }
    template <class T> SSAN_CG_ T shfl_up(const T &value, unsigned int delta) const
    {
        const unsigned int rank = thread_rank();
        return shfl(value, (int)(rank >= delta ? rank - delta : rank));
    }
    template <class T> SSAN_CG_ T shfl_down(const T &value, unsigned int delta) const
    {
        const unsigned int rank = thread_rank();
        return shfl(value, (int)(rank + delta < Size ? rank + delta : rank));
    }
    template <class T> SSAN_CG_ T shfl_xor(const T &value, unsigned int lane_mask) const
    {
        const unsigned int rank = thread_rank() ^ lane_mask;
        return shfl(value, (int)(rank < Size ? rank : thread_rank()));
    }
    SSAN_CG_ int any(int predicate) const
    {
        return __any_sync(mask_, predicate);
    }
    SSAN_CG_ int all(int predicate) const
    {
        return __all_sync(mask_, predicate);
    }
    SSAN_CG_ unsigned int ballot(int predicate) const
    {
        return __ballot_sync(mask_, predicate) >> first_lane() & all_bits();
    }
    template <class T> SSAN_CG_ unsigned int match_any(T value) const
    {
        return __match_any_sync(mask_, value) >> first_lane() & all_bits();
    }
    template <class T> SSAN_CG_ unsigned int match_all(T value, int &predicate) const
    {
        return __match_all_sync(mask_, value, &predicate) >> first_lane() & all_bits();
    }

  protected:
    SSAN_CG_ thread_block_tile(unsigned int parent_lanes, unsigned int rank, unsigned int groups)
        : thread_group(false, all_bits() << first_lane() & parent_lanes), rank_(rank),
          groups_(groups)
    {
    }
    SSAN_CG_ static constexpr unsigned int all_bits()
    {
        return Size == 32 ? 0xffffffffu : (1u << Size % 32) - 1;
    }
    SSAN_CG_ static unsigned int first_lane()
    {
        return details::lane() & ~(Size - 1);
    }
    unsigned int rank_, groups_; /* among the tiles of the parent */
};

/* Of the block. The last tile may have fewer threads than its size. */
template <unsigned int Size>
class thread_block_tile<Size, thread_block> : public thread_block_tile<Size, void> {
  public:
    SSAN_CG_ thread_block_tile()
        : thread_block_tile<Size, void>(lanes_there(), details::rank_in_block() / Size,
                                        (details::threads_of_block() + Size - 1) / Size)
    {
    }

  private:
    SSAN_CG_ static unsigned int lanes_there()
    {
        const unsigned int left = details::threads_of_block() - (details::rank_in_block() & ~31u);
        return left >= 32 ? 0xffffffffu : (1u << left) - 1;
    }
};

/* Of a larger tile. */
template <unsigned int Size, unsigned int Whole, class Parent>
class thread_block_tile<Size, thread_block_tile<Whole, Parent>>
    : public thread_block_tile<Size, void> {
    static_assert(Size <= Whole, "a tile is no larger than what it is part of");

  public:
    SSAN_CG_ explicit thread_block_tile(unsigned int parent_lanes)
        : thread_block_tile<Size, void>(parent_lanes, (details::lane() & (Whole - 1)) / Size,
                                        Whole / Size)
    {
    }
};

template <unsigned int Size>
SSAN_CG_ thread_block_tile<Size, thread_block> tiled_partition(const thread_block &)
{
    return thread_block_tile<Size, thread_block>();
}
template <unsigned int Size, unsigned int Whole, class Parent>
SSAN_CG_ thread_block_tile<Size, thread_block_tile<Whole, Parent>>
tiled_partition(const thread_block_tile<Whole, Parent> &tile)
{
    return thread_block_tile<Size, thread_block_tile<Whole, Parent>>(tile.lanes_());
}

/* Groups of `size` ranks each: a power of two up to 32. */
SSAN_CG_ coalesced_group tiled_partition(const coalesced_group &group, unsigned int size)
{
    const unsigned int begin = group.thread_rank() & ~(size - 1);
    unsigned int lanes = 0;
    for (unsigned int rank = begin; rank < begin + size && rank < group.size(); rank++) {
        lanes |= 1u << details::lane_of_rank(group.lanes_(), rank);
    }
    return coalesced_group(lanes, begin / size, (group.size() + size - 1) / size);
}
SSAN_CG_ thread_group tiled_partition(const thread_group &group, unsigned int size)
{
    const unsigned int rank = details::rank_in_block() & 31u;
    unsigned int lanes = group.lanes_();
    if (group.is_block_group_()) {
        const unsigned int left = details::threads_of_block() - (details::rank_in_block() - rank);
        lanes = left >= 32 ? 0xffffffffu : (1u << left) - 1;
    }
    return tiled_partition(coalesced_group(lanes, 0, 1), size);
}

/* The threads of a group that give the same label, or say the same. */
template <class Group, class Label>
SSAN_CG_ coalesced_group labeled_partition(const Group &group, Label label)
{
    const unsigned int same = __match_any_sync(group.lanes_(), label);
    unsigned int rank = 0, groups = 0;
    for (unsigned int left = group.lanes_(); left; groups++) {
        const int first = __ffs((int)left) - 1;
        rank = same >> first & 1 ? groups : rank;
        left &= ~__shfl_sync(group.lanes_(), same, first);
    }
    return coalesced_group(same, rank, groups);
}
template <class Group> SSAN_CG_ coalesced_group binary_partition(const Group &group, bool predicate)
{
    const unsigned int yes = __ballot_sync(group.lanes_(), predicate);
    return coalesced_group(predicate ? yes : group.lanes_() & ~yes, predicate, 2);
}

} // namespace cooperative_groups

#endif
