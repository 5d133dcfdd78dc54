/* Opens libsanitizer-public.so at run time and reads what differs between its versions.
 *
 * Invariant: a struct sanitizer_api that sanitizer_load has filled has every NEEDED function. The
 * layout of the data is not told by the library; it is found by asking for a callback that came
 * with it (green contexts, 13.1), which older libraries refuse. Cost: one dlopen, about 30
 * look-ups. */
#include "capture/sanitizer_abi.h"

#include <dlfcn.h>
#include <string.h>

enum need { NEEDED, OPTIONAL };

struct function {
    enum need need;
    const char *symbol;
    size_t offset; /* of its pointer in struct sanitizer_api */
};

static const struct function functions[] = {
#define CALL(need, member, symbol, parameters)                                                     \
    {need, #symbol, offsetof(struct sanitizer_api, member)},
#include "capture/sanitizer_api.def"
};

#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))

enum ssan_status sanitizer_load(const char *path, struct sanitizer_api *api, struct ssan_error *err)
{
    memset(api, 0, sizeof(*api));
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        const char *reason = dlerror();
        return ssan_fail(err, SSAN_MISSING, 0, "%s can't be loaded: %s", path,
                         reason ? reason : "no reason given");
    }
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        void *address = dlsym(library, functions[i].symbol);
        if (!address && functions[i].need == NEEDED) {
            memset(api, 0, sizeof(*api));
            dlclose(library);
            return ssan_fail(err, SSAN_MISSING, 0,
                             "%s has no %s; the Compute Sanitizer of CUDA 12.4 or newer is needed",
                             path, functions[i].symbol);
        }
        memcpy((char *)api + functions[i].offset, &address, sizeof(address));
    }
    api->library = library;
    return SSAN_OK;
}

const char *sanitizer_result_text(const struct sanitizer_api *api, uint32_t result)
{
    const char *text = NULL;
    if (api->get_result_string && api->get_result_string(result, &text) == SANITIZER_OK && text) {
        return text;
    }
    return "unknown error";
}

enum ssan_status sanitizer_subscribe(struct sanitizer_api *api, sanitizer_callback *callback,
                                     void *user, struct ssan_error *err)
{
    uint32_t result = api->subscribe(&api->subscriber, callback, user);
    if (result == SANITIZER_LIMIT_REACHED) {
        return ssan_fail(
            err, SSAN_UNSUPPORTED, 0,
            "another tool has subscribed to the Compute Sanitizer API already (compute-sanitizer, "
            "a debugger or a profiler); only one can at a time");
    }
    if (result != SANITIZER_OK) {
        return ssan_fail(
            err, SSAN_UNSUPPORTED, 0,
            "the Compute Sanitizer API refuses: %s (%u); it and the driver may not fit",
            sanitizer_result_text(api, result), result);
    }
    uint32_t enabled = 0;
    api->has_green_contexts =
        api->get_callback_state(&enabled, api->subscriber, SANITIZER_RESOURCE,
                                SANITIZER_GREEN_CONTEXT_CREATION_FINISHED) == SANITIZER_OK;
    return SSAN_OK;
}

/* The three layouts from 13.1 on. */
struct green_context_data {
    CUcontext context;
    CUgreenCtx green;
    CUdevice device;
};

struct green_stream_data {
    CUcontext context;
    CUgreenCtx green;
    CUstream stream;
    struct sanitizer_stream *handle;
};

struct green_event_data {
    CUevent event;
    CUcontext context;
    CUgreenCtx green;
    CUstream stream;
    struct sanitizer_stream *handle;
};

struct sanitizer_context_data sanitizer_context_data(const struct sanitizer_api *api,
                                                     const void *data)
{
    if (!api->has_green_contexts) {
        return *(const struct sanitizer_context_data *)data;
    }
    const struct green_context_data *green = data;
    return (struct sanitizer_context_data){.context = green->context, .device = green->device};
}

struct sanitizer_stream_data sanitizer_stream_data(const struct sanitizer_api *api,
                                                   const void *data)
{
    if (!api->has_green_contexts) {
        return *(const struct sanitizer_stream_data *)data;
    }
    const struct green_stream_data *green = data;
    return (struct sanitizer_stream_data){
        .context = green->context, .stream = green->stream, .handle = green->handle};
}

struct sanitizer_event_data sanitizer_event_data(const struct sanitizer_api *api, const void *data)
{
    if (!api->has_green_contexts) {
        return *(const struct sanitizer_event_data *)data;
    }
    const struct green_event_data *green = data;
    return (struct sanitizer_event_data){.event = green->event,
                                         .context = green->context,
                                         .stream = green->stream,
                                         .handle = green->handle};
}
