/* C = A B, 4096 x 4096 floats, tiles of 32 x 32 in shared memory: bound by arithmetic and shared memory. */
#include "timing.cuh"

static const int N = 4096, TILE = 32;

__global__ void matmul(const float *a, const float *b, float *c)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int step = 0; step < N; step += TILE) {
        left[y][x] = a[row * N + step + x];
        right[y][x] = b[(step + y) * N + column];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            sum += left[y][k] * right[k][x];
        }
        __syncthreads();
    }
    c[row * N + column] = sum;
}

__global__ void fill(float *p, float value)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main()
{
    float *a, *b, *c, last;
    const size_t bytes = sizeof(float) * N * N;
    MUST(cudaMalloc(&a, bytes));
    MUST(cudaMalloc(&b, bytes));
    MUST(cudaMalloc(&c, bytes));
    fill<<<N * N / 256, 256>>>(a, 0.5f);
    fill<<<N * N / 256, 256>>>(b, 2.0f);
    measure("matmul", 1, 3, [=] { matmul<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(a, b, c); });
    MUST(cudaMemcpy(&last, c + (size_t)N * N - 1, sizeof last, cudaMemcpyDeviceToHost));
    return last == (float)N ? 0 : 2;
}
