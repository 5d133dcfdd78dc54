/* The pipeline library does what was done by hand in unsafe.cu. Packing stays on the stream that
 * made the hidden states, so their blocks may be used again at once, in stream order; only the
 * finished rows leave on a copy stream, and a thread of the pipeline waits for them. */
#include "dflash.h"

#include <streamsan/pipeline.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

enum { SLOTS = 3 }; /* of each device */

static void need(enum ssan_pipe_status status, const struct ssan_pipe_error *err)
{
    if (status != SSAN_PIPE_OK) {
        std::fprintf(stderr, "dflash: %s\n", err->text);
        std::exit(1);
    }
}

/* Forward pass and packing, both on the target's stream. */
static int compute(void *user, struct ssan_pipe_batch *batch, cudaStream_t stream)
{
    struct target *target = (struct target *)user;
    struct states states;
    target_forward(target, (int)batch->number, &states);
    target_pack(target, (int)batch->number, &states, batch->device_output, stream);
    states_give(target, &states);
    return 0;
}

static void train(struct drafter *drafter, struct ssan_pipe_consumer *consumer)
{
    struct ssan_pipe_batch *batch;
    struct ssan_pipe_error err;
    enum ssan_pipe_status status;
    check(cudaSetDevice(drafter->device), "a drafter's device");
    while ((status = ssan_pipe_take(consumer, SSAN_PIPE_FOREVER, &batch, &err)) == SSAN_PIPE_OK) {
        int valid = (int)(batch->output_bytes / packed_bytes(1));
        drafter_step(drafter, (int)batch->number, valid, batch->landed);
        need(ssan_pipe_release(consumer, batch, &err), &err);
    }
    need(status == SSAN_PIPE_CLOSED ? SSAN_PIPE_OK : status, &err);
    drafter_wait(drafter);
}

void run_safe(const struct setup *setup, struct target *targets, struct drafter *drafters)
{
    struct ssan_pipe_options options = {};
    struct ssan_pipe_error err;
    struct ssan_pipe *pipe;
    std::vector<int> devices;
    std::vector<std::thread> trainers;
    for (int i = 0; i < setup->targets && i < setup->devices; i++) {
        devices.push_back(targets[i].device);
    }
    options.size = sizeof options;
    options.name = "packed rows";
    options.devices = devices.data();
    options.device_count = (unsigned)devices.size();
    options.slots = SLOTS;
    options.output_bytes = packed_bytes(TOKENS);
    options.share = (unsigned)setup->drafters;
    need(ssan_pipe_create(&options, &pipe, &err), &err);
    for (int d = 0; d < setup->drafters; d++) {
        struct ssan_pipe_consumer_options wanted = {};
        struct ssan_pipe_consumer *consumer;
        wanted.size = sizeof wanted;
        wanted.share_index = (unsigned)d;
        wanted.on_device = true;
        wanted.device = drafters[d].device;
        wanted.stream = drafters[d].stream;
        need(ssan_pipe_consumer_create(pipe, &wanted, &consumer, &err), &err);
        trainers.emplace_back(train, &drafters[d], consumer);
    }

    for (int b = 0; b < setup->batches; b++) {
        struct target *target = &targets[b % setup->targets];
        struct ssan_pipe_request request = {};
        struct ssan_pipe_batch *batch;
        request.device_index = (unsigned)(target->number % setup->devices);
        request.output_bytes = packed_bytes(target->batches[b].valid);
        need(ssan_pipe_acquire(pipe, &request, SSAN_PIPE_FOREVER, &batch, &err), &err);
        need(ssan_pipe_submit(pipe, batch, compute, target, target->stream, &err), &err);
    }
    ssan_pipe_close(pipe);
    for (std::thread &t : trainers) {
        t.join();
    }
    need(ssan_pipe_destroy(pipe, &err), &err);
}
