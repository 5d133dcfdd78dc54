/* Which device a run is for, and what the program needs of us there.
 *
 * Under --device auto a program that `streamsan cc` built runs on the virtual device; another CUDA
 * program, and a script or any other program where a GPU and all parts are there, on the GPU.
 * Options that only one of the two knows decide for it, or are refused. One thread. */
#ifndef SSAN_CLI_DEVICE_H
#define SSAN_CLI_DEVICE_H

#include "cli/gpu.h"
#include "cli/options.h"

#include "trace/observe_plan.h"

#define DEVICE_WORDS 5 /* of the environment */

struct device {
    bool gpu;
    struct observe_plan observe; /* for the GPU */
    struct gpu_parts parts;
    /* "NAME=VALUE" for the program, NULL-terminated; of strings in `arena`. `gated`: where kernels
     * are held, which needs all code loaded early, since loading waits for the device. */
    const char *environment[DEVICE_WORDS + 1], *gated[DEVICE_WORDS + 1];
    struct arena arena;
};

/* Decides from the options and the program. SSAN_USAGE: an option of the other device was given;
 * SSAN_MISSING: the program, a GPU or a part is not there, and what to do; SSAN_NO_MEMORY. What
 * can't be found or executed is left to the start of the program. `device` needs device_finish in
 * any case. */
enum ssan_status device_choose(struct device *device, const struct options *options,
                               struct ssan_error *err);
/* The same for a verb that knows the virtual device only. */
enum ssan_status device_choose_virtual(const struct options *options, struct ssan_error *err);

void device_finish(struct device *device);

#endif
