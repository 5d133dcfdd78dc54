/* Which launches are observed, and how: exactly by patches, by their operands, or not at all.
 *
 * Naive model: every launch is followed by a wait and a copy of its accesses. Here a launch takes a
 * record of the context's pool and goes on; a thread drains (observe_contexts.h). Cost of a launch:
 * two look-ups, two locks of ours, one call of the sanitizer library. */
#include "capture/observe.h"

#include "capture/emit.h"
#include "capture/gate.h"
#include "capture/handles.h"
#include "capture/observe_contexts.h"
#include "capture/observe_footprint.h"
#include "capture/observe_module.h"

#include "trace/message.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS 10u
#define WAIT_LIMIT_MS                                                                              \
    2000u /* of a launch, for launches before it to end; of a program that asks                    \
           */

static struct {
    struct observe_setup setup;
    struct ssan_sink sink;
    enum ssan_accesses accesses;
    pthread_mutex_t patch_lock;   /* patches and user data are set one at a time */
    atomic_bool is_inside;        /* the window of the plan */
    atomic_uint_fast64_t fitting; /* launches that the plan's lines let through */
    atomic_bool has_told;
} observer = {.patch_lock = PTHREAD_MUTEX_INITIALIZER};

/* Of the calling thread. */
static _Thread_local struct {
    struct pool *pool; /* of the launch that has begun; or NULL */
    uint64_t user;
    struct pool *marked; /* whose stream wants a mark behind the launch of this call; or NULL */
    uint32_t stream;
    CUcontext joining; /* that the call may wait for; launches there were before it */
    uint64_t below;
} own;

static void put_event(struct ssan_sink *self, const struct ssan_event *event)
{
    emit_put(event);
}

static void tell_once(const char *text)
{
    if (!atomic_exchange(&observer.has_told, true)) {
        message_tell(text);
    }
}

enum ssan_accesses observe_start(const struct observe_setup *setup)
{
    observer.setup = *setup;
    observer.sink.put = put_event;
    observer.accesses = setup->plan->accesses;
    atomic_store(&observer.is_inside, setup->plan->window == OBSERVE_ALWAYS);
    if (observer.accesses == SSAN_accesses_EXACT && access(setup->patches, R_OK) != 0) {
        tell_once("accesses of kernels are not observed: the device patches are not built (make "
                  "capture)");
        observer.accesses = SSAN_accesses_OFF;
    }
    observe_modules_start(setup->api, setup->plan, setup->session, &observer.sink);
    contexts_start(setup->api, &observer.sink, setup->patches, setup->plan->device_memory_bytes,
                   setup->plan->gates.count > 0);
    return observer.accesses;
}

void observe_window(bool inside)
{
    atomic_store(&observer.is_inside, inside || observer.setup.plan->window == OBSERVE_ALWAYS);
}

static bool add_context(CUcontext context)
{
    pthread_mutex_lock(&observer.patch_lock);
    bool is_added = contexts_add(context);
    pthread_mutex_unlock(&observer.patch_lock);
    return is_added;
}

void observe_context(CUcontext context)
{
    if (observer.accesses == SSAN_accesses_EXACT) {
        (void)add_context(context); /* else when it has its first module */
    }
}

/* What could not be done when the context was made may be possible now that it is current. */
static void add_late(CUcontext context)
{
    if (!add_context(context) && !contexts_have_failed()) {
        tell_once("accesses of kernels are not observed on a device: it has no memory for them, or "
                  "does not take the patches");
    }
}

void observe_context_end(CUcontext context)
{
    contexts_remove(context);
}

static const struct {
    uint32_t instruction;
    unsigned flag; /* what is not seen where it can't be patched; 0: nothing can be observed then */
    const char *function;
} patches[] = {
    {SANITIZER_AT_GLOBAL_ACCESS, 0, PATCH_FUNCTION_NAME(ssan_patch_access)},
    {SANITIZER_AT_MEMCPY_ASYNC, 0, PATCH_FUNCTION_NAME(ssan_patch_copy)},
    {SANITIZER_AT_BULK_GLOBAL_TO_SHARED, CUBIN_BULK_READ,
     PATCH_FUNCTION_NAME(ssan_patch_bulk_read)},
    {SANITIZER_AT_BULK_SHARED_TO_GLOBAL, CUBIN_BULK_WRITE,
     PATCH_FUNCTION_NAME(ssan_patch_bulk_write)},
    {SANITIZER_AT_BULK_REDUCE_SHARED_TO_GLOBAL, CUBIN_BULK_REDUCE,
     PATCH_FUNCTION_NAME(ssan_patch_bulk_reduce)},
};

