/* Shuffles and matches of every type, in whole warps and tiles, and the forms without a mask. */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

#define LANES 32

__device__ int mismatches;

template <class T> __device__ T value_of(unsigned int lane)
{
    T value = (T)(lane * 3);
    return sizeof(T) == 8 ? value * (T)1000000007 : value;
}

template <class T> __device__ void expect(T got, T wanted)
{
    atomicAdd(&mismatches, got == wanted ? 0 : 1);
}

template <class T> __global__ void exchange()
{
    const unsigned int lane = threadIdx.x, all = 0xffffffffu;
    const T mine = value_of<T>(lane);
    expect(__shfl_sync(all, mine, 5), value_of<T>(5));
    expect(__shfl_sync(all, mine, 3, 8), value_of<T>((lane & ~7u) + 3));
    expect(__shfl_up_sync(all, mine, 2), value_of<T>(lane < 2 ? lane : lane - 2));
    expect(__shfl_down_sync(all, mine, 1), value_of<T>(lane == 31 ? lane : lane + 1));
    expect(__shfl_down_sync(all, mine, 4, 16), value_of<T>(lane % 16 > 11 ? lane : lane + 4));
    expect(__shfl_xor_sync(all, mine, 9), value_of<T>(lane ^ 9));
    expect(__shfl(mine, 7), value_of<T>(7));
    expect(__shfl_up(mine, 1u), value_of<T>(lane ? lane - 1 : 0));
    expect(__shfl_down(mine, 3u), value_of<T>(lane > 28 ? lane : lane + 3));
    expect(__shfl_xor(mine, 16), value_of<T>(lane ^ 16));

    int same = -1;
    expect(__match_any_sync(all, value_of<T>(lane % 4)), 0x11111111u << lane % 4);
    expect(__match_all_sync(all, value_of<T>(6), &same), all);
    expect(same, 1);
    expect(__match_all_sync(all, mine, &same), 0u);
    expect(same, 0);
}

__global__ void vote()
{
    const unsigned int lane = threadIdx.x, tile = 0xfu << (lane & ~3u);
    expect(__ballot_sync(tile, lane % 2), 0xaaaaaaaau & tile);
    expect(__any_sync(tile, lane == 9), (int)(lane / 4 == 2));
    expect(__all_sync(tile, lane > 7), (int)(lane > 7));
    if (lane < 6) {
        expect(__ballot(lane != 1), 0x3du);
        expect(__all(lane < 6), 1);
        expect(__any(lane == 6), 0);
    }
}

int main()
{
    int bad = -1;
    exchange<int><<<1, LANES>>>();
    exchange<unsigned int><<<1, LANES>>>();
    exchange<long><<<1, LANES>>>();
    exchange<unsigned long><<<1, LANES>>>();
    exchange<long long><<<1, LANES>>>();
    exchange<unsigned long long><<<1, LANES>>>();
    exchange<float><<<1, LANES>>>();
    exchange<double><<<1, LANES>>>();
    vote<<<1, LANES>>>();
    if (cudaGetLastError() || cudaMemcpyFromSymbol(&bad, mismatches, sizeof bad)) {
        return 1;
    }
    std::printf("mismatches=%d\n", bad);
    return bad ? 2 : 0;
}
