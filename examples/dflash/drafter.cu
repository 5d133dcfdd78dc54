/* The model that learns: one hidden layer, cross entropy, plain gradient descent. Every sum has one
 * order. */
#include "dflash.h"

#include <cmath>

#ifndef RATE
#define RATE 0.5f
#endif

/* hidden = relu(features first). */
__global__ static void forward(const float *features, const float *first, int valid, float *hidden)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / HIDDEN, unit = i % HIDDEN;
    float sum;
    if (row >= valid) {
        return;
    }
    sum = dot(features + row * FEATURES, 1, first + unit, HIDDEN, FEATURES);
    hidden[i] = sum < 0 ? 0 : sum; /* a NaN stays one */
}

__global__ static void score(const float *hidden, const float *second, int valid, float *scores)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / WORDS, word = i % WORDS;
    if (row < valid) {
        scores[i] = dot(hidden + row * HIDDEN, 1, second + word, WORDS, HIDDEN);
    }
}

/* A token's cross entropy; its scores become the gradient of the mean loss by them. */
__global__ static void lose(float *scores, const int *labels, int valid, float *losses)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float *mine = scores + row * WORDS, most, sum = 0;
    if (row >= valid) {
        return;
    }
    most = mine[0];
    for (int word = 1; word < WORDS; word++) {
        most = fmaxf(most, mine[word]);
    }
    for (int word = 0; word < WORDS; word++) {
        sum += expf(mine[word] - most);
    }
    losses[row] = logf(sum) + most - mine[labels[row]];
    for (int word = 0; word < WORDS; word++) {
        mine[word] = (expf(mine[word] - most) / sum - (word == labels[row])) / valid;
    }
}

__global__ static void mean(const float *losses, int valid, float *loss)
{
    float sum = 0;
    for (int row = 0; row < valid; row++) {
        sum += losses[row];
    }
    *loss = sum / valid;
}

/* back = gradient by the hidden units. */
__global__ static void backward(const float *gradient, const float *second, const float *hidden,
                                int valid, float *back)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / HIDDEN, unit = i % HIDDEN;
    if (row < valid) {
        back[i] =
            hidden[i] > 0 ? dot(gradient + row * WORDS, 1, second + unit * WORDS, 1, WORDS) : 0;
    }
}

/* weights -= RATE * input^T gradient. */
__global__ static void step(float *weights, const float *input, const float *gradient, int valid,
                            int rows, int columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, from = i / columns, to = i % columns;
    if (from < rows) {
        weights[i] -= RATE * dot(input + from, rows, gradient + to, columns, valid);
    }
}

static float *floats(size_t count)
{
    float *device;
    check(cudaMalloc(&device, count * sizeof *device), "a drafter's memory");
    return device;
}

void drafter_open(struct drafter *drafter, int number, const struct setup *setup)
{
    *drafter = {};
    drafter->number = number;
    drafter->device = (setup->targets + number) % setup->devices;
    check(cudaSetDevice(drafter->device), "a drafter's device");
    check(cudaStreamCreateWithFlags(&drafter->stream, cudaStreamNonBlocking), "a drafter's stream");
    drafter->first = weights_make(100, FEATURES, HIDDEN, 1);
    drafter->second = weights_make(101, HIDDEN, WORDS, 1);
    drafter->hidden = floats(TOKENS * HIDDEN);
    drafter->back = floats(TOKENS * HIDDEN);
    drafter->scores = floats(TOKENS * WORDS);
    drafter->token_losses = floats(TOKENS + 1);
    check(cudaMalloc(&drafter->packed, packed_bytes(TOKENS)), "packed rows");
    check(cudaMallocHost(&drafter->losses, (size_t)setup->batches * sizeof(float)), "losses");
    for (int b = 0; b < setup->batches; b++) {
        drafter->losses[b] = NAN;
    }
    check(cudaDeviceSynchronize(), "weights");
}

void drafter_close(struct drafter *drafter)
{
    check(cudaSetDevice(drafter->device), "a drafter's device");
    check(cudaStreamSynchronize(drafter->stream), "the end of a drafter");
    check(cudaFreeHost(drafter->losses), "losses");
    check(cudaFree(drafter->packed), "packed rows");
    check(cudaFree(drafter->token_losses), "a drafter's memory");
    check(cudaFree(drafter->scores), "a drafter's memory");
    check(cudaFree(drafter->back), "a drafter's memory");
    check(cudaFree(drafter->hidden), "a drafter's memory");
    check(cudaFree(drafter->second), "weights");
    check(cudaFree(drafter->first), "weights");
    check(cudaStreamDestroy(drafter->stream), "a drafter's stream");
}

void drafter_step(struct drafter *drafter, int batch, int valid, const void *packed)
{
    const float *features = (const float *)packed;
    const int *labels = (const int *)(features + valid * FEATURES);
    float *loss = drafter->token_losses + TOKENS;
    cudaStream_t stream = drafter->stream;
    if (valid == 0) {
        return;
    }
    forward<<<blocks_for(valid * HIDDEN), THREADS, 0, stream>>>(features, drafter->first, valid,
                                                                drafter->hidden);
    score<<<blocks_for(valid * WORDS), THREADS, 0, stream>>>(drafter->hidden, drafter->second,
                                                             valid, drafter->scores);
    lose<<<blocks_for(valid), THREADS, 0, stream>>>(drafter->scores, labels, valid,
                                                    drafter->token_losses);
    mean<<<1, 1, 0, stream>>>(drafter->token_losses, valid, loss);
    backward<<<blocks_for(valid * HIDDEN), THREADS, 0, stream>>>(
        drafter->scores, drafter->second, drafter->hidden, valid, drafter->back);
    step<<<blocks_for(HIDDEN * WORDS), THREADS, 0, stream>>>(drafter->second, drafter->hidden,
                                                             drafter->scores, valid, HIDDEN, WORDS);
    step<<<blocks_for(FEATURES * HIDDEN), THREADS, 0, stream>>>(
        drafter->first, features, drafter->back, valid, FEATURES, HIDDEN);
    check(cudaGetLastError(), "training step");
    check(cudaMemcpyAsync(drafter->losses + batch, loss, sizeof *loss, cudaMemcpyDeviceToHost,
                          stream),
          "copy of a loss");
}

void drafter_train(struct drafter *drafter, int batch, int valid, const void *host)
{
    if (valid > 0) {
        check(cudaMemcpyAsync(drafter->packed, host, packed_bytes(valid), cudaMemcpyHostToDevice,
                              drafter->stream),
              "upload of packed rows");
        drafter_step(drafter, batch, valid, drafter->packed);
    }
}

void drafter_wait(struct drafter *drafter)
{
    check(cudaStreamSynchronize(drafter->stream), "the end of training");
}