void observe_module(const struct sanitizer_module_data *data)
{
    const struct sanitizer_api *api = observer.setup.api;
    if (observer.accesses == SSAN_accesses_OFF) {
        return;
    }
    struct observe_module *module = observe_modules_add(data);
    if (!module || observer.accesses != SSAN_accesses_EXACT) {
        return;
    }
    if (!contexts_find(data->context)) {
        add_late(data->context);
    }
    if (!contexts_find(data->context)) {
        return;
    }
    pthread_mutex_lock(&observer.patch_lock);
    bool is_patched = true;
    for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++) {
        if (api->patch_instructions(patches[i].instruction, data->module, patches[i].function) !=
            SANITIZER_OK) {
            observe_module_unpatched(module, patches[i].flag);
            is_patched = is_patched && patches[i].flag != 0;
        }
    }
    if (!is_patched) {
        tell_once("accesses of kernels are not observed: the device patches are of another build "
                  "(make capture)");
    }
    is_patched = is_patched && api->patch_module(data->module) == SANITIZER_OK;
    observe_module_set_patched(module, is_patched);
    pthread_mutex_unlock(&observer.patch_lock);
}

void observe_module_end(const struct sanitizer_module_data *module)
{
    observe_modules_remove(module->module);
}

/* Until a launch says otherwise, patches find no record; without that they find garbage. */
static void set_default(CUfunction function)
{
    pthread_mutex_lock(&observer.patch_lock);
    (void)observer.setup.api->set_callback_data(function, NULL);
    pthread_mutex_unlock(&observer.patch_lock);
}

void observe_functions_loaded(const struct sanitizer_functions_data *functions)
{
    for (uint32_t i = 0; observer.accesses == SSAN_accesses_EXACT && i < functions->count; i++) {
        set_default(functions->functions[i]);
    }
}

/* Whether the plan asks for this launch. */
static bool is_asked_for(const struct observed_kernel *kernel)
{
    return atomic_load_explicit(&observer.is_inside, memory_order_relaxed) &&
           (!kernel || kernel->is_listed) &&
           observe_plan_counts(observer.setup.plan, atomic_fetch_add(&observer.fitting, 1));
}

/* A record for the launch. Where none is free, waiting here is of little use: the driver holds a
 * lock that the thread which drains may need. */
static uint64_t begin(struct pool *pool, uint64_t op, const struct observed_kernel *kernel,
                      const struct sanitizer_launch_data *launch)
{
    observe_launch_end(); /* of one whose end was not told */
    uint64_t user = pool_begin(pool, op, kernel, launch->handle, &own.stream);
    if (!user && atomic_load(&pool->stream) && pool_drain(pool, &observer.sink) > 0) {
        user = pool_begin(pool, op, kernel, launch->handle, &own.stream);
    }
    own.marked = own.stream < POOL_STREAMS ? pool : NULL;
    own.pool = user ? pool : NULL;
    own.user = user;
    return user;
}

static bool set_user(const struct sanitizer_launch_data *launch, uint64_t user)
{
    pthread_mutex_lock(&observer.patch_lock);
    uint32_t result = observer.setup.api->set_launch_callback_data(
        launch->launch, launch->function, launch->handle, (void *)(uintptr_t)user);
    pthread_mutex_unlock(&observer.patch_lock);
    if (result == SANITIZER_OK) {
        gate_attach(user, launch);
    }
    return result == SANITIZER_OK;
}

/* What may be accessed beside what patches see; false: that can't be told. */
static bool tell_unseen(uint64_t op, struct observed_kernel *kernel,
                        const struct sanitizer_launch_data *launch, unsigned unseen)
{
    if (unseen & (CUBIN_TEXTURE | CUBIN_SURFACE_WRITE | CUBIN_LAUNCHES)) {
        return false;
    }
    struct observe_arguments arguments = observe_arguments_find();
    observe_footprint_prepare(kernel, launch->function);
    return observe_footprint_tell(&observer.sink, op, kernel, &arguments,
                                  (unseen & CUBIN_WRITES) != 0);
}

