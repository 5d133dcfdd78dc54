/* Device patches and draining against a set of bytes: warps run on the CPU (support/warp.h), the
 * library's memory is the heap. What the trace is told must be what the warps accessed. */
#include "capture/memory.h"
#include "capture/observe_hints.h"
#include "capture/observe_pool.h"
#include "capture/observe_windows.h"
#include "support/warp.h"

#include "capture/patches/record.cuh"

#include "base/mem.h"
#include "base/rng.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM ((struct sanitizer_stream *)(uintptr_t)16)
#define BASE   UINT64_C(0x7f4200000000)
#define BYTES  (UINT64_C(4) << 20)

/* -- the sanitizer library: device memory is memory -- */

static uint32_t alloc_memory(CUcontext context, void **pointer, size_t size)
{
    *pointer = mem_alloc(size);
    return *pointer ? SANITIZER_OK : SANITIZER_OUT_OF_MEMORY;
}

static uint32_t free_memory(CUcontext context, void *pointer)
{
    mem_free(pointer);
    return SANITIZER_OK;
}

/* How many copies to the device fail, and whether these copy all the same. */
static struct {
    unsigned count;
    bool takes_place;
} failing;

static uint32_t copy(void *to, void *from, size_t size, struct sanitizer_stream *stream)
{
    memcpy(to, from, size);
    return SANITIZER_OK;
}

static uint32_t copy_out(void *to, void *from, size_t size, struct sanitizer_stream *stream)
{
    bool fails = failing.count > 0;
    failing.count -= fails;
    if (!fails || failing.takes_place) {
        memcpy(to, from, size);
    }
    return fails ? SANITIZER_OUT_OF_MEMORY : SANITIZER_OK;
}

static uint32_t set(void *pointer, int value, size_t size, struct sanitizer_stream *stream)
{
    memset(pointer, value, size);
    return SANITIZER_OK;
}

static uint32_t synchronize(struct sanitizer_stream *stream)
{
    return SANITIZER_OK;
}

static uint32_t get_handle(CUcontext context, CUstream stream, struct sanitizer_stream **handle)
{
    *handle = NULL;
    return SANITIZER_OK;
}

static const struct sanitizer_api api = {.alloc_device = alloc_memory,
                                         .alloc_host = alloc_memory,
                                         .free_device = free_memory,
                                         .free_host = free_memory,
                                         .copy_to_device_async = copy_out,
                                         .copy_to_host = copy,
                                         .set_device = set,
                                         .stream_synchronize = synchronize,
                                         .get_stream_handle = get_handle};

/* -- the trace: a byte for each byte and kind of access, of each operation -- */

#define OPS 8

struct bytes {
    unsigned char accesses[3][BYTES];
};

static struct {
    struct ssan_sink sink;
    struct bytes seen[OPS], done[OPS];
    unsigned closed[OPS], lost[OPS];
    uint64_t runs, leaves;
} test;

/* Large and small accesses of one byte are told apart, each at most once. */
static void add(uint64_t op, enum ssan_access access, uint32_t width, uint64_t address,
                uint64_t length)
{
    unsigned char bit = width == 1 ? 2 : 1;
    assert_true(op < OPS && address >= BASE && address + length <= BASE + BYTES);
    for (uint64_t i = 0; i < length; i++) {
        unsigned char *seen = &test.seen[op].accesses[access][address - BASE + i];
        assert_int_equal(*seen & bit, 0);
        *seen |= bit;
    }
}

