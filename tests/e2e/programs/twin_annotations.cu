// RUN:
// VERDICT: errors
// EXIT: 66
// STDOUT: findings 0, ignored 0, then 1
// FINDING: error SSAN-WAW 'told' [0,16384) first=kernel:fill then=kernel:fill nearest=none
/* One race twice: on ignored bytes it is not told, behind SSAN_UNIGNORE it is. SSAN_FINDINGS tells
 * the program itself, while nothing has joined the streams. */
#include "common.h"

static void race(cudaStream_t a, cudaStream_t b, int *memory)
{
    fill<<<GRID, 256, 0, a>>>(memory, 1);
    fill<<<GRID, 256, 0, b>>>(memory, 2);
}

int main(void)
{
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    int *told = new_device(BYTES);
    SSAN_NAME(told, "told");
    unsigned long long before = SSAN_FINDINGS();

    SSAN_IGNORE(told, BYTES);
    race(a, b, told);
    unsigned long long ignored = SSAN_FINDINGS();
    CK(cudaDeviceSynchronize());
    SSAN_UNIGNORE(told, BYTES);

    race(a, b, told);
    unsigned long long after = SSAN_FINDINGS();
    printf("findings %llu, ignored %llu, then %llu\n", before, ignored, after);
    CK(cudaDeviceSynchronize());
    return 0;
}
