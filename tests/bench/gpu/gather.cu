/* out[i] = table[index[i]], 256 M random indices into 1 GiB: every lane of a warp touches a sector of its own. */
#include "timing.cuh"

__global__ void make_index(unsigned *index, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, h = i;
    h = (h ^ (h >> 16)) * 0x7feb352du;
    h = (h ^ (h >> 15)) * 0x846ca68bu;
    index[i] = (h ^ (h >> 16)) & (n - 1);
}

__global__ void gather(const float *table, const unsigned *index, float *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = table[index[i]];
    }
}

int main()
{
    const unsigned n = 1u << 28;
    float *table, *out, first;
    unsigned *index;
    MUST(cudaMalloc(&table, n * sizeof(float)));
    MUST(cudaMalloc(&out, n * sizeof(float)));
    MUST(cudaMalloc(&index, n * sizeof(unsigned)));
    MUST(cudaMemset(table, 0, n * sizeof(float)));
    make_index<<<n / 256, 256>>>(index, n);
    measure("gather", 2, 5, [=] { gather<<<n / 256, 256>>>(table, index, out, n); });
    MUST(cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost));
    return first == 0.0f ? 0 : 2;
}