static void on_event(struct ssan_sink *self, const struct ssan_event *event)
{
    if (event->kind == SSAN_EV_set) {
        test.runs += event->set.runs.count;
        for (uint32_t i = 0; i < event->set.runs.count; i++) {
            const struct ssan_run *run = &event->set.runs.ptr[i];
            uint64_t end;
            assert_true(ssan_run_end(run, &end));
            for (uint64_t k = 0; k < run->count; k++) {
                add(event->set.op, event->set.access, event->set.width,
                    run->address + k * run->stride, run->length);
            }
        }
    } else if (event->kind == SSAN_EV_set_leaf) {
        test.leaves++;
        assert_int_equal(event->set_leaf.address % SSAN_LEAF_BYTES, 0);
        uint32_t unit = 1u << event->set_leaf.unit_log2;
        for (uint32_t i = 0; i < event->set_leaf.bits.count * 64; i++) {
            if (event->set_leaf.bits.ptr[i / 64] >> (i % 64) & 1) {
                add(event->set_leaf.op, event->set_leaf.access, event->set_leaf.width,
                    event->set_leaf.address + (uint64_t)i * unit, unit);
            }
        }
    } else if (event->kind == SSAN_EV_op_closed) {
        test.closed[event->op_closed.op]++;
    } else if (event->kind == SSAN_EV_lost) {
        test.lost[event->lost.op]++;
    }
}

/* -- kernels -- */

/* What every lane of a launch does: accesses of a shape that was drawn for each step. */
struct step {
    uint64_t pc, base;
    uint32_t size, access;
    uint64_t stride; /* between lanes; 0: each lane its own, random */
    uint32_t skip;   /* lanes whose number is a multiple do nothing; 0: all do */
    uint32_t blocks; /* > 0: a bulk copy of so many times 16 bytes */
};

#define STEPS 6

struct kernel {
    struct patch_launch *record;
    uint64_t op;
    unsigned repeats;
    struct step steps[STEPS];
};

static void note(uint64_t op, uint32_t access, uint64_t address, uint64_t length)
{
    memset(&test.done[op].accesses[access][address - BASE], 1, length);
}

static uint64_t mixed(uint64_t number)
{
    struct rng rng = {number};
    return rng_next(&rng);
}

static void run_lane(void *self, unsigned warp, unsigned lane)
{
    const struct kernel *kernel = self;
    for (unsigned repeat = 0; repeat < kernel->repeats; repeat++) {
        for (unsigned i = 0; i < STEPS; i++) {
            const struct step *step = &kernel->steps[i];
            if (step->skip && lane % step->skip == 0) {
                continue;
            }
            uint64_t thread = warp * WARP_LANES + lane;
            uint64_t offset =
                step->stride ? thread * step->stride : mixed(thread + 1000 * i) % (BYTES / 2);
            uint64_t address = step->base + offset / step->size * step->size;
            warp_call(repeat * STEPS + i);
            if (step->blocks) {
                address = step->base + (uint64_t)warp * 4096;
                note(kernel->op, step->access, address, step->blocks * 16);
                record_bulk(kernel->record, step->pc, address, step->blocks, step->access);
            } else {
                note(kernel->op, step->access, address, step->size);
                record_access(kernel->record, step->pc, address, step->size, step->access);
            }
        }
    }
}

static struct kernel random_kernel(struct rng *rng, uint64_t op, uint64_t user)
{
    struct kernel kernel = {
        (struct patch_launch *)(uintptr_t)user, op, 1 + (unsigned)rng_below(rng, 2), {{0}}};
    for (unsigned i = 0; i < STEPS; i++) {
        struct step *step = &kernel.steps[i];
        static const uint32_t strides[] = {1, 1, 1, 2, 3, 5, 0};
        step->pc =
            UINT64_C(0x7f00001000) + 16 * (STEPS * rng_below(rng, 333) + i); /* each its own */
        step->size = 1u << rng_below(rng, 5);
        step->access = (uint32_t)rng_below(rng, 3);
        step->base = BASE + 16 * rng_below(rng, BYTES / 64);
        step->stride = strides[rng_below(rng, 7)] * (uint64_t)step->size;
        step->skip = rng_below(rng, 3) ? 0 : 2 + (uint32_t)rng_below(rng, 9);
        step->blocks = rng_below(rng, 8) ? 0 : 1 + (uint32_t)rng_below(rng, 255);
    }
    return kernel;
}

