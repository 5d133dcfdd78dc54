/* What a host stack costs: ns of CPU time for one of 20, 40 and 60 frames that was seen before, by
 * the capture library, by backtrace(3) and, where it is installed, by libunwind; and one that was
 * not. Usage: PROGRAM. */
#include "capture/stack.h"

#include "bench.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdint.h>
#include <stdlib.h>

typedef uint64_t bench_take(void *self);

extern uint64_t bench_frames(unsigned depth, bench_take *take, void *self);

enum { ROUNDS = 20000, ROOM = 128 };

static void put(struct ssan_sink *sink, const struct ssan_event *event)
{
}

struct job {
    int (*take)(void);
    int rounds;
    double ns;
    int frames;
};

static int by_us(void)
{
    return (int)stack_site();
}

static int by_backtrace(void)
{
    void *frames[ROOM];
    return backtrace(frames, ROOM);
}

/* Not linked: it has a function backtrace of its own. */
static int (*unwind)(void **frames, int room);

static int by_libunwind(void)
{
    void *frames[ROOM];
    return unwind(frames, ROOM);
}

static uint64_t measure(void *self)
{
    struct job *job = self;
    double best = 1e9;
    job->frames = job->take();
    for (int turn = 0; turn < 5; turn++) {
        double begin = bench_seconds();
        for (int i = 0; i < job->rounds; i++) {
            (void)job->take();
        }
        double taken = (bench_seconds() - begin) * 1e9 / job->rounds;
        best = taken < best ? taken : best;
    }
    job->ns = best;
    return 1;
}

static double ns_of(int (*take)(void), unsigned depth, int rounds)
{
    struct job job = {take, rounds, 0, 0};
    (void)bench_frames(depth, measure, &job);
    return job.ns;
}

static uint64_t take_once(void *self)
{
    double begin = bench_seconds();
    (void)stack_site();
    *(double *)self = (bench_seconds() - begin) * 1e9;
    return 1;
}

int main(void)
{
    static const unsigned depths[] = {10, 30, 50};
    static struct bench bench;
    struct ssan_sink sink = {.put = put};
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    double first = 0;
    if (library) {
        *(void **)&unwind = dlsym(library, "unw_backtrace");
    }
    if (!stack_open(&sink)) {
        return EXIT_FAILURE;
    }
    printf("%-44s %14s %-12s %14s\n", "", "streamsan", "", "the other");
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        struct job count = {by_backtrace, 1, 0, 0};
        double ours = ns_of(by_us, depths[i], ROUNDS);
        char name[80];
        (void)bench_frames(depths[i], measure, &count);
        snprintf(name, sizeof name, "stack of %d frames, and backtrace(3)", count.frames);
        bench_add(&bench, name, ours, "ns", ns_of(by_backtrace, depths[i], ROUNDS / 20));
        if (unwind) {
            snprintf(name, sizeof name, "stack of %d frames, and libunwind", count.frames);
            bench_add(&bench, name, ours, "ns", ns_of(by_libunwind, depths[i], ROUNDS));
        }
    }
    stack_close();
    if (!stack_open(&sink)) {
        return EXIT_FAILURE;
    }
    (void)bench_frames(50, take_once, &first);
    bench_add(&bench, "the first stack, of 60 frames", first, "ns", 0);
    return bench_write(&bench, "stack") ? EXIT_SUCCESS : EXIT_FAILURE;
}
