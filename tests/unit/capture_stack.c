/* Host stacks of the capture library against backtrace(3) on the same stacks. */
#include "capture/stack.h"

#include "base/mem.h"
#include "base/vec.h"
#include "unit/capture_frames.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define DEPTH 256

struct site {
    uint64_t *frames;
    uint32_t count;
};

/* What the trace was told, under a lock. */
static struct {
    struct ssan_sink sink;
    pthread_mutex_t lock;
    VEC(struct site) sites; /* id - 1 */
    VEC(uint64_t) bases;    /* module - 1 */
    uint64_t lost, checks;
} told = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void put(struct ssan_sink *sink, const struct ssan_event *event)
{
    pthread_mutex_lock(&told.lock);
    if (event->kind == SSAN_EV_module) {
        assert_int_equal(event->module.module, told.bases.count + 1);
        assert_true(VEC_PUSH(&told.bases, event->module.base));
    } else if (event->kind == SSAN_EV_site) {
        struct site site = {mem_alloc(event->site.frames.count * sizeof(uint64_t)),
                            event->site.frames.count};
        assert_int_equal(event->site.site, told.sites.count + 1);
        memcpy(site.frames, event->site.frames.ptr, site.count * sizeof *site.frames);
        assert_true(VEC_PUSH(&told.sites, site));
    } else if (event->kind == SSAN_EV_lost) {
        told.lost++;
    }
    pthread_mutex_unlock(&told.lock);
}

static int begin(void **state)
{
    told.sink.put = put;
    return stack_open(&told.sink) ? 0 : -1;
}

static int end(void **state)
{
    stack_close();
    for (size_t i = 0; i < told.sites.count; i++) {
        mem_free(told.sites.items[i].frames);
    }
    VEC_FREE(&told.sites);
    VEC_FREE(&told.bases);
    return 0;
}

/* The return addresses of a site. */
static uint32_t addresses(uint64_t id, uint64_t out[DEPTH])
{
    uint32_t count;
    pthread_mutex_lock(&told.lock);
    assert_in_range(id, 1, told.sites.count);
    count = told.sites.items[id - 1].count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t frame = told.sites.items[id - 1].frames[i];
        assert_in_range(frame >> 48, 1, told.bases.count);
        out[i] = told.bases.items[(frame >> 48) - 1] + (frame & ((UINT64_C(1) << 48) - 1));
    }
    pthread_mutex_unlock(&told.lock);
    return count;
}

/* Both ways of seeing the present stack; the first frames, of this program, are left out of one and
 * are to be found in the other. */
static uint64_t compare(void *self)
{
    void *expected[DEPTH];
    uint64_t got[DEPTH];
    uint64_t id = stack_site();
    uint32_t all = (uint32_t)backtrace(expected, DEPTH), count = addresses(id, got), skip = 0;
    while (skip < all && (uint64_t)(uintptr_t)expected[skip] != got[0]) {
        skip++;
    }
    if (count < 64 && (skip == all || all - skip != count)) {
        fail_msg("%u frames behind %u of %u", count, skip, all);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (got[i] != (uint64_t)(uintptr_t)expected[skip + i]) {
            fail_msg("frame %u of %u: %#lx, not %p", i, count, (unsigned long)got[i],
                     expected[skip + i]);
        }
    }
    told.checks += count;
    return id;
}

static void test_shapes(void **state)
{
    for (unsigned depth = 1; depth <= 50; depth += 7) {
        assert_int_not_equal(frames_recursive(depth, compare, NULL), 0);
        assert_int_not_equal(frames_aligned(depth, compare, NULL), 0);
        assert_int_not_equal(frames_catching(depth, compare, NULL), 0);
        assert_int_not_equal(frames_cleanup(depth, compare, NULL), 0);
    }
    for (size_t bytes = 8; bytes < 100000; bytes *= 3) {
        assert_int_not_equal(frames_variable(bytes, compare, NULL), 0);
    }
    assert_int_not_equal(frames_huge(compare, NULL), 0);
    assert_int_not_equal(frames_sorting(compare, NULL), 0);
    print_message("%lu frames compared with backtrace(3)\n", (unsigned long)told.checks);
}