static void compare(uint64_t op)
{
    for (unsigned access = 0; access < 3; access++) {
        const unsigned char *seen = test.seen[op].accesses[access];
        const unsigned char *done = test.done[op].accesses[access];
        for (uint64_t i = 0; i < BYTES; i++) {
            static const unsigned char none[512];
            if (i % sizeof none == 0 && memcmp(seen + i, none, sizeof none) == 0 &&
                memcmp(done + i, none, sizeof none) == 0) {
                i += sizeof none - 1;
            } else if ((seen[i] != 0) != done[i]) {
                fail_msg("op %u access %u byte %u: seen %u", (unsigned)op, access, (unsigned)i,
                         seen[i]);
            }
        }
    }
    assert_int_equal(test.closed[op], 1);
    assert_int_equal(test.lost[op], 0);
}

static struct observed_kernel kernels_seen[OPS];

/* What is known of the kernel's instructions: of each the window that it is said to be in. */
static void give_hints(struct rng *rng, uint64_t op, const struct kernel *kernel)
{
    static struct patch_launch record;
    struct pool_launch launch = {.kernel = &kernels_seen[op], .window_count = PATCH_WINDOWS};
    memset(&record, 0, sizeof record);
    for (uint32_t i = 0; i < PATCH_WINDOWS; i++) {
        launch.windows[i].first = 1 + i;
        launch.windows[i].operands = UINT64_C(1) << i;
    }
    for (unsigned i = 0; i < STEPS; i++) {
        const struct step *step = &kernel->steps[i];
        uint32_t kind = PATCH_KIND(step->access, step->blocks == 0 && step->size < 4);
        record.sites[i].head = (1 + rng_below(rng, 3)) << 32 | PATCH_CODE(step->pc, kind);
    }
    hints_learn(&launch, &record);
}

/* Guesses of a launch; `taken`: those that were right. */
static unsigned count_guesses(uint64_t user, const struct pool *pool, unsigned *taken)
{
    const struct patch_launch *record = (void *)(uintptr_t)user;
    const struct patch_launch *template = &pool->templates[pool_record(pool, user)];
    unsigned guesses = 0;
    for (uint32_t i = 0; i < PATCH_SITES; i++) {
        bool is_guess = template->sites[i].head & PATCH_GUESS;
        guesses += is_guess;
        *taken += is_guess && !(record->sites[i].head & PATCH_GUESS);
    }
    return guesses;
}

/* Windows of the launches of an operation, by a plan that was drawn, for kinds that were. */
static void give_windows(struct rng *rng, struct pool *pool, uint64_t op, uint64_t user)
{
    struct window_plan plan = {.count = 0};
    uint64_t at = (BASE >> PATCH_WINDOW_SHIFT) - rng_below(rng, 2);
    uint32_t count = (uint32_t)rng_below(rng, PATCH_WINDOWS + 1);
    while (plan.count < count) {
        plan.items[plan.count].first = at + rng_below(rng, 3);
        plan.items[plan.count].end = plan.items[plan.count].first + 1 + rng_below(rng, 4);
        plan.items[plan.count].operands = UINT64_C(1) << plan.count;
        at = plan.items[plan.count++].end;
    }
    kernels_seen[op].kinds = (unsigned)rng_below(rng, 128) & 126;
    windows_give(pool, user, &plan, 1, STREAM);
}

/* Bits of all kinds that the windows of a launch were used for. */
static unsigned count_used(uint64_t user)
{
    const struct patch_launch *record = (void *)(uintptr_t)user;
    const struct patch_flags *flags = (void *)(uintptr_t)record->flags;
    unsigned used = 0;
    for (uint32_t i = 0; i < record->window_count; i++) {
        used += (unsigned)__builtin_popcount(flags->touched[i]);
    }
    return used;
}

static void is_zero(uint64_t address, uint64_t bytes)
{
    const char *at = (const char *)(uintptr_t)address;
    assert_true(bytes == 0 || (*at == 0 && memcmp(at, at + 1, bytes - 1) == 0));
}

