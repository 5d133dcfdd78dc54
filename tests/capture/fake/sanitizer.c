/* The sanitizer API of the fake driver: one subscriber, what it has enabled, its memory.
 *
 * FAKE_LAYOUT=green in the environment makes it a library from 13.1 on: three structs have a member
 * more in the middle, and callbacks that came with it may be enabled. */
#include "capture/fake/fake.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

enum { DOMAINS = SANITIZER_DOMAIN_END, IDS = 1024 };

struct sanitizer_subscriber {
    sanitizer_callback *callback;
    void *user;
    bool enabled[DOMAINS][IDS];
};

static struct sanitizer_subscriber subscriber;
static bool is_subscribed;

/* Every function of the table is defined here with its own parameters. */
#define CALL(need, member, symbol, parameters) EXPORTED uint32_t symbol parameters;
#include "capture/sanitizer_api.def"

static bool has_green(void)
{
    const char *layout = getenv("FAKE_LAYOUT");
    return layout && !strcmp(layout, "green");
}

/* Ids of a domain that exist, as the real library says: [1, end). */
static uint32_t id_end(uint32_t domain)
{
    static const uint32_t ends[DOMAINS] = {0, 807, 523, 29, 3, 4, 2, 2, 2, 2, 8, 6, 4};
    static const uint32_t green_ends[DOMAINS] = {0, 824, 549, 32, 4, 4, 2, 2, 4, 2, 8, 11, 4};
    return domain < DOMAINS ? (has_green() ? green_ends : ends)[domain] : 0;
}

uint32_t sanitizerGetResultString(uint32_t result, const char **text)
{
    *text = result == SANITIZER_OK ? "no error" : "an error of the fake library";
    return SANITIZER_OK;
}

uint32_t sanitizerSubscribe(struct sanitizer_subscriber **out, sanitizer_callback *callback,
                            void *user)
{
    if (getenv("FAKE_SUBSCRIBE")) {
        return (uint32_t)atoi(getenv("FAKE_SUBSCRIBE"));
    }
    if (is_subscribed) {
        return SANITIZER_LIMIT_REACHED;
    }
    is_subscribed = true;
    subscriber.callback = callback;
    subscriber.user = user;
    *out = &subscriber;
    return SANITIZER_OK;
}

uint32_t sanitizerUnsubscribe(struct sanitizer_subscriber *which)
{
    if (!which || which != &subscriber || !is_subscribed) {
        return SANITIZER_INVALID_PARAMETER;
    }
    is_subscribed = false;
    memset(subscriber.enabled, 0, sizeof(subscriber.enabled));
    return SANITIZER_OK;
}

uint32_t sanitizerGetCallbackState(uint32_t *enabled, struct sanitizer_subscriber *which,
                                   uint32_t domain, uint32_t id)
{
    if (!is_subscribed || !id || id >= id_end(domain)) {
        return SANITIZER_INVALID_PARAMETER;
    }
    *enabled = which->enabled[domain][id];
    return SANITIZER_OK;
}

uint32_t sanitizerEnableCallback(uint32_t enable, struct sanitizer_subscriber *which,
                                 uint32_t domain, uint32_t id)
{
    if (!is_subscribed || !id || id >= id_end(domain)) {
        return SANITIZER_INVALID_PARAMETER;
    }
    which->enabled[domain][id] = enable;
    return SANITIZER_OK;
}

uint32_t sanitizerEnableDomain(uint32_t enable, struct sanitizer_subscriber *which, uint32_t domain)
{
    if (!is_subscribed || !id_end(domain)) {
        return SANITIZER_INVALID_PARAMETER;
    }
    for (uint32_t id = 1; id < IDS; id++) {
        which->enabled[domain][id] = enable;
    }
    return SANITIZER_OK;
}

uint32_t sanitizerEnableAllDomains(uint32_t enable, struct sanitizer_subscriber *which)
{
    for (uint32_t domain = 1; domain < DOMAINS; domain++) {
        sanitizerEnableDomain(enable, which, domain);
    }
    return SANITIZER_OK;
}

uint32_t sanitizerIsInsideRecursiveCallback(uint32_t *inside)
{
    *inside = 0;
    return SANITIZER_OK;
}

void fake_tell(uint32_t domain, uint32_t id, const void *data)
{
    if (is_subscribed && subscriber.enabled[domain][id]) {
        subscriber.callback(subscriber.user, domain, id, data);
    }
}

void fake_tell_stream(uint32_t id, struct fake_stream *stream)
{
    CUstream handle = id == SANITIZER_STREAM_DESTROY_FINISHED ? NULL : fake_handle(stream);
    if (has_green()) {
        const void *data[4] = {stream->context, NULL, handle, stream};
        fake_tell(SANITIZER_RESOURCE, id, data);
        return;
    }
    const void *data[3] = {stream->context, handle, stream};
    fake_tell(SANITIZER_RESOURCE, id, data);
}

