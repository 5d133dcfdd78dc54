/* The comparison library from outside of this project: 0 if it tells what is equal from what is
 * not. */
#include <streamsan/compare.h>

#include <stdio.h>

int main(void)
{
    const float expected[] = {1.0f, 2.0f}, output[] = {1.0f, 2.5f};
    struct ssan_compare_options options = {.size_bytes = sizeof options,
                                           .type = SSAN_COMPARE_FLOAT32};
    struct ssan_compare_result result = {0};
    if (ssan_compare_add(&options, expected, output, 2, &result) != SSAN_COMPARE_DIFFERENT ||
        result.different != 1) {
        return 1;
    }
    puts("1 of 2 differs");
    return 0;
}
