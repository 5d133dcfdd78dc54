/* Runs the scenario that the first word names. */
#include "capture/program/program.h"

#include <stdio.h>
#include <string.h>

static void scale(void **arguments)
{
    float *data = *(float **)arguments[0];
    for (int i = 0; data && i < 32; i++) {
        fake_access(&data[i], 4, 3);
        data[i] *= 2;
    }
}

static void add(void **arguments)
{
    int *to = *(int **)arguments[0];
    const int *from = *(const int **)arguments[1];
    for (int i = 0; to && from && i < 32; i++) {
        to[i] += from[i];
    }
}

const struct fake_kernel kernel_scale = {"_Z5scalePfi", scale, {8, 4}};
const struct fake_kernel kernel_add = {"_ZN2ns3addIiEEvPT_S2_", add, {8, 8}};

cudaError_t launch(const struct fake_kernel *kernel, void *first, void *second, cudaStream_t stream)
{
    void *arguments[] = {&first, &second};
    return cudaLaunchKernel(kernel, (struct cuda_dim3){1, 1, 1}, (struct cuda_dim3){32, 1, 1},
                            arguments, 0, stream);
}

int main(int count, char **words)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } scenarios[] = {
#define SCENARIO(name) {#name, scenario_##name},
#include "capture/program/scenarios.def"
#undef SCENARIO
    };
    for (size_t i = 0; count > 1 && i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        if (!strcmp(words[1], scenarios[i].name)) {
            return scenarios[i].run();
        }
    }
    fprintf(stderr, "no such scenario\n");
    return 2;
}