/* The same of a launch that is known by its arguments only: it may write each of them. */
static bool tell_footprint(uint64_t op, struct observed_kernel *kernel,
                           const struct sanitizer_launch_data *launch)
{
    unsigned unseen = kernel->module ? observe_kernel_unseen(kernel) : 0;
    return tell_unseen(op, kernel, launch, unseen | CUBIN_TENSOR_WRITE);
}

static bool launch_exactly(uint64_t op, struct observed_kernel *kernel,
                           const struct sanitizer_launch_data *launch)
{
    struct pool *pool = contexts_find(launch->context);
    if (!pool || !kernel || !observe_module_is_patched(kernel->module)) {
        emit_lost(SSAN_loss_ACCESSES, op);
        return false;
    }
    unsigned unseen = observe_kernel_unseen(kernel);
    /* Code that was not read may do anything, by ways that no parameter tells of. */
    if (!kernel->is_known || (unseen && !tell_unseen(op, kernel, launch, unseen))) {
        emit_lost(SSAN_loss_ACCESSES, op);
    }
    uint64_t user = begin(pool, op, kernel, launch);
    if (user && !set_user(launch, user)) {
        pool_cancel(pool, user);
        own.pool = own.marked = NULL;
        user = 0;
    }
    if (!user) {
        emit_lost(SSAN_loss_ACCESSES, op);
    }
    return user != 0;
}

bool observe_launch(uint64_t op, const char *name, const struct sanitizer_launch_data *launch)
{
    bool is_new = false;
    if (observer.accesses == SSAN_accesses_OFF) {
        return false;
    }
    struct observed_kernel *kernel = observe_kernel_find(launch, name, &is_new);
    if (is_new && observer.accesses == SSAN_accesses_EXACT) {
        set_default(launch->function);
    }
    if (!is_asked_for(kernel)) {
        return false;
    }
    if (observer.accesses == SSAN_accesses_EXACT) {
        return launch_exactly(op, kernel, launch);
    }
    if (!kernel || !tell_footprint(op, kernel, launch)) {
        emit_lost(SSAN_loss_ACCESSES, op);
    }
    return false;
}

void observe_launch_end(void)
{
    if (own.pool) {
        pool_taken(own.pool, own.user);
        own.pool = NULL;
    }
}

void observe_graph_node(const struct sanitizer_graph_node_data *node)
{
    if (observer.accesses == SSAN_accesses_EXACT) {
        (void)set_user(&node->data.launch, 0);
    }
}

static struct pool *find_pool(CUcontext context)
{
    return observer.accesses == SSAN_accesses_EXACT ? contexts_find(context) : NULL;
}

void observe_joining(CUcontext context)
{
    struct pool *pool = find_pool(context);
    own.joining = context;
    own.below = pool ? pool_count(pool) : 0;
}

void observe_joined(CUcontext context, struct sanitizer_stream *stream)
{
    struct pool *pool = find_pool(context);
    if (pool && own.joining == context) {
        pool_joined(pool, stream, own.below);
    }
}

void observe_wait(void)
{
    if (observer.accesses == SSAN_accesses_EXACT) {
        contexts_wait(WAIT_LIMIT_MS);
    }
}

void observe_before_launch(CUcontext context)
{
    struct pool *pool = find_pool(context);
    if (!pool || !pool_is_pressed(pool)) {
        return;
    }
    uint64_t limit = pool_now_ms() + WAIT_LIMIT_MS;
    emit_lock();
    bool is_capturing = handles_is_capturing(); /* nothing may be put into such streams */
    emit_unlock();
    if (!is_capturing) {
        pool_mark_all(pool);
    }
    while (pool_is_pressed(pool) && pool_now_ms() < limit) {
        contexts_hurry();
        pool_wait(pool, WAIT_MS);
    }
    if (pool_is_pressed(pool)) {
        pool_give_up_waiting(pool);
    }
}

void observe_call_end(void)
{
    observe_launch_end(); /* of one that failed behind its begin */
    if (own.marked) {
        pool_mark(own.marked, own.stream);
        own.marked = NULL;
    }
}

void observe_stream_end(CUcontext context, struct sanitizer_stream *stream)
{
    struct pool *pool = find_pool(context);
    if (pool) {
        pool_end_stream(pool, stream);
    }
}

bool observe_is_own_thread(void)
{
    return contexts_is_own_thread();
}

void observe_exit(void)
{
    contexts_finish();
}

void observe_detach(void)
{
    observer.accesses = SSAN_accesses_OFF;
    pthread_mutex_init(&observer.patch_lock, NULL);
    observe_modules_forget();
    contexts_forget();
}
