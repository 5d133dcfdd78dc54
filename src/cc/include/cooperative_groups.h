/* Cooperative groups: the block, tiles of a warp, the lanes that are together, and the grid without
 * its barrier.
 *
 * Written from the CUDA C++ Programming Guide, "Cooperative Groups". A tile's lanes are a mask of
 * its warp, so that every collective is one warp instruction with that mask. grid_group has no
 * sync(): a grid barrier needs all blocks at once, which the virtual device does not promise; using
 * it is a compile error. Device code only. */
#ifndef SSAN_CC_COOPERATIVE_GROUPS_H
#define SSAN_CC_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

#if defined(__CUDA__) && defined(__clang__)
#pragma GCC system_header

namespace cooperative_groups {

#define SSAN_CG_ __device__ inline __attribute__((always_inline, nodebug))

namespace details {
SSAN_CG_ unsigned int rank_in_block()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
SSAN_CG_ unsigned int lane()
{
    unsigned int lane;
    __asm__("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
} // namespace details

class thread_block {
  public:
    SSAN_CG_ void sync() const
    {
        __syncthreads();
    }
    SSAN_CG_ unsigned int thread_rank() const
    {
        return details::rank_in_block();
    }
    SSAN_CG_ unsigned int size() const
    {
        return blockDim.x * blockDim.y * blockDim.z;
    }
    SSAN_CG_ unsigned int num_threads() const
    {
        return size();
    }
    SSAN_CG_ dim3 group_index() const
    {
        return dim3(blockIdx.x, blockIdx.y, blockIdx.z);
    }
    SSAN_CG_ dim3 thread_index() const
    {
        return dim3(threadIdx.x, threadIdx.y, threadIdx.z);
    }
    SSAN_CG_ dim3 group_dim() const
    {
        return dim3(blockDim.x, blockDim.y, blockDim.z);
    }
    SSAN_CG_ dim3 dim_threads() const
    {
        return group_dim();
    }
};

SSAN_CG_ thread_block this_thread_block()
{
    return thread_block();
}

class grid_group {
  public:
    SSAN_CG_ bool is_valid() const
    {
        return false; /* no barrier over the grid */
    }
    SSAN_CG_ unsigned long long block_rank() const
    {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    SSAN_CG_ unsigned long long num_blocks() const
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    SSAN_CG_ unsigned long long thread_rank() const
    {
        return block_rank() * (blockDim.x * blockDim.y * blockDim.z) + details::rank_in_block();
    }
    SSAN_CG_ unsigned long long size() const
    {
        return num_blocks() * (blockDim.x * blockDim.y * blockDim.z);
    }
    SSAN_CG_ unsigned long long num_threads() const
    {
        return size();
    }
    SSAN_CG_ dim3 group_dim() const
    {
        return dim3(gridDim.x, gridDim.y, gridDim.z);
    }
    SSAN_CG_ dim3 dim_blocks() const
    {
        return group_dim();
    }
    SSAN_CG_ dim3 block_index() const
    {
        return dim3(blockIdx.x, blockIdx.y, blockIdx.z);
    }
};

SSAN_CG_ grid_group this_grid()
{
    return grid_group();
}

namespace details {

/* Lanes of one warp: `mask` says which, ranks count them from the lowest. */
class warp_lanes {
  public:
    SSAN_CG_ void sync() const
    {
        __syncwarp(mask_);
    }
    SSAN_CG_ int any(int predicate) const
    {
        return __any_sync(mask_, predicate);
    }
    SSAN_CG_ int all(int predicate) const
    {
        return __all_sync(mask_, predicate);
    }
    SSAN_CG_ unsigned int lanes_() const
    {
        return mask_;
    }

  protected:
    SSAN_CG_ explicit warp_lanes(unsigned int mask) : mask_(mask)
    {
    }
    unsigned int mask_;
};

} // namespace details

/* `Size` neighbouring threads of a block: a power of two up to 32. `Parent` is only a name here. */
template <unsigned int Size, class Parent = void>
class thread_block_tile : public details::warp_lanes {
    static_assert(Size && Size <= 32 && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads");

  public:
    SSAN_CG_ thread_block_tile() : warp_lanes(tile_mask())
    {
    }
    SSAN_CG_ unsigned int thread_rank() const
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
        return details::rank_in_block() / Size;
    }
    SSAN_CG_ unsigned int meta_group_size() const
    {
        return (blockDim.x * blockDim.y * blockDim.z + Size - 1) / Size;
    }
    template <class T> SSAN_CG_ T shfl(T value, int rank) const
    {
        return __shfl_sync(mask_, value, rank, Size);
    }
    template <class T> SSAN_CG_ T shfl_up(T value, unsigned int delta) const
    {
        return __shfl_up_sync(mask_, value, delta, Size);
    }
    template <class T> SSAN_CG_ T shfl_down(T value, unsigned int delta) const
    {
        return __shfl_down_sync(mask_, value, delta, Size);
    }
    template <class T> SSAN_CG_ T shfl_xor(T value, int lane_mask) const
    {
        return __shfl_xor_sync(mask_, value, lane_mask, Size);
    }
    SSAN_CG_ unsigned int ballot(int predicate) const
    {
        return __ballot_sync(mask_, predicate) >> first_lane() & all_bits();
    }
    template <class T> SSAN_CG_ unsigned int match_any(T value) const
    {
        return __match_any_sync(mask_, value) >> first_lane() & all_bits();
    }

  private:
    SSAN_CG_ static constexpr unsigned int all_bits()
    {
        return Size == 32 ? 0xffffffffu : (1u << Size % 32) - 1;
    }
    SSAN_CG_ static unsigned int first_lane()
    {
        return details::lane() & ~(Size - 1);
    }
    /* The last tile of a block may have fewer threads than its size. */
    SSAN_CG_ static unsigned int tile_mask()
    {
        unsigned int left =
            blockDim.x * blockDim.y * blockDim.z - (details::rank_in_block() & ~31u);
        unsigned int there = left >= 32 ? 0xffffffffu : (1u << left) - 1;
        return all_bits() << first_lane() & there;
    }
};

template <unsigned int Size, class Parent>
SSAN_CG_ thread_block_tile<Size, Parent> tiled_partition(const Parent &)
{
    return thread_block_tile<Size, Parent>();
}

/* The threads of a warp that are at this line together. */
class coalesced_group : public details::warp_lanes {
  public:
    SSAN_CG_ coalesced_group() : warp_lanes(__activemask())
    {
    }
    SSAN_CG_ unsigned int thread_rank() const
    {
        return (unsigned int)__popc(mask_ & ((1u << details::lane()) - 1));
    }
    SSAN_CG_ unsigned int size() const
    {
        return (unsigned int)__popc(mask_);
    }
    SSAN_CG_ unsigned int num_threads() const
    {
        return size();
    }
    template <class T> SSAN_CG_ T shfl(T value, unsigned int rank) const
    {
        return __shfl_sync(mask_, value, lane_of(rank % size()));
    }
    SSAN_CG_ unsigned int ballot(int predicate) const
    {
        unsigned int lanes = __ballot_sync(mask_, predicate), ranks = 0;
        for (unsigned int rank = 0, rest = mask_; rest; rank++, rest &= rest - 1) {
            ranks |= (lanes >> (__ffs((int)rest) - 1) & 1) << rank;
        }
        return ranks;
    }

  private:
    SSAN_CG_ int lane_of(unsigned int rank) const
    {
        unsigned int rest = mask_;
        for (; rank; rank--) {
            rest &= rest - 1;
        }
        return __ffs((int)rest) - 1;
    }
};

SSAN_CG_ coalesced_group coalesced_threads()
{
    return coalesced_group();
}

/* The same for every group. */
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
        value = operation(value, tile.shfl_xor(value, (int)distance));
    }
    return value;
}

/* Threads get the value over themselves and all of lower rank, or over those alone. */
template <unsigned int Size, class Parent, class T, class Operation>
SSAN_CG_ T inclusive_scan(const thread_block_tile<Size, Parent> &tile, T value, Operation operation)
{
    for (unsigned int distance = 1; distance < Size; distance *= 2) {
        T other = tile.shfl_up(value, distance);
        if (tile.thread_rank() >= distance) {
            value = operation(other, value);
        }
    }
    return value;
}
template <unsigned int Size, class Parent, class T>
SSAN_CG_ T exclusive_scan(const thread_block_tile<Size, Parent> &tile, T value)
{
    T before = tile.shfl_up(inclusive_scan(tile, value, plus<T>()), 1);
    return tile.thread_rank() == 0 ? T() : before;
}

#undef SSAN_CG_

} // namespace cooperative_groups

#endif
#endif
