/* Groups of threads that hold no template: any group, the block, the grid, lanes of a warp.
 *
 * Written from the CUDA C++ Programming Guide, "Cooperative Groups". A group within a warp is a
 * mask of its lanes, and ranks count them from the lowest, so that every collective is one warp
 * instruction with that mask. Included by cooperative_groups.h alone. */
#ifndef SSAN_CC_GROUPS_BASE_H
#define SSAN_CC_GROUPS_BASE_H
#pragma GCC system_header

extern "C" {
__device__ void __ssan_grid_sync(void);
__device__ int __ssan_grid_is_valid(void);
}

namespace cooperative_groups {

#define SSAN_CG_ __device__ inline __attribute__((always_inline, nodebug))

namespace details {
SSAN_CG_ unsigned int rank_in_block()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
SSAN_CG_ unsigned int threads_of_block()
{
    return blockDim.x * blockDim.y * blockDim.z;
}
SSAN_CG_ unsigned int lane()
{
    unsigned int lane;
    __asm__("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
SSAN_CG_ unsigned int lanes_before()
{
    return (1u << lane()) - 1;
}
/* The lane that has this rank among `lanes`. */
SSAN_CG_ int lane_of_rank(unsigned int lanes, unsigned int rank)
{
    for (; rank; rank--) {
        lanes &= lanes - 1;
    }
    return __ffs((int)lanes) - 1;
}
/* Bit by rank of what is bit by lane. */
SSAN_CG_ unsigned int ranks_of(unsigned int lanes, unsigned int set)
{
    unsigned int ranks = 0;
    for (unsigned int rank = 0; lanes; rank++, lanes &= lanes - 1) {
        ranks |= (set >> (__ffs((int)lanes) - 1) & 1) << rank;
    }
    return ranks;
}
/* One lane's value of any type for each lane, by words; `from` is the lane to read. */
template <class T> SSAN_CG_ T take(unsigned int lanes, const T &value, int from)
{
    const unsigned int words = (sizeof(T) + 3) / 4;
    unsigned int given[words], taken[words];
    given[words - 1] = 0;
    __builtin_memcpy(given, &value, sizeof(T));
    for (unsigned int i = 0; i < words; i++) {
        taken[i] = (unsigned int)__shfl_sync(lanes, (int)given[i], from);
    }
    T result = value;
    __builtin_memcpy(&result, taken, sizeof(T));
    return result;
}
} // namespace details

/* Any group. What a thread_block, tile or coalesced_group is converted to. */
class thread_group {
  public:
    SSAN_CG_ void sync() const
    {
        if (is_block_) {
            __syncthreads();
        } else {
            __syncwarp(mask_);
        }
    }
    SSAN_CG_ unsigned int thread_rank() const
    {
        return is_block_ ? details::rank_in_block()
                         : (unsigned int)__popc(mask_ & details::lanes_before());
    }
    SSAN_CG_ unsigned int size() const
    {
        return is_block_ ? details::threads_of_block() : (unsigned int)__popc(mask_);
    }
    SSAN_CG_ unsigned int num_threads() const
    {
        return size();
    }
    SSAN_CG_ bool is_valid() const
    {
        return true;
    }
    SSAN_CG_ static thread_group of_lanes_(unsigned int lanes)
    {
        return thread_group(false, lanes);
    }
    SSAN_CG_ bool is_block_group_() const
    {
        return is_block_;
    }
    SSAN_CG_ unsigned int lanes_() const
    {
        return mask_;
    }

  protected:
    SSAN_CG_ thread_group(bool is_block, unsigned int lanes) : is_block_(is_block), mask_(lanes)
    {
    }
    bool is_block_;
    unsigned int mask_; /* of a group within a warp */
};

class thread_block : public thread_group {
  public:
    SSAN_CG_ thread_block() : thread_group(true, 0)
    {
    }
    SSAN_CG_ static void sync()
    {
        __syncthreads();
    }
    SSAN_CG_ static unsigned int thread_rank()
    {
        return details::rank_in_block();
    }
    SSAN_CG_ static unsigned int size()
    {
        return details::threads_of_block();
    }
    SSAN_CG_ static unsigned int num_threads()
    {
        return size();
    }
    SSAN_CG_ static dim3 group_index()
    {
        return dim3(blockIdx.x, blockIdx.y, blockIdx.z);
    }
    SSAN_CG_ static dim3 thread_index()
    {
        return dim3(threadIdx.x, threadIdx.y, threadIdx.z);
    }
    SSAN_CG_ static dim3 group_dim()
    {
        return dim3(blockDim.x, blockDim.y, blockDim.z);
    }
    SSAN_CG_ static dim3 dim_threads()
    {
        return group_dim();
    }
};

SSAN_CG_ thread_block this_thread_block()
{
    return thread_block();
}

/* sync() needs cudaLaunchCooperativeKernel: in other launches it is a fault, as on a GPU. */
class grid_group {
  public:
    SSAN_CG_ void sync() const
    {
        __ssan_grid_sync();
    }
    SSAN_CG_ bool is_valid() const
    {
        return __ssan_grid_is_valid() != 0;
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
        return block_rank() * details::threads_of_block() + details::rank_in_block();
    }
    SSAN_CG_ unsigned long long size() const
    {
        return num_blocks() * details::threads_of_block();
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

} // namespace cooperative_groups

#endif
