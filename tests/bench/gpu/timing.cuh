/* Time of a piece of device work as the host sees it, joins included.
 *
 * Each round is LAUNCHES pieces and one join of the device; the first round is not counted. A program prints one line
 * `NAME ms=BEST median=M rounds=R`: milliseconds of one piece. What a tool still does when the program ends is not in it:
 * the runner tells the whole process apart. */
#ifndef SSAN_BENCH_GPU_TIMING_CUH
#define SSAN_BENCH_GPU_TIMING_CUH

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

static inline void must(cudaError_t result, const char *what)
{
    if (result != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
        std::exit(1);
    }
}
#define MUST(call) must(call, #call)

static inline double now_ms()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Calls piece() launches times a round, prints the line; environment ROUNDS overrides `rounds`. */
template <typename Piece>
static void measure(const char *name, int launches, int rounds, Piece piece)
{
    std::vector<double> times;
    if (const char *asked = std::getenv("ROUNDS")) {
        rounds = std::max(1, std::atoi(asked));
    }
    for (int round = 0; round <= rounds; ++round) {
        MUST(cudaDeviceSynchronize());
        double start = now_ms();
        for (int i = 0; i < launches; ++i) {
            piece();
        }
        MUST(cudaGetLastError());
        MUST(cudaDeviceSynchronize());
        if (round) {
            times.push_back((now_ms() - start) / launches);
        }
    }
    std::sort(times.begin(), times.end());
    std::printf("%s ms=%.5f median=%.5f rounds=%d\n", name, times.front(), times[times.size() / 2], rounds);
}

#endif