void fake_tell_context(uint32_t id, struct fake_context *context)
{
    if (has_green()) {
        struct {
            void *context, *green;
            int device;
        } data = {context, NULL, context->device};
        fake_tell(SANITIZER_RESOURCE, id, &data);
        return;
    }
    struct sanitizer_context_data data = {(CUcontext)context, context->device};
    fake_tell(SANITIZER_RESOURCE, id, &data);
}

void fake_tell_event(uint32_t id, struct fake_event *event, struct fake_context *context,
                     struct fake_stream *stream)
{
    CUstream handle = stream ? fake_handle(stream) : NULL;
    if (has_green()) {
        const void *data[5] = {event, context, NULL, handle, stream};
        fake_tell(SANITIZER_EVENTS, id, data);
        return;
    }
    const void *data[4] = {event, context, handle, stream};
    fake_tell(SANITIZER_EVENTS, id, data);
}

/* -- patches of the one module
 * ----------------------------------------------------------------------*/

enum { INSTRUCTIONS = 41 };

static bool wanted[INSTRUCTIONS], patched[INSTRUCTIONS];

bool fake_is_patched(uint32_t instruction)
{
    return patched[instruction];
}

uint32_t sanitizerAddPatchesFromFile(const char *path, CUcontext context)
{
    fake_lock_driver();
    uint32_t result = access(path, R_OK) == 0 ? SANITIZER_OK : SANITIZER_INVALID_PARAMETER;
    fake_unlock_driver();
    return result;
}

uint32_t sanitizerAddPatches(const void *image, CUcontext context)
{
    fake_lock_driver();
    uint32_t result = image ? SANITIZER_OK : SANITIZER_INVALID_PARAMETER;
    fake_unlock_driver();
    return result;
}

uint32_t sanitizerPatchInstructions(uint32_t instruction, CUmodule module,
                                    const char *device_function)
{
    if (instruction == 0 || instruction >= INSTRUCTIONS || !device_function ||
        getenv("FAKE_STRANGE_PATCHES")) { /* they hold no function of that name */
        return SANITIZER_INVALID_PARAMETER;
    }
    fake_lock_driver();
    wanted[instruction] = true;
    fake_unlock_driver();
    return SANITIZER_OK;
}

/* Without instructions that were named since the last time it does nothing, and says it is well. */
uint32_t sanitizerPatchModule(CUmodule module)
{
    fake_lock_driver();
    for (size_t i = 0; i < INSTRUCTIONS; i++) {
        patched[i] |= wanted[i];
        wanted[i] = false;
    }
    fake_unlock_driver();
    return module ? SANITIZER_OK : SANITIZER_INVALID_PARAMETER;
}

uint32_t sanitizerUnpatchModule(CUmodule module)
{
    fake_lock_driver();
    memset(patched, 0, sizeof(patched));
    fake_unlock_driver();
    return module ? SANITIZER_OK : SANITIZER_INVALID_PARAMETER;
}

uint32_t sanitizerSetCallbackData(CUfunction function, const void *user)
{
    fake_lock_driver();
    fake_set_function_user(function, user);
    fake_unlock_driver();
    return SANITIZER_OK;
}

uint32_t sanitizerSetLaunchCallbackData(struct sanitizer_launch *launch, CUfunction function,
                                        struct sanitizer_stream *stream, const void *user)
{
    if (!launch || !function) {
        return SANITIZER_INVALID_PARAMETER;
    }
    fake_lock_driver();
    fake_set_launch_user(launch, user);
    fake_unlock_driver();
    return SANITIZER_OK;
}

uint32_t sanitizerSetDeviceGraphData(CUgraphExec graph, struct sanitizer_stream *stream,
                                     const void *user)
{
    return SANITIZER_OK;
}

uint32_t sanitizerGetFunctionPcAndSize(CUmodule module, const char *function, uint64_t *pc,
                                       uint64_t *size)
{
    fake_lock_driver();
    *pc = UINT64_C(0x700000000000) + fake_index_of_name(function) * 4096;
    *size = 256;
    fake_unlock_driver();
    return SANITIZER_OK;
}

uint32_t sanitizerGetCallbackPcAndSize(CUcontext context, const char *device_function, uint64_t *pc,
                                       uint64_t *size)
{
    fake_lock_driver();
    *pc = UINT64_C(0x710000000000);
    *size = 4096;
    fake_unlock_driver();
    return SANITIZER_OK;
}

uint32_t sanitizerGetFunctionLoadedStatus(CUfunction function, uint32_t *status)
{
    *status = 2;
    return SANITIZER_OK;
}

/* -- memory and streams
 * ---------------------------------------------------------------------------*/

uint32_t sanitizerAlloc(CUcontext context, void **pointer, size_t size)
{
    fake_lock_driver();
    *pointer = fake_allocate(size);
    fake_unlock_driver();
    return *pointer ? SANITIZER_OK : SANITIZER_OUT_OF_MEMORY;
}

uint32_t sanitizerAllocHost(CUcontext context, void **pointer, size_t size)
{
    fake_lock_driver();
    *pointer = calloc(1, size);
    fake_unlock_driver();
    return *pointer ? SANITIZER_OK : SANITIZER_OUT_OF_MEMORY;
}

