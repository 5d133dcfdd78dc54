/* min and max of every type and mix of types, on both sides: none becomes another type on the way.
 */
#include <cuda_runtime.h>

#include <climits>
#include <cstdio>

struct values {
    int i;
    unsigned int u;
    long l;
    unsigned long ul;
    long long ll;
    unsigned long long ull;
    float f;
    double d;
};

template <class T, class U> __host__ __device__ int differs(T got, U wanted)
{
    return sizeof(T) != sizeof(U) || got != wanted;
}

__host__ __device__ static int check(const values &v)
{
    int bad = differs(min(v.i, 3), -2) + differs(max(v.i, -7), -2);
    bad += differs(min(v.u, 1u), 1u) + differs(max(v.u, 1u), 4000000000u);
    bad += differs(max(v.u, v.i), UINT_MAX - 1) + differs(min(v.i, v.u), 4000000000u);
    bad += differs(min(v.l, 0L), -(1L << 40)) + differs(max(v.l, 5L), 5L);
    bad += differs(max(v.ul, 7ul), 1ul << 63) + differs(min(v.l, v.ul), 1ul << 63);
    bad += differs(min(v.ll, 0LL), -(1LL << 41)) + differs(max(v.ll, 1LL), 1LL);
    bad += differs(max(v.ull, 1ull), 3ull << 62) + differs(min(v.ull, v.ll), 3ull << 62);
    bad += differs(min(v.f, 0.75f), 0.5f) + differs(max(v.f, 0.25f), 0.5f);
    bad += differs(min(v.d, 0.5), 0.25) + differs(max(v.d, 0.125), 0.25);
    bad += differs(max(v.f, v.d), 0.5) + differs(min(v.d, v.f), 0.25);
    return bad;
}

__global__ void kernel(const values *given, int *bad)
{
    *bad = check(*given);
}

int main()
{
    const values host = {-2,           4000000000u, -(1L << 40), 1ul << 63,
                         -(1LL << 41), 3ull << 62,  0.5f,        0.25};
    values *given;
    int *bad, there = -1;
    if (cudaMalloc(&given, sizeof host) || cudaMalloc(&bad, sizeof there) ||
        cudaMemcpy(given, &host, sizeof host, cudaMemcpyHostToDevice)) {
        return 1;
    }
    kernel<<<1, 1>>>(given, bad);
    if (cudaMemcpy(&there, bad, sizeof there, cudaMemcpyDeviceToHost)) {
        return 1;
    }
    std::printf("mismatches=%d\n", there + check(host));
    return there + check(host) ? 2 : 0;
}
