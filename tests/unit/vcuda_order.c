/* No schedule breaks an edge: random programs of host functions, records, waits and memsets on
 * several streams, judged by the closure of the ordering rules over the moments
 * at which the host functions began and ended. */
#include "vcuda_support.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS   64
#define STREAMS 7 /* 0: legacy, 1: per-thread, then blocking and non-blocking in turn */
#define EVENTS  4

struct item {
    bool is_seen;    /* a host function: its moments are known */
    uint64_t before; /* bit i: item i ends before this one begins */
    _Atomic int begin, end;
};

static struct item items[ITEMS];
static _Atomic int moment;

static void on_run(void *data)
{
    struct item *item = data;
    atomic_store(&item->begin, atomic_fetch_add(&moment, 1) + 1);
    atomic_store(&item->end, atomic_fetch_add(&moment, 1) + 1);
}

struct model {
    cudaStream_t streams[STREAMS];
    cudaEvent_t events[EVENTS];
    uint64_t tail[STREAMS]; /* closure of the stream's last item, with itself */
    uint64_t legacy, blocking, all, recorded[EVENTS];
    void *memory;
};

static bool is_blocking(int stream)
{
    return stream == 1 || (stream >= 2 && stream % 2 == 0);
}

/* The recipe of 0.4 with sets of items for clocks. */
static void add_item(struct model *model, int item, int stream, uint64_t also)
{
    uint64_t set = model->tail[stream] | also;
    set |= stream == 0 ? model->blocking : is_blocking(stream) ? model->legacy : 0;
    items[item].before = set;
    set |= UINT64_C(1) << item;
    model->tail[stream] = set;
    model->all |= set;
    model->legacy |= stream == 0 ? set : 0;
    model->blocking |= is_blocking(stream) ? set : 0;
}

static void check_done(uint64_t set)
{
    for (int i = 0; i < ITEMS; i++) {
        CHECK(!(set >> i & 1) || !items[i].is_seen || atomic_load(&items[i].end) > 0);
    }
}

/* A call that waits; what it covers must have run. */
static void join(struct model *model, struct rng *rng)
{
    int stream = (int)rng_below(rng, STREAMS), event = (int)rng_below(rng, EVENTS);
    switch (rng_below(rng, 4)) {
    case 0:
        OK(cudaStreamSynchronize(model->streams[stream]));
        check_done(model->tail[stream] | (stream == 0 ? model->blocking : 0));
        break;
    case 1:
        OK(cudaEventSynchronize(model->events[event]));
        check_done(model->recorded[event]);
        break;
    case 2:
        if (cudaEventQuery(model->events[event]) == cudaSuccess) {
            check_done(model->recorded[event]);
        }
        break;
    default:
        if (cudaStreamQuery(model->streams[stream]) == cudaSuccess) {
            check_done(model->tail[stream] | (stream == 0 ? model->blocking : 0));
        }
        break;
    }
}

static void submit(struct model *model, int item, struct rng *rng)
{
    int stream = (int)rng_below(rng, STREAMS), event = (int)rng_below(rng, EVENTS);
    cudaStream_t handle = model->streams[stream];
    switch (rng_below(rng, 6)) {
    case 0:
        OK(cudaEventRecord(model->events[event], handle));
        add_item(model, item, stream, 0);
        model->recorded[event] = model->tail[stream];
        break;
    case 1:
        OK(cudaStreamWaitEvent(handle, model->events[event], 0));
        if (model->recorded[event]) {
            add_item(model, item, stream, model->recorded[event]);
        }
        break;
    case 2:
        OK(cudaMemsetAsync(model->memory, 1, 64, handle));
        add_item(model, item, stream, 0);
        break;
    default:
        items[item].is_seen = true;
        OK(cudaLaunchHostFunc(handle, on_run, &items[item]));
        add_item(model, item, stream, 0);
        break;
    }
}

static void check_order(void)
{
    for (int later = 0; later < ITEMS; later++) {
        for (int first = 0; first < ITEMS; first++) {
            if ((items[later].before >> first & 1) && items[first].is_seen &&
                items[later].is_seen) {
                CHECK(items[first].end < items[later].begin);
            }
        }
    }
}

static int random_program(void *data)
{
    struct rng rng = {*(const uint64_t *)data};
    struct model model = {.streams = {cudaStreamLegacy, cudaStreamPerThread}};
    for (int i = 2; i < STREAMS; i++) {
        OK(cudaStreamCreateWithFlags(&model.streams[i], i % 2 ? cudaStreamNonBlocking : 0));
    }
    for (int i = 0; i < EVENTS; i++) {
        OK(cudaEventCreate(&model.events[i]));
    }
    OK(cudaMalloc(&model.memory, 64));
    for (int item = 0; item < ITEMS; item++) {
        submit(&model, item, &rng);
        if (rng_below(&rng, 8) == 0) {
            join(&model, &rng);
        }
    }
    OK(cudaDeviceSynchronize());
    check_done(model.all);
    check_order();
    return 0;
}

static void test_schedules_keep_every_edge(void **state)
{
    const char *given = getenv("SEED");
    uint64_t first = given ? strtoull(given, NULL, 10) : 1, last = given ? first : 120;
    char schedule[32];
    for (uint64_t seed = first; seed <= last; seed++) {
        snprintf(schedule, sizeof schedule, "random:%llu", (unsigned long long)seed);
        const char *name = seed % 3 == 0 ? "lazy" : seed % 7 == 0 ? "eager" : schedule;
        if (device_run(name, random_program, &seed, NULL) != 0) {
            fail_msg("schedule %s; again with SEED=%llu", name, (unsigned long long)seed);
        }
    }
    print_message("%d programs of %d items, seeds %llu to %llu\n", (int)(last - first + 1), ITEMS,
                  (unsigned long long)first, (unsigned long long)last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_schedules_keep_every_edge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
