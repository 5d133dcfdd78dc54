/* The model that is fixed: embedding, layers with a residual path, scores, the word it says. */
#include "dflash.h"

#include <cmath>

/* x[t] = the embedding of token t. */
__global__ static void embed(const int *tokens, const float *embedding, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, token = i / WIDTH;
    if (token < TOKENS) {
        x[i] = embedding[tokens[token] * WIDTH + i % WIDTH];
    }
}

/* y = x + softsign(x w). */
__global__ static void layer(const float *x, const float *w, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, token = i / WIDTH, column = i % WIDTH;
    float sum;
    if (token >= TOKENS) {
        return;
    }
    sum = dot(x + token * WIDTH, 1, w + column, WIDTH, WIDTH);
    y[i] = x[i] + sum / (1.0f + fabsf(sum));
}

/* What the target gives each word; the last word is never said. */
__global__ static void score(const float *x, const float *head, float *scores)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, token = i / WORDS, word = i % WORDS;
    if (token < TOKENS) {
        scores[i] =
            word == WORDS - 1 ? -INFINITY : dot(x + token * WIDTH, 1, head + word, WORDS, WIDTH);
    }
}

__global__ static void say(const float *scores, int *labels)
{
    int token = blockIdx.x * blockDim.x + threadIdx.x, best = 0;
    if (token >= TOKENS) {
        return;
    }
    for (int word = 1; word < WORDS; word++) {
        best = scores[token * WORDS + word] > scores[token * WORDS + best] ? word : best;
    }
    labels[token] = best;
}

/* Rows of valid tokens one behind the other, then their labels. */
__global__ static void pack(const float *low, const float *high, const int *labels,
                            const struct batch *batch, float *packed)
{
    const int *rows = batch->rows, valid = batch->valid;
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / FEATURES, feature = i % FEATURES;
    if (row >= valid) {
        return;
    }
    packed[i] = feature < WIDTH ? low[rows[row] * WIDTH + feature]
                                : high[rows[row] * WIDTH + feature - WIDTH];
    if (feature == 0) {
        ((int *)(packed + valid * FEATURES))[row] = labels[rows[row]];
    }
}

void target_open(struct target *target, int number, const struct setup *setup)
{
    size_t bytes = (size_t)setup->batches * sizeof *target->batches;
    *target = {};
    target->number = number;
    target->device = number % setup->devices;
    check(cudaSetDevice(target->device), "a target's device");
    check(cudaStreamCreateWithFlags(&target->stream, cudaStreamNonBlocking), "a target's stream");
    target->embedding = weights_make(1, WORDS, WIDTH, 2);
    for (unsigned l = 0; l < LAYERS; l++) {
        target->layers[l] = weights_make(2 + l, WIDTH, WIDTH, 2);
    }
    target->head = weights_make(2 + LAYERS, WIDTH, WORDS, 2);
    check(cudaMallocHost(&target->batches, bytes), "batches");
    for (int b = 0; b < setup->batches; b++) {
        batch_make(&target->batches[b], b);
    }
    check(cudaMalloc(&target->on_device, bytes), "batches");
    check(cudaMemcpy(target->on_device, target->batches, bytes, cudaMemcpyHostToDevice), "batches");
    check(cudaMalloc(&target->labels, (size_t)setup->batches * TOKENS * sizeof(int)), "labels");
    check(cudaDeviceSynchronize(), "weights and batches");
}

void target_close(struct target *target)
{
    check(cudaSetDevice(target->device), "a target's device");
    check(cudaStreamSynchronize(target->stream), "the end of a target");
    cache_finish(&target->cache);
    check(cudaFree(target->labels), "labels");
    check(cudaFree(target->on_device), "batches");
    check(cudaFreeHost(target->batches), "batches");
    check(cudaFree(target->head), "weights");
    for (float *w : target->layers) {
        check(cudaFree(w), "weights");
    }
    check(cudaFree(target->embedding), "weights");
    check(cudaStreamDestroy(target->stream), "a target's stream");
}

void target_forward(struct target *target, int batch, struct states *states)
{
    struct cache *cache = &target->cache;
    cudaStream_t stream = target->stream;
    float *x = (float *)cache_take(cache), *y;
    embed<<<blocks_for(TOKENS * WIDTH), THREADS, 0, stream>>>(target->on_device[batch].tokens,
                                                              target->embedding, x);
    for (int l = 0; l < LAYERS; l++) {
        y = (float *)cache_take(cache);
        layer<<<blocks_for(TOKENS * WIDTH), THREADS, 0, stream>>>(x, target->layers[l], y);
        if (l == LAYERS / 2) {
            states->low = x;
        } else {
            cache_give(cache, x);
        }
        x = y;
    }
    states->high = x;
    y = (float *)cache_take(cache);
    score<<<blocks_for(TOKENS * WORDS), THREADS, 0, stream>>>(x, target->head, y);
    say<<<blocks_for(TOKENS), THREADS, 0, stream>>>(y, target->labels + batch * TOKENS);
    cache_give(cache, y);
    check(cudaGetLastError(), "forward pass");
}

void target_pack(const struct target *target, int batch, const struct states *states, void *packed,
                 cudaStream_t stream)
{
    int valid = target->batches[batch].valid;
    if (valid > 0) {
        pack<<<blocks_for(valid * FEATURES), THREADS, 0, stream>>>(
            states->low, states->high, target->labels + batch * TOKENS, target->on_device + batch,
            (float *)packed);
        check(cudaGetLastError(), "packing");
    }
}

void states_give(struct target *target, struct states *states)
{
    cache_give(&target->cache, states->high);
    cache_give(&target->cache, states->low);
}
