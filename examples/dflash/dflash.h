/* A small trainer in the shape of speculative decoding, with several devices.
 *
 * Target devices run a fixed model over batches of tokens and keep the hidden states of two of its
 * layers. Of those the rows of valid tokens are packed, copied to the host and handed to drafter
 * devices, on which a small model learns to say the token that the target would say.
 *
 *     target:  embed -> layer 1..4 -> scores -> labels        (hidden states of layers 2 and 4)
 *              pack the valid rows -> copy to the host -> publish
 *     drafter: copy to the device -> forward -> loss -> backward -> step
 *
 * Batch b runs on target b mod targets and trains drafter b mod drafters, each drafter in the order
 * of the batches: so losses do not depend on the schedule, and are equal bit for bit in every
 * variant that is right.
 *
 *     baseline   one thread; the host waits for each copy
 *     unsafe     packing on a second stream by a background thread, while the next forward runs
 *     safe       packing on the stream that made the hidden states; streamsan/pipeline.h does the
 *                rest
 */
#ifndef DFLASH_H
#define DFLASH_H

#include <cuda_runtime.h>

#include <cstddef>

enum {
    TOKENS = 64,          /* of a batch */
    WIDTH = 32,           /* of a hidden state, floats */
    LAYERS = 4,           /* of the target */
    FEATURES = 2 * WIDTH, /* of a packed row: the hidden states of two layers */
    WORDS = 32,           /* that a token may be */
    HIDDEN = 48,          /* of the drafter */
    THREADS = 64,         /* of a block */
    DEVICES_MOST = 8
};

struct setup {
    int targets, drafters, batches;
    int devices; /* of the machine, used in turn: targets first, then drafters */
};

/* Blocks of THREADS for so many elements. */
static inline int blocks_for(int elements)
{
    return (elements + THREADS - 1) / THREADS;
}

/* An element of a matrix product: `count` terms, added in their order. `a_step`, `b_step`: floats
 * from one term's factor to the next one's. */
static inline __device__ float dot(const float *a, int a_step, const float *b, int b_step,
                                   int count)
{
    float sum = 0;
    for (int k = 0; k < count; k++) {
        sum += a[k * a_step] * b[k * b_step];
    }
    return sum;
}

/* Ends the process with code 1 when a CUDA call failed. */
void check(cudaError_t error, const char *what);
/* A number in [-1, 1) that depends on both alone. */
float number_of(unsigned series, unsigned index);
/* A matrix on the current device, the same for the same series; `scale`: of its products, about. */
float *weights_make(unsigned series, int rows, int columns, float scale);

/* -- batches -- */

/* Which tokens there are and which of them count: those of a prompt do not. Some batches have none.
 */
struct batch {
    int tokens[TOKENS];
    int valid;        /* rows */
    int rows[TOKENS]; /* positions of the valid tokens, ascending */
};

void batch_make(struct batch *batch, int number);

/* What goes from a target to a drafter: `valid` rows of FEATURES floats, behind them as many
 * labels. */
static inline size_t packed_bytes(int valid)
{
    return (size_t)valid * (FEATURES * sizeof(float) + sizeof(int));
}

/* -- device memory that is used again, as frameworks do it (cache.cu) -- */

enum { CACHE_BLOCKS = 32, BLOCK_BYTES = TOKENS * WIDTH * sizeof(float) };

/* Blocks of one size. One that was given back is handed out again at once, the last one first: its
 * next user is taken to work on the same stream as its last. One thread. */
struct cache {
    void *free_blocks[CACHE_BLOCKS];
    int free_count, made;
};

void *cache_take(struct cache *cache);
void cache_give(struct cache *cache, void *block);
void cache_finish(struct cache *cache);

/* -- target -- */

struct target {
    int number, device;
    cudaStream_t stream;
    struct cache cache;
    float *embedding, *layers[LAYERS], *head;
    struct batch *batches;   /* all of them, on the host */
    struct batch *on_device; /* the same */
    int *labels;             /* batches x TOKENS: the word that the target says behind each token */
};

/* Hidden states of one forward pass; blocks of the target's cache. */
struct states {
    float *low, *high; /* TOKENS x WIDTH, of the second and the last layer */
};

void target_open(struct target *target, int number, const struct setup *setup);
void target_close(struct target *target);
/* Submits the forward pass of a batch to the target's stream. The caller gives the states back. */
void target_forward(struct target *target, int batch, struct states *states);
/* Submits the packing to `stream`. `packed`: packed_bytes(valid) on the target's device. Nothing
 * for no rows. */
void target_pack(const struct target *target, int batch, const struct states *states, void *packed,
                 cudaStream_t stream);
void states_give(struct target *target, struct states *states);

/* -- drafter -- */

struct drafter {
    int number, device;
    cudaStream_t stream;
    float *first, *second;                        /* weights: FEATURES x HIDDEN, HIDDEN x WORDS */
    float *hidden, *scores, *back, *token_losses; /* of one step */
    void *packed;                                 /* for those who copy by themselves */
    float *losses; /* page-locked, by batch number; NAN: not trained */
};

void drafter_open(struct drafter *drafter, int number, const struct setup *setup);
void drafter_close(struct drafter *drafter);
/* Submits a training step on packed rows that are on the drafter's device. Nothing for no rows. Its
 * loss is in losses[batch] once the stream has come that far. */
void drafter_step(struct drafter *drafter, int batch, int valid, const void *packed);
/* The same on rows in page-locked host memory: uploads them first. The host may change them once
 * the stream has come that far. */
void drafter_train(struct drafter *drafter, int batch, int valid, const void *host);
/* Waits for all steps. */
void drafter_wait(struct drafter *drafter);

/* -- variants: each trains all batches; the targets and drafters are open -- */

void run_baseline(const struct setup *setup, struct target *targets, struct drafter *drafters);
void run_unsafe(const struct setup *setup, struct target *targets, struct drafter *drafters);
void run_safe(const struct setup *setup, struct target *targets, struct drafter *drafters);

#endif
