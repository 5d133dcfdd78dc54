/* Packing moved to a second stream and a background thread, so that the next forward pass need not
 * wait for it.
 *
 * The fault: the background thread's stream waits for the forward pass that made the hidden states,
 * but nothing lets the next forward pass wait for the packing. Their blocks are given back as soon
 * as the job is queued, and the next forward pass, on the target's own stream, takes them again.
 * What is packed then is a mixture, and where the scores of the next pass stand in the block, minus
 * infinity becomes NaN. The host side is in order: queue, semaphore and event are right. */
#include "dflash.h"
#include "queue.h"

#include <thread>
#include <vector>

enum { DEPTH = 4 }; /* jobs in flight for each target */

/* From a target's loop to its background thread, and from there to a drafter. */
struct job {
    int batch = -1, valid = 0; /* batch -1: no more */
    struct states states = {};
    cudaEvent_t computed = NULL;
    void *host = NULL;                  /* page-locked, packed rows */
    bounded_queue<void *> *home = NULL; /* where `host` goes back to */
};

typedef bounded_queue<job> job_queue;

struct background {
    struct target *target;
    job_queue jobs = job_queue(DEPTH);
    bounded_queue<void *> hosts = bounded_queue<void *>(DEPTH); /* free page-locked buffers */
};

static void pack_and_publish(struct background *mine, std::vector<job_queue *> *drafters)
{
    cudaStream_t stream;
    void *packed;
    check(cudaSetDevice(mine->target->device), "a target's device");
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "the packing stream");
    check(cudaMalloc(&packed, packed_bytes(TOKENS)), "packed rows");
    for (job work = mine->jobs.take(); work.batch >= 0; work = mine->jobs.take()) {
        check(cudaStreamWaitEvent(stream, work.computed, 0), "wait for the forward pass");
        target_pack(mine->target, work.batch, &work.states, packed, stream);
        check(cudaMemcpyAsync(work.host, packed, packed_bytes(work.valid), cudaMemcpyDeviceToHost,
                              stream),
              "copy of packed rows");
        check(cudaStreamSynchronize(stream), "wait for packed rows");
        check(cudaEventDestroy(work.computed), "an event");
        (*drafters)[work.batch % drafters->size()]->put(work);
    }
    check(cudaFree(packed), "packed rows");
    check(cudaStreamDestroy(stream), "the packing stream");
}

/* Batches of several targets may come out of order; they are trained in order. */
static void train(struct drafter *drafter, const struct setup *setup, job_queue *jobs)
{
    std::vector<job> early(setup->batches);
    check(cudaSetDevice(drafter->device), "a drafter's device");
    for (int b = drafter->number; b < setup->batches; b += setup->drafters) {
        while (early[b].batch < 0) {
            job work = jobs->take();
            early[work.batch] = work;
        }
        drafter_train(drafter, b, early[b].valid, early[b].host);
        drafter_wait(drafter);
        early[b].home->put(early[b].host);
    }
}

void run_unsafe(const struct setup *setup, struct target *targets, struct drafter *drafters)
{
    std::vector<background> backgrounds(setup->targets);
    std::vector<job_queue *> to_drafters;
    std::vector<std::thread> packers, trainers;
    for (int d = 0; d < setup->drafters; d++) {
        to_drafters.push_back(new job_queue(setup->batches));
        trainers.emplace_back(train, &drafters[d], setup, to_drafters[d]);
    }
    for (int i = 0; i < setup->targets; i++) {
        backgrounds[i].target = &targets[i];
        for (int k = 0; k < DEPTH; k++) {
            void *host;
            check(cudaMallocHost(&host, packed_bytes(TOKENS)), "page-locked memory");
            backgrounds[i].hosts.put(host);
        }
        packers.emplace_back(pack_and_publish, &backgrounds[i], &to_drafters);
    }

    for (int b = 0; b < setup->batches; b++) {
        struct target *target = &targets[b % setup->targets];
        struct background *background = &backgrounds[target->number];
        struct job work;
        work.batch = b;
        work.valid = target->batches[b].valid;
        work.home = &background->hosts;
        work.host = background->hosts.take(); /* bounds what is in flight */
        check(cudaSetDevice(target->device), "a target's device");
        target_forward(target, b, &work.states);
        check(cudaEventCreateWithFlags(&work.computed, cudaEventDisableTiming), "an event");
        check(cudaEventRecord(work.computed, target->stream), "record");
        states_give(target, &work.states); /* too early: packing has not read them yet */
        background->jobs.put(work);
    }

    for (background &b : backgrounds) {
        b.jobs.put(job());
    }
    for (std::thread &t : packers) {
        t.join();
    }
    for (std::thread &t : trainers) {
        t.join();
    }
    for (background &b : backgrounds) {
        for (int k = 0; k < DEPTH; k++) {
            check(cudaFreeHost(b.hosts.take()), "page-locked memory");
        }
    }
    for (job_queue *q : to_drafters) {
        delete q;
    }
}