/* Whatever a launch left is gone: all memory is free and zeroed. */
static void is_clean(const struct pool *pool)
{
    assert_true(pool->slabs.used_bytes == 0);
    is_zero(pool->slabs.items[0].begin, pool->slabs.bytes);
    is_zero(pool->pages + PATCH_PAGE_FIRST * PATCH_PAGE_BYTES,
            (pool->page_count - PATCH_PAGE_FIRST) * (uint64_t)PATCH_PAGE_BYTES);
    const struct patch_flags *flags = (void *)(uintptr_t)pool->flags;
    for (uint32_t i = 0; i < pool->record_count; i++) {
        assert_memory_equal(&flags[i], &(struct patch_flags){0}, sizeof *flags);
    }
    const struct patch_launch *records = (void *)(uintptr_t)pool->records;
    assert_memory_equal(records, pool->templates, pool->record_count * sizeof *records);
    static const struct patch_site none[PATCH_SITES];
    for (uint32_t i = 0; i < pool->record_count; i++) {
        assert_memory_equal(records[i].sites, none, sizeof none);
    }
    assert_true(pool->pages_left == pool->page_count - PATCH_PAGE_FIRST);
}

static uint64_t launch(struct pool *pool, uint64_t op, struct sanitizer_stream *stream,
                       uint32_t *mark)
{
    uint64_t user = pool_begin(pool, op, &kernels_seen[op], stream, mark);
    if (user) {
        pool_taken(pool, user);
    }
    return user;
}

static uint64_t begin(struct pool *pool, uint64_t op)
{
    uint32_t mark;
    return launch(pool, op, STREAM, &mark);
}

static struct pool *open_pool(uint64_t bytes)
{
    struct pool *pool = pool_create(&api, NULL, bytes);
    assert_non_null(pool);
    atomic_store(&pool->stream, STREAM);
    memset(&test, 0, sizeof test);
    test.sink.put = on_event;
    return pool;
}

/* Launches one behind the other: pages and records are used again, cleaned. */
static void every_byte_and_no_other(void **state)
{
    uint64_t seed = getenv("SSAN_SEED") ? strtoull(getenv("SSAN_SEED"), NULL, 0) : 7;
    struct rng rng = {seed};
    struct pool *pool = open_pool(UINT64_C(8) << 20);
    unsigned used = 0, guesses = 0, taken = 0;
    printf("seed %llu\n", (unsigned long long)seed);
    for (unsigned round = 0; round < 60 || round < 2 * pool->record_count; round++) {
        uint64_t op = round % OPS;
        unsigned warps = 1 + (unsigned)rng_below(&rng, 6);
        memset(&test.seen[op], 0, sizeof test.seen[op]);
        memset(&test.done[op], 0, sizeof test.done[op]);
        test.closed[op] = 0;
        uint64_t user = begin(pool, op);
        assert_true(user != 0);
        struct kernel kernel = random_kernel(&rng, op, user);
        if (round % 4) {
            give_hints(&rng, op, &kernel);
            failing.count = round % 7 == 0;
            failing.takes_place = round % 2;
            give_windows(&rng, pool, op, user);
            failing.count = 0;
        }
        uint64_t before = pool_count(pool) - 1;
        pool_joined(pool, NULL, before);
        assert_int_equal(pool_drain(pool, &test.sink), 0);
        warp_run(&rng, warps, run_lane, &kernel);
        used += count_used(user);
        guesses += count_guesses(user, pool, &taken);
        pool_joined(pool, round % 2 ? STREAM : NULL, before + 1);
        assert_int_equal(pool_drain(pool, &test.sink), 1);
        assert_int_equal(pool_in_flight(pool), 0);
        compare(op);
        is_clean(pool);
    }
    printf("windows were used for %u kinds of accesses, %u of %u guesses were right\n", used, taken,
           guesses);
    assert_true(test.runs > 0 && test.leaves > 0 && used + taken > 100);
    assert_true(taken > 10 && guesses > taken + 10);
    pool_destroy(pool);
}