uint32_t sanitizerFree(CUcontext context, void *pointer)
{
    fake_lock_driver();
    fake_release_block(pointer);
    fake_unlock_driver();
    return SANITIZER_OK;
}

uint32_t sanitizerFreeHost(CUcontext context, void *pointer)
{
    fake_lock_driver();
    free(pointer);
    fake_unlock_driver();
    return SANITIZER_OK;
}

/* As the real driver has it: what is copied or set lies in one block, however near the next one is.
 */
static bool is_of_one_block(const void *pointer, size_t size)
{
    bool is_bad = false;
    enum fake_memory kind = fake_kind((uintptr_t)pointer, size, &is_bad);
    return kind == FAKE_DEVICE && !is_bad;
}

/* Copies of memory that the device may be writing at the same time, as a GPU's memory is: no race
 * in the eyes of a thread sanitizer, which is why the words are moved one by one. */
__attribute__((no_sanitize_thread)) static void move(void *to, const void *from, size_t size)
{
    volatile uint64_t *words = to;
    const volatile uint64_t *from_words = from;
    volatile uint32_t *halves = to;
    const volatile uint32_t *from_halves = from;
    uintptr_t low_bits = (uintptr_t)to | (uintptr_t)from;
    size_t done = 0;
    for (; low_bits % 8 == 0 && done + 8 <= size; done += 8) {
        words[done / 8] = from_words[done / 8];
    }
    for (; low_bits % 4 == 0 && done + 4 <= size; done += 4) {
        halves[done / 4] = from_halves[done / 4];
    }
    for (; done < size; done++) {
        ((volatile char *)to)[done] = ((const volatile char *)from)[done];
    }
}

static void run_internal_copy(struct fake_item *item)
{
    move((void *)(uintptr_t)item->copy.destination, (void *)(uintptr_t)item->copy.source,
         item->copy.size);
}

static void (*_Atomic on_copy)(CUstream stream);

void fake_on_copy(void (*hook)(CUstream stream))
{
    atomic_store(&on_copy, hook);
}

/* In its place of the stream: behind what is in flight there. Only then is the source read: the API
 * promises no earlier moment. */
uint32_t sanitizerMemcpyHostToDeviceAsync(void *destination, void *source, size_t size,
                                          struct sanitizer_stream *stream)
{
    struct fake_stream *there = (struct fake_stream *)stream;
    void (*hook)(CUstream) = atomic_load(&on_copy);
    if (hook && there) {
        hook(fake_handle(there));
    }
    if (!is_of_one_block(destination, size)) {
        return SANITIZER_INVALID_PARAMETER;
    }
    fake_lock_driver();
    if (there) {
        fake_must_live(there);
    }
    if (there && !fake_done(there->last)) {
        struct fake_item item = {.run = run_internal_copy,
                                 .copy = {.source = (uintptr_t)source,
                                          .destination = (uintptr_t)destination,
                                          .size = size}};
        fake_submit(there, &item);
    } else {
        move(destination, source, size);
    }
    fake_unlock_driver();
    return SANITIZER_OK;
}

uint32_t sanitizerMemcpyDeviceToHost(void *destination, void *source, size_t size,
                                     struct sanitizer_stream *stream)
{
    if (!is_of_one_block(source, size)) {
        return SANITIZER_INVALID_PARAMETER;
    }
    fake_lock_driver();
    move(destination, source, size);
    fake_unlock_driver();
    return SANITIZER_OK;
}

__attribute__((no_sanitize_thread)) static void fill(void *pointer, int value, size_t size)
{
    volatile uint64_t *words = pointer;
    size_t i = 0;
    for (; i < size / 8; i++) {
        words[i] = (unsigned char)value * UINT64_C(0x0101010101010101);
    }
    for (i *= 8; i < size; i++) {
        ((volatile char *)pointer)[i] = (char)value;
    }
}

uint32_t sanitizerMemset(void *pointer, int value, size_t size, struct sanitizer_stream *stream)
{
    if (!is_of_one_block(pointer, size)) {
        return SANITIZER_INVALID_PARAMETER;
    }
    fake_lock_driver();
    fill(pointer, value, size);
    fake_unlock_driver();
    return SANITIZER_OK;
}

uint32_t sanitizerStreamSynchronize(struct sanitizer_stream *stream)
{
    fake_wait(stream ? ((struct fake_stream *)stream)->last : fake_last());
    return SANITIZER_OK;
}

uint32_t sanitizerGetStream(struct sanitizer_stream *handle, CUstream *stream)
{
    *stream = fake_handle((struct fake_stream *)handle);
    return SANITIZER_OK;
}

/* May make the per-thread default stream, and tells so before it returns. */
uint32_t sanitizerGetStreamHandle(CUcontext context, CUstream stream,
                                  struct sanitizer_stream **handle)
{
    fake_lock_driver();
    int error = 0;
    struct fake_stream *found = fake_stream(stream, false, &error);
    *handle = (struct sanitizer_stream *)found;
    fake_unlock_driver();
    return error ? SANITIZER_INVALID_PARAMETER : SANITIZER_OK;
}
