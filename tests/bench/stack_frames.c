/* 64 functions, each in the next, without frame pointers: a stack with as many return addresses. */
#include <stdint.h>

#define API __attribute__((visibility("default")))

typedef uint64_t bench_take(void *self);

API uint64_t bench_frames(unsigned depth, bench_take *take, void *self);

static void touch(const void *place)
{
    __asm__ volatile("" : : "r"(place) : "memory");
}

static uint64_t frame0(unsigned depth, bench_take *take, void *self)
{
    uint64_t result = take(self);
    touch(&result);
    return result;
}

/* Frames of differing sizes; each may stop at its depth. */
#define FRAME(name, inner, bytes)                                                                  \
    static __attribute__((noinline)) uint64_t name(unsigned depth, bench_take *take, void *self)   \
    {                                                                                              \
        char local[bytes];                                                                         \
        uint64_t result;                                                                           \
        touch(local);                                                                              \
        result = depth ? inner(depth - 1, take, self) : take(self);                                \
        touch(&result);                                                                            \
        return result;                                                                             \
    }

#define FOUR(a, b)                                                                                 \
    FRAME(frame##a##1, frame##b, 24)                                                               \
    FRAME(frame##a##2, frame##a##1, 72)                                                            \
    FRAME(frame##a##3, frame##a##2, 200)                                                           \
    FRAME(frame##a##4, frame##a##3, 40)                                                            \
    _Static_assert(1, "a semicolon follows")

FOUR(A, 0);
FOUR(B, A4);
FOUR(C, B4);
FOUR(D, C4);
FOUR(E, D4);
FOUR(F, E4);
FOUR(G, F4);
FOUR(H, G4);
FOUR(I, H4);
FOUR(J, I4);
FOUR(K, J4);
FOUR(L, K4);
FOUR(M, L4);
FOUR(N, M4);
FOUR(O, N4);
FOUR(P, O4);

uint64_t bench_frames(unsigned depth, bench_take *take, void *self)
{
    uint64_t result = frameP4(depth, take, self);
    touch(&result);
    return result;
}