/* What the drain of a launch has told of its kernel is guessed of the next one. */
static void drains_teach(void **state)
{
    struct rng rng = {3};
    struct pool *pool = open_pool(UINT64_C(16) << 20);
    struct window_plan plan = {.count = 1};
    plan.items[0] = (struct planned_window){BASE >> PATCH_WINDOW_SHIFT,
                                            (BASE + BYTES) >> PATCH_WINDOW_SHIFT, 1};
    unsigned guesses[2], taken[2] = {0, 0};
    kernels_seen[0] = (struct observed_kernel){.kinds = 126};
    for (unsigned i = 0; i < 2; i++) {
        memset(&test.seen[0], 0, sizeof test.seen[0]);
        memset(&test.done[0], 0, sizeof test.done[0]);
        test.closed[0] = 0;
        uint64_t user = begin(pool, 0);
        struct kernel kernel = {(struct patch_launch *)(uintptr_t)user, 0, 1, {{0}}};
        for (unsigned k = 0; k < STEPS; k++) {
            kernel.steps[k] = (struct step){16 * k, BASE, 4, k % 3, 4, 0, 0};
        }
        windows_give(pool, user, &plan, 1, STREAM);
        warp_run(&rng, 2, run_lane, &kernel);
        guesses[i] = count_guesses(user, pool, &taken[i]);
        pool_joined(pool, STREAM, pool_count(pool));
        assert_int_equal(pool_drain(pool, &test.sink), 1);
        compare(0);
        is_clean(pool);
    }
    assert_int_equal(guesses[0], 0);
    assert_int_equal(guesses[1], STEPS);
    assert_int_equal(taken[1], STEPS);
    pool_destroy(pool);
}

/* Launches of several streams end in another order than they began; each owns its pages all the
 * same, and ends by a mark in its stream. */
static void launches_in_flight(void **state)
{
    struct rng rng = {11};
    struct pool *pool = open_pool(UINT64_C(32) << 20);
    struct kernel kernels[OPS];
    for (uint64_t op = 0; op < OPS; op++) {
        uint32_t mark;
        struct sanitizer_stream *stream = (struct sanitizer_stream *)(uintptr_t)(16 * (1 + op / 2));
        uint64_t user = launch(pool, op, stream, &mark);
        assert_true(user != 0);
        assert_int_equal(mark, POOL_STREAMS);
        give_windows(&rng, pool, op, user);
        kernels[op] = random_kernel(&rng, op, user);
    }
    assert_int_equal(pool_drain(pool, &test.sink), 0); /* asks for marks */
    for (unsigned i = 0; i < OPS / 2; i++) {
        uint32_t stream = (3 * i + 1) % (OPS / 2);
        warp_run(&rng, 2, run_lane, &kernels[2 * stream]);
        warp_run(&rng, 2, run_lane, &kernels[2 * stream + 1]);
        assert_int_equal(pool_drain(pool, &test.sink), 0);
        pool_mark(pool, stream);
        pool_mark(pool, stream);
        assert_int_equal(pool_drain(pool, &test.sink), 2);
    }
    for (uint64_t op = 0; op < OPS; op++) {
        compare(op);
    }
    assert_int_equal(pool_drain(pool, &test.sink), 0);
    is_clean(pool);
    pool_destroy(pool);
}

/* Streams come and go; a stream that ends has a mark behind its last launch, whatever is on its
 * way. */
static void ends_of_streams(void **state)
{
    struct pool *pool = open_pool(UINT64_C(64) << 20);
    for (uint64_t i = 0; i < 3 * POOL_STREAMS; i++) {
        struct sanitizer_stream *stream = (struct sanitizer_stream *)(uintptr_t)(16 * (1 + i));
        uint32_t mark;
        assert_true(launch(pool, 4, stream, &mark) != 0);
        assert_int_equal(mark, POOL_STREAMS);
        assert_int_equal(pool_drain(pool, &test.sink), 0);
        assert_true(launch(pool, 4, stream, &mark) != 0);
        assert_true(mark < POOL_STREAMS);
        pool_mark(pool, mark);
        assert_true(launch(pool, 4, stream, &mark) != 0);
        assert_int_equal(mark, POOL_STREAMS); /* one is on its way */
        pool_end_stream(pool, stream);
        assert_int_equal(pool_drain(pool, &test.sink), 3);
    }
    assert_int_equal(test.closed[4], 9 * POOL_STREAMS);
    for (unsigned i = 0; i < POOL_STREAMS; i++) {
        uint32_t mark;
        struct sanitizer_stream *stream = (struct sanitizer_stream *)(uintptr_t)(8 + 16 * i);
        assert_true(launch(pool, 5, stream, &mark) != 0);
    }
    assert_int_equal(begin(pool, 5), 0); /* all are in use */
    pool_end_streams(pool);
    assert_int_equal(pool_drain(pool, &test.sink), POOL_STREAMS);
    assert_true(begin(pool, 5) != 0);
    pool_destroy(pool);
}

