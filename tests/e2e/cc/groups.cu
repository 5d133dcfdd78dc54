/* Cooperative groups: what is converted to what, parts of parts, lanes that are together, and the
 * barrier of the grid. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>

#include <cstdio>

namespace cg = cooperative_groups;

#define THREADS 72 /* the last warp is not full */

struct wide {
    int number;
    double half;
    char letter;
};

__device__ int mismatches;

template <class T> __device__ void expect(T got, T wanted)
{
    atomicAdd(&mismatches, got == wanted ? 0 : 1);
}

/* Converted from any tile of 8. */
__device__ int sum_of_eight(cg::thread_block_tile<8> tile, int value)
{
    for (unsigned int distance = tile.size() / 2; distance; distance /= 2) {
        value += tile.shfl_down(value, distance);
    }
    return tile.shfl(value, 0);
}

__device__ unsigned int place_in(const cg::thread_group &group)
{
    group.sync();
    return group.size() * 1000 + group.thread_rank();
}

__global__ void tiles()
{
    const cg::thread_block block = cg::this_thread_block();
    const unsigned int rank = block.thread_rank(), first = rank & ~7u;
    const auto eight = cg::tiled_partition<8>(block);
    const auto two = cg::tiled_partition<2>(eight);
    expect(sum_of_eight(eight, (int)rank), (int)(8 * first + 28));
    expect(place_in(block), THREADS * 1000 + rank);
    expect(place_in(eight), 8000 + rank % 8);
    expect(two.meta_group_rank(), rank % 8 / 2);
    expect(two.meta_group_size(), 4u);
    expect(eight.meta_group_rank(), rank / 8);

    cg::thread_group four = cg::tiled_partition(block, 4);
    expect(place_in(four), 4000 + rank % 4);
    expect(place_in(cg::tiled_partition(four, 2)), 2000 + rank % 2);

    const wide given = {(int)rank, rank * 0.5, (char)rank};
    const wide taken = eight.shfl(given, 3);
    expect(taken.number + taken.half * 2 + taken.letter, 3.0 * (first + 3));
    expect(eight.ballot(rank % 2), 0xaau);
    expect(eight.match_any(rank / 4), rank % 8 < 4 ? 0x0fu : 0xf0u);
    expect(cg::exclusive_scan(eight, 2), (int)(rank % 8 * 2));
    expect(cg::inclusive_scan(eight, (int)rank, cg::greater<int>()), (int)rank);
}

__global__ void lanes()
{
    const cg::thread_block block = cg::this_thread_block();
    const unsigned int rank = block.thread_rank(), lane = rank % 32, in_warp = rank < 64 ? 32 : 8;
    const auto warp = cg::tiled_partition<32>(block);
    if (lane % 3 == 0) {
        const cg::coalesced_group third = cg::coalesced_threads();
        const unsigned int count = (in_warp + 2) / 3;
        expect(third.size(), count);
        expect(third.shfl_down((int)lane, 1), (int)(lane / 3 + 1 < count ? lane + 3 : lane));
        expect(third.shfl_up((int)lane, 1), (int)(lane ? lane - 3 : 0));
        expect(cg::reduce(third, (int)lane, cg::plus<int>()), (int)(3 * count * (count - 1) / 2));
        expect(cg::inclusive_scan(third, 1), (int)(lane / 3 + 1));
        expect(place_in(cg::tiled_partition(third, 2)) % 1000, lane / 3 % 2);
    }
    const auto label = cg::labeled_partition(warp, lane % 5);
    expect(label.size(), (in_warp - lane % 5 + 4) / 5);
    expect(label.thread_rank(), lane / 5);
    expect(label.meta_group_rank(), lane % 5);
    expect(label.meta_group_size(), 5u);
    expect(cg::binary_partition(warp, lane < 6).size(), lane < 6 ? 6 : in_warp - 6);
    expect(cg::invoke_one_broadcast(label, [=] { return (int)lane; }), (int)(lane % 5));
}

__global__ void staged(const int *given)
{
    __shared__ int tile[THREADS];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, given, sizeof tile);
    cg::wait(block);
    expect(tile[THREADS - 1 - block.thread_rank()], (int)(THREADS - 1 - block.thread_rank()));
}

/* Each thread reads what a thread of another block wrote before the barrier. */
__global__ void over_the_grid(int *words, int rounds)
{
    const cg::grid_group grid = cg::this_grid();
    const int count = (int)grid.size(), i = (int)grid.thread_rank(),
              other = (i + count / 2) % count;
    expect(grid.is_valid(), true);
    for (int round = 0; round < rounds; round++) {
        words[i] = i + round;
        grid.sync();
        expect(words[other], other + round);
        cg::sync(grid);
    }
}

/* Of more PTX registers than a block of 1024 threads could have on a machine. */
__global__ void of_many_registers(float *out, int rounds)
{
    float kept[96];
    for (int i = 0; i < 96; i++) {
        kept[i] = out[i];
    }
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 96; i++) {
            kept[i] = kept[i] * kept[(i + 1) % 96] + kept[(i + 7) % 96];
        }
    }
    for (int i = 0; i < 96; i++) {
        out[i] = kept[i];
    }
}

__global__ void without_promise()
{
    const cg::grid_group grid = cg::this_grid();
    expect(grid.is_valid(), false);
}

int main()
{
    int bad = -1, *words, rounds = 3, processors = 0, can = 0, each = 0, numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
    }
    if (cudaMalloc(&words, 1 << 20) ||
        cudaMemcpy(words, numbers, sizeof numbers, cudaMemcpyHostToDevice)) {
        return 1;
    }
    tiles<<<2, THREADS>>>();
    lanes<<<2, THREADS>>>();
    staged<<<2, THREADS>>>(words);
    without_promise<<<2, THREADS>>>();
    void *arguments[] = {&words, &rounds};
    if (cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0) || !can ||
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0) ||
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, over_the_grid, THREADS, 0) ||
        cudaLaunchCooperativeKernel(over_the_grid, processors * each - 1, THREADS, arguments)) {
        return 1;
    }
    int largest = 0, blocks = 0;
    if (cudaOccupancyMaxPotentialBlockSize(&blocks, &largest, of_many_registers) || blocks == 0 ||
        largest == 0) {
        return 1;
    }
    cudaLaunchAttribute together;
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = processors * each;
    config.blockDim = THREADS;
    config.attrs = &together;
    config.numAttrs = 1;
    if (cudaLaunchKernelExC(&config, (const void *)over_the_grid, arguments)) {
        return 1;
    }
    const cudaError_t refused =
        cudaLaunchCooperativeKernel(over_the_grid, processors * each + 1, THREADS, arguments);
    if (refused != cudaErrorCooperativeLaunchTooLarge ||
        cudaMemcpyFromSymbol(&bad, mismatches, sizeof bad)) {
        return 1;
    }
    std::printf("mismatches=%d\n", bad);
    return bad ? 2 : 0;
}