/* From one place, however often. */
static __attribute__((noinline)) uint64_t from_here(unsigned depth, frames_take *take)
{
    uint64_t id = frames_recursive(depth, take, NULL);
    __asm__ volatile("" : : "r"(&id) : "memory");
    return id;
}

static void test_one_id_for_one_stack(void **state)
{
    uint64_t first = 0, id;
    for (volatile int i = 0; i < 3; i++) { /* volatile: one place of each call */
        id = from_here(5, compare);
        assert_true(i == 0 || id == first);
        first = id;
        id = from_here(6, compare);
        assert_int_not_equal(id, first);
    }
}

static uint64_t walk(void *self)
{
    return stack_site();
}

static void test_depth_limit(void **state)
{
    uint64_t got[DEPTH];
    uint64_t id = frames_recursive(2000, walk, NULL);
    assert_int_equal(addresses(id, got), 64);
}

#if defined __x86_64__
static void test_assembler(void **state)
{
    uint64_t got[DEPTH];
    assert_int_not_equal(frames_odd_register(compare, NULL), 0);
    /* A frame record is followed where there is no table. */
    assert_true(addresses(frames_untold_chain(walk, NULL), got) > 3);
    /* Without either the walk ends there, after the frame that it knows of. */
    assert_in_range(addresses(frames_untold(walk, NULL), got), 1, 64);
}
#endif

static uint64_t in_handler;

static void on_signal(int number)
{
    in_handler = frames_recursive(2, walk, NULL);
}

static uint64_t raise_here(void *self)
{
    raise(SIGUSR1);
    return in_handler;
}

static void test_signal(void **state)
{
    struct sigaction action = {.sa_handler = on_signal}, old;
    uint64_t got[2][DEPTH];
    uint32_t count[2];
    assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
    for (volatile int i = 0; i < 2; i++) { /* volatile: one place of the call */
        uint64_t id = from_here(4, i == 0 ? raise_here : compare);
        count[i] = addresses(id, got[i]);
    }
    assert_int_equal(sigaction(SIGUSR1, &old, NULL), 0);
    /* Below the handler lies the stack that was interrupted. */
    assert_true(count[0] > count[1] + 2);
    for (uint32_t i = 1; i <= count[1]; i++) {
        assert_int_equal(got[0][count[0] - i], got[1][count[1] - i]);
    }
}

static void *in_thread(void *self)
{
    uint64_t id = 0;
    for (int round = 0; round < 200; round++) {
        for (unsigned depth = 1; depth < 20; depth++) {
            uint64_t now = frames_recursive(depth, walk, NULL);
            assert_true(now > 0);
            id += now;
        }
    }
    return (void *)(uintptr_t)id;
}

static void test_threads(void **state)
{
    pthread_t threads[4];
    void *sums[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, in_thread, NULL), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &sums[i]), 0);
        assert_ptr_equal(sums[i], sums[0]);
    }
}

/* Two libraries that take each other's place. */
static void test_reload(void **state)
{
    static const char *const names[] = {SSAN_TEST_FRAMES_A, SSAN_TEST_FRAMES_B};
    uint64_t ids[8], places[8];
    unsigned same_place = 0;
    for (int i = 0; i < 8; i++) {
        void *library = dlopen(names[i % 2], RTLD_NOW | RTLD_LOCAL);
        uint64_t (*function)(unsigned, frames_take *, void *);
        assert_non_null(library);
        *(void **)&function = dlsym(library, "frames_reloaded");
        assert_non_null(function);
        places[i] = (uint64_t)(uintptr_t) * (void **)&function;
        ids[i] = function(5, compare, NULL);
        for (int k = 0; k < i; k++) {
            if (k % 2 == i % 2 && places[k] == places[i]) {
                assert_int_equal(ids[k], ids[i]);
            } else if (k % 2 != i % 2) {
                same_place += places[k] == places[i];
                assert_int_not_equal(ids[k], ids[i]);
            }
        }
        assert_int_equal(dlclose(library), 0);
    }
    print_message("%u pairs of libraries at one place\n", same_place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_one_id_for_one_stack),
        cmocka_unit_test(test_depth_limit),
        cmocka_unit_test(test_signal),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_reload),
#if defined __x86_64__
        cmocka_unit_test(test_assembler),
#endif
    };
    return cmocka_run_group_tests(tests, begin, end);
}