/* A launch that has begun on another thread, and that the driver has not taken yet, is covered by
 * no mark and no join. */
static void begun_only(void **state)
{
    struct pool *pool = open_pool(UINT64_C(4) << 20);
    uint32_t mark;
    assert_true(begin(pool, 1) != 0);
    assert_int_equal(pool_drain(pool, &test.sink), 0);
    uint64_t second = pool_begin(pool, 2, NULL, STREAM, &mark);
    assert_true(second != 0 && mark < POOL_STREAMS);
    assert_true(begin(pool, 3) != 0);
    assert_int_equal(pool_count(pool), 1);
    pool_mark(pool, mark);
    pool_joined(pool, NULL, pool_count(pool));
    assert_int_equal(pool_drain(pool, &test.sink), 1);
    assert_int_equal(test.closed[1], 1);
    pool_taken(pool, second);
    assert_int_equal(pool_count(pool), 3);
    pool_joined(pool, NULL, pool_count(pool));
    assert_int_equal(pool_drain(pool, &test.sink), 2);
    assert_int_equal(test.closed[2] + test.closed[3], 2);
    pool_destroy(pool);
}

/* A pool without pages loses accesses and says so; afterwards it is whole again. */
static void no_pages_left(void **state)
{
    struct rng rng = {5};
    struct pool *pool = open_pool(UINT64_C(4) << 20);
    uint64_t user = begin(pool, 1);
    struct kernel kernel = {(struct patch_launch *)(uintptr_t)user, 1, 1, {{0}}};
    for (unsigned i = 0; i < STEPS; i++) {
        kernel.steps[i] = (struct step){16 * i, BASE, 1, i % 3, 0, 0, 0};
    }
    struct pool_marks *marks = (void *)(uintptr_t)pool->marks;
    marks->control.head = pool->tail - 4;
    pool->head_seen = pool->tail - 4;
    warp_run(&rng, 1, run_lane, &kernel);
    pool_joined(pool, STREAM, pool_count(pool));
    assert_int_equal(pool_drain(pool, &test.sink), 1);
    assert_int_equal(test.lost[1], 1);
    assert_int_equal(test.closed[1], 1);
    user = begin(pool, 2);
    kernel = (struct kernel){(struct patch_launch *)(uintptr_t)user, 2, 1, {{0}}};
    for (unsigned i = 0; i < STEPS; i++) {
        kernel.steps[i] = (struct step){16 * i, BASE, 4, 1, 4, 0, 0};
    }
    warp_run(&rng, 1, run_lane, &kernel);
    pool_joined(pool, STREAM, pool_count(pool));
    assert_int_equal(pool_drain(pool, &test.sink), 1);
    compare(2);
    pool_destroy(pool);
}

/* Records are finite; what was cancelled is free again; what never ends is lost at the end. */
static void records_run_out(void **state)
{
    struct pool *pool = open_pool(UINT64_C(4) << 20);
    uint64_t user = 0, last = 0, count = 0;
    while ((user = begin(pool, 3)) != 0) {
        last = user;
        count++;
    }
    assert_int_equal(count, pool->record_count);
    pool_cancel(pool, last);
    assert_int_equal(begin(pool, 3), last);
    assert_int_equal(begin(pool, 3), 0);
    pool_wait(pool, 1);
    pool_give_up(pool, &test.sink);
    assert_int_equal(test.lost[3], count);
    assert_int_equal(pool_in_flight(pool), 0);
    pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_and_no_other),
        cmocka_unit_test(drains_teach),
        cmocka_unit_test(launches_in_flight),
        cmocka_unit_test(ends_of_streams),
        cmocka_unit_test(begun_only),
        cmocka_unit_test(no_pages_left),
        cmocka_unit_test(records_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
