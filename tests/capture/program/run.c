/* The kernels, and the scenarios by name. */
#include "capture/program/program.h"

#include <stdio.h>
#include <string.h>

/* Every thread one element, as on the device. */
static void scale(void **arguments)
{
    float *data = *(float **)arguments[0];
    for (int i = 0; data && i < 32; i++) {
        fake_access(0, &data[i], 4, FAKE_READ);
        fake_access(1, &data[i], 4, FAKE_WRITE);
        data[i] *= 2;
    }
}

static void add(void **arguments)
{
    int *to = *(int **)arguments[0];
    const int *from = *(const int **)arguments[1];
    for (int i = 0; to && from && i < 32; i++) {
        fake_access(0, &from[i], 4, FAKE_READ);
        fake_access(1, &to[i], 4, FAKE_ATOMIC);
        to[i] += from[i];
    }
}

/* Every second byte. */
static void bytes(void **arguments)
{
    char *data = *(char **)arguments[0];
    for (int i = 0; data && i < 32; i++) {
        fake_access(0, &data[2 * i], 1, FAKE_WRITE);
        data[2 * i] = 1;
    }
}

const struct fake_kernel kernel_scale = {"_Z5scalePfi", scale, {8, 4}, 0};
const struct fake_kernel kernel_add = {"_ZN2ns3addIiEEvPT_S2_", add, {8, 8}, 0};
const struct fake_kernel kernel_bytes = {"_Z5bytesPc", bytes, {8}, 0};
/* A tensor-map copy reads its operand, of which no patch tells. */
const struct fake_kernel kernel_tensor = {"_Z6tensorPfS_", NULL, {8, 8}, 0x1b4};
/* griddepcontrol.wait. */
const struct fake_kernel kernel_waiting = {"_Z7waitingPf", scale, {8}, 0x782e};

cudaError_t launch(const struct fake_kernel *kernel, void *first, void *second, cudaStream_t stream)
{
    void *arguments[] = {&first, &second};
    return cudaLaunchKernel(kernel, (struct cuda_dim3){1, 1, 1}, (struct cuda_dim3){32, 1, 1},
                            arguments, 0, stream);
}

int program_run(const char *scenario)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } scenarios[] = {
#define SCENARIO(name) {#name, scenario_##name},
#include "capture/program/scenarios.def"
#undef SCENARIO
    };
    static const struct fake_kernel *const kernels[] = {
        &kernel_scale, &kernel_add, &kernel_bytes, &kernel_tensor, &kernel_waiting, NULL};
    fake_register(kernels);
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        if (!strcmp(scenario, scenarios[i].name)) {
            return scenarios[i].run();
        }
    }
    fprintf(stderr, "no such scenario\n");
    return 2;
}
