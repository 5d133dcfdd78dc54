/* One thread; the host waits for each copy: right, and nothing overlaps. */
#include "dflash.h"

void run_baseline(const struct setup *setup, struct target *targets, struct drafter *drafters)
{
    void *packed[DEVICES_MOST], *host;
    check(cudaMallocHost(&host, packed_bytes(TOKENS)), "page-locked memory");
    for (int i = 0; i < setup->targets; i++) {
        check(cudaSetDevice(targets[i].device), "a target's device");
        check(cudaMalloc(&packed[i], packed_bytes(TOKENS)), "packed rows");
    }
    for (int b = 0; b < setup->batches; b++) {
        struct target *target = &targets[b % setup->targets];
        struct drafter *drafter = &drafters[b % setup->drafters];
        int valid = target->batches[b].valid;
        void *rows = packed[target->number];
        struct states states;
        check(cudaSetDevice(target->device), "a target's device");
        target_forward(target, b, &states);
        target_pack(target, b, &states, rows, target->stream);
        states_give(target, &states);
        check(cudaMemcpyAsync(host, rows, packed_bytes(valid), cudaMemcpyDeviceToHost,
                              target->stream),
              "copy of packed rows");
        check(cudaStreamSynchronize(target->stream), "wait for packed rows");

        check(cudaSetDevice(drafter->device), "a drafter's device");
        drafter_train(drafter, b, valid, host);
        drafter_wait(drafter);
    }
    for (int i = 0; i < setup->targets; i++) {
        check(cudaFree(packed[i]), "packed rows");
    }
    check(cudaFreeHost(host), "page-locked memory");
}
