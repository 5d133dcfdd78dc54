/* Every atomic function and warp function once; with a device, checks the sums. */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cassert>
#include <cstdio>

namespace cg = cooperative_groups;

struct results {
    int i;
    unsigned int u;
    unsigned long long ull;
    float f;
    double d;
    int minimum, maximum;
    unsigned int wrapped, bits;
    int votes, reduced, scanned, coalesced;
};

__device__ int device_counter = 5;
__constant__ int coefficients[4];
__device__ int device_word;

/* CUDA has no function of this name: programs bring their own. */
__device__ static unsigned long long __globaltimer()
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__global__ void count(results *r)
{
    unsigned int lane = threadIdx.x;
    atomicAdd(&r->i, 1);
    atomicAdd_block(&r->u, 2u);
    atomicAdd_system(&r->ull, 3ull);
    atomicAdd(&r->f, 0.5f);
    atomicAdd(&r->d, 0.25);
    atomicMin(&r->minimum, (int)lane);
    atomicMax(&r->maximum, (int)lane);
    atomicInc(&r->wrapped, 6u);
    atomicOr(&r->bits, 1u << lane);
    atomicSub(&r->i, 0);
    int old, seen = r->votes;
    do {
        old = seen;
        seen = atomicCAS(&r->votes, old, old + 1);
    } while (seen != old);

    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int sum = cg::reduce(tile, (int)tile.thread_rank(), cg::plus<int>());
    int scan = cg::inclusive_scan(tile, 1, cg::plus<int>());
    block.sync();
    if (lane == 7) {
        r->reduced = sum;
        r->scanned = scan;
    }
    if (lane % 2) {
        cg::coalesced_group odd = cg::coalesced_threads();
        if (odd.thread_rank() == 0) {
            r->coalesced = (int)odd.size();
        }
    }
    unsigned int all = __ballot_sync(0xffffffffu, 1);
    assert(all == 0xffffffffu && __all_sync(all, 1) &&
           __shfl_xor_sync(all, (int)lane, 1) == (int)(lane ^ 1));
    if (lane == 0) {
        device_counter += coefficients[1];
        device_word += (int)__reduce_add_sync(1u, 40u) + 2;
        unsigned long long before = __globaltimer();
        __nanosleep(10);
        __threadfence_system();
        assert(clock64() >= 0 && __globaltimer() >= before);
        __stcg(&r->bits, __ldcg(&r->bits) & __ldg(&r->bits));
    }
}

int main()
{
    results *device, host = {};
    int table[4] = {1, 37, 3, 4}, counter = 0;
    host.minimum = 100;
    if (cudaMalloc(&device, sizeof host) ||
        cudaMemcpy(device, &host, sizeof host, cudaMemcpyHostToDevice) ||
        cudaMemcpyToSymbol(coefficients, table, sizeof table)) {
        return 1;
    }
    count<<<1, 32>>>(device);
    if (cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost) ||
        cudaMemcpyFromSymbol(&counter, device_counter, sizeof counter)) {
        return 1;
    }
    int bad = (host.i != 32) + (host.u != 64) + (host.ull != 96) + (host.f != 16) + (host.d != 8) +
              (host.minimum != 0) + (host.maximum != 31) + (host.wrapped != 32 % 7) +
              (host.bits != 0xffffffffu) + (host.votes != 32) + (host.reduced != 28) +
              (host.scanned != 8) + (host.coalesced != 16) + (counter != 42);
    std::printf("elements=%d mismatches=%d\n", 14, bad);
    return bad ? 2 : 0;
}
