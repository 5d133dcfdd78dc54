/* Chooses the device and fills the environment of programs on the GPU.
 *
 * Invariant: a run for the virtual device changes nothing in the program's environment. */
#include "cli/device.h"

#include "cli/program.h"

#include <stdlib.h>
#include <string.h>

static enum ssan_status refuse_option(const char *option, const char *device, const char *why,
                                      struct ssan_error *err)
{
    return ssan_fail(err, SSAN_USAGE, 0, "--%s is for %s only, and %s", option, device, why);
}

/* A CUDA program can't run on the virtual device unless `streamsan cc` built it. */
static enum ssan_status refuse_foreign(const char *name, const char *why, struct ssan_error *err)
{
    return ssan_fail(err, SSAN_MISSING, 0,
                     "%s is a CUDA program that was not built for the virtual device%s.\n"
                     "Build it with 'streamsan cc -g -o PROGRAM FILE.cu ...' and run that.",
                     name, why);
}

/* The kind of the program; one that can't be found is OTHER, and its start will say so. */
static enum program_kind kind_of(const char *name)
{
    char path[4096];
    return program_find(name, path, sizeof path) ? program_kind(path) : PROGRAM_OTHER;
}

static enum ssan_status choose_gpu(struct device *device, const struct options *options,
                                   enum program_kind kind, struct ssan_error *err)
{
    if (options->virtual_option) {
        return refuse_option(options->virtual_option, "the virtual device",
                             "this run is for the GPU", err);
    }
    if (kind == PROGRAM_OURS) {
        return ssan_fail(err, SSAN_MISSING, 0,
                         "%s was built by 'streamsan cc' for the virtual device.\n"
                         "Build it with nvcc for the GPU, or leave %s%s out.",
                         options->arguments[0], options->gpu_option ? "--" : "--device gpu",
                         options->gpu_option ? options->gpu_option : "");
    }
    if (!gpu_is_there()) {
        return ssan_fail(err, SSAN_MISSING, 0,
                         "there is no GPU of NVIDIA's here, or its driver (libcuda.so.1) is not "
                         "installed; 'streamsan doctor' says what is there");
    }
    device->gpu = true;
    return gpu_find(&device->parts, err);
}

static enum ssan_status choose_virtual(const struct options *options, enum program_kind kind,
                                       const char *why, struct ssan_error *err)
{
    if (options->gpu_option) {
        return refuse_option(options->gpu_option, "the GPU", "this run is for the virtual device",
                             err);
    }
    return kind == PROGRAM_CUDA ? refuse_foreign(options->arguments[0], why, err) : SSAN_OK;
}

/* Scripts may start CUDA programs of either kind: both devices' parts then stand ready. */
static enum ssan_status choose_other(struct device *device, const struct options *options,
                                     struct ssan_error *err)
{
    if (options->virtual_option || !gpu_is_there() || gpu_find(&device->parts, NULL)) {
        return SSAN_OK;
    }
    device->gpu = true;
    return SSAN_OK;
}

static enum ssan_status choose(struct device *device, const struct options *options,
                               struct ssan_error *err)
{
    enum program_kind kind = kind_of(options->arguments[0]);
    switch (options->device) {
    case DEVICE_GPU:
        return choose_gpu(device, options, kind, err);
    case DEVICE_VIRTUAL:
        return choose_virtual(options, kind, "", err);
    case DEVICE_AUTO:
        break;
    }
    if (kind == PROGRAM_OURS) {
        return choose_virtual(options, kind, "", err);
    }
    if (kind == PROGRAM_CUDA && !gpu_is_there()) {
        return refuse_foreign(options->arguments[0], ", and there is no GPU here", err);
    }
    if (kind == PROGRAM_CUDA || options->gpu_option) {
        return choose_gpu(device, options, kind, err);
    }
    return choose_other(device, options, err);
}

/* Adds "NAME=VALUE", with `:old` behind it where the variable was set and `list` says so. */
static bool set_word(struct device *device, size_t at, const char *name, const char *value,
                     bool list)
{
    const char *old = list ? getenv(name) : NULL;
    struct strbuf word = {0};
    strbuf_printf(&word, "%s=%s%s%s", name, value, old && *old ? ":" : "", old ? old : "");
    device->environment[at] = strbuf_keep(&word, &device->arena);
    return device->environment[at] != NULL;
}

static bool fill_environment(struct device *device)
{
    return set_word(device, 0, "CUDA_INJECTION64_PATH", device->parts.capture, false) &&
           set_word(device, 1, "NVTX_INJECTION64_PATH", device->parts.capture, false) &&
           set_word(device, 2, "LD_PRELOAD", device->parts.capture, true) &&
           set_word(device, 3, GPU_SANITIZER_ENV, device->parts.sanitizer, false);
}

/* Python's libraries hold thousands of kernels, each of which would be loaded, and patched. */
static bool loads_early(const char *name)
{
    const char *base = strrchr(name, '/');
    return !getenv("CUDA_MODULE_LOADING") && strncmp(base ? base + 1 : name, "python", 6) != 0;
}

static void fill_gated(struct device *device, const char *name, bool also)
{
    memcpy(device->gated, device->environment, sizeof device->gated);
    device->gated[DEVICE_WORDS - 1] = loads_early(name) ? "CUDA_MODULE_LOADING=EAGER" : NULL;
    if (also) {
        memcpy(device->environment, device->gated, sizeof device->gated);
    }
}

static bool fill_plan(struct observe_plan *plan, const struct options *options)
{
    size_t i;
    plan->accesses = options->accesses;
    plan->launch_skip = options->launch_skip;
    plan->launch_count = options->launch_count;
    plan->window = options->window;
    plan->device_memory_bytes = options->device_memory;
    if (options->window_name && !(plan->window_name = mem_strdup(options->window_name))) {
        return false;
    }
    for (i = 0; i < options->kernels.count; i++) {
        const struct option_kernel *kernel = &options->kernels.items[i];
        if (!observe_plan_add_kernel(plan, kernel->leave_out, kernel->glob)) {
            return false;
        }
    }
    for (i = 0; i < options->gates.count; i++) {
        if (!observe_plan_add_gate(plan, options->gates.items[i])) {
            return false;
        }
    }
    return true;
}

enum ssan_status device_choose(struct device *device, const struct options *options,
                               struct ssan_error *err)
{
    enum ssan_status status;
    memset(device, 0, sizeof *device);
    observe_plan_init(&device->observe);
    status = choose(device, options, err);
    if (!status && device->gpu &&
        (!fill_environment(device) || !fill_plan(&device->observe, options))) {
        status = ssan_no_memory(err);
    }
    fill_gated(device, options->arguments[0], options->gates.count > 0);
    return status;
}

enum ssan_status device_choose_virtual(const struct options *options, struct ssan_error *err)
{
    enum program_kind kind = kind_of(options->arguments[0]);
    bool none = options->device == DEVICE_AUTO && !gpu_is_there();
    return choose_virtual(options, kind, none ? ", and there is no GPU here" : "", err);
}

void device_finish(struct device *device)
{
    observe_plan_finish(&device->observe);
    arena_finish(&device->arena);
}
