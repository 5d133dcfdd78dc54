/* Which launches are observed, and how: exactly by patches, by their operands, or not at all.
 *
 * Naive model: every launch is followed by a wait and a copy of its accesses. Here a launch takes a
 * record of the context's pool and goes on; a thread drains (observe_contexts.h). Cost of a launch:
 * two look-ups, two locks of ours, one call of the sanitizer library. */
#include "capture/observe.h"

#include "capture/borrow.h"
#include "capture/emit.h"
#include "capture/gate.h"
#include "capture/observe_claims.h"
#include "capture/observe_contexts.h"
#include "capture/observe_footprint.h"
#include "capture/observe_growth.h"
#include "capture/observe_module.h"
#include "capture/observe_windows.h"
#include "capture/patching.h"

#include "trace/message.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS         10u
#define WAIT_LIMIT_MS   2000u /* of a launch, for others to end; of a program that asks */
#define GROWTH_LIMIT_MS 300u  /* of a launch or of an allocation, for memory */

static struct {
    struct observe_setup setup;
    struct ssan_sink sink;
    enum ssan_accesses accesses;
    atomic_bool is_always; /* the plan has no window */
    atomic_uint windows;   /* of the plan that are open; ranges may begin before the capture does */
    atomic_uint_fast64_t fitting;          /* launches that the plan's lines let through */
    atomic_uint_fast64_t launches, chosen; /* all, and those that the plan asks for */
    atomic_bool has_told;
} observer;

/* Of the calling thread. */
static _Thread_local struct {
    struct pool *pool; /* acquired for the last launch; or NULL */
    uint64_t user;     /* of that launch, which has begun; 0: none has */
    bool waits_first;  /* its kernel */
    uint32_t stream;   /* that wants a mark behind the launch of this call, or POOL_STREAMS */
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
    atomic_store(&observer.is_always, setup->plan->window == OBSERVE_ALWAYS);
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

void observe_window_open(void)
{
    atomic_fetch_add(&observer.windows, 1);
}

void observe_window_close(void)
{
    atomic_fetch_sub(&observer.windows, 1);
}

void observe_window_set(bool is_open)
{
    atomic_store(&observer.windows, is_open);
}

bool observe_is_inside(void)
{
    return atomic_load_explicit(&observer.is_always, memory_order_relaxed) ||
           atomic_load_explicit(&observer.windows, memory_order_relaxed) > 0;
}

void observe_context(CUcontext context)
{
    if (observer.accesses == SSAN_accesses_EXACT) {
        (void)contexts_add(context); /* else when it has its first module */
    }
}

/* What could not be done when the context was made may be possible now that it is current. */
static void add_late(CUcontext context)
{
    if (!contexts_add(context) && !contexts_have_failed()) {
        tell_once("accesses of kernels are not observed on a device: it has no memory for them, or "
                  "does not take the patches");
    }
}

static void release_own(void)
{
    contexts_release(own.pool);
    own.pool = NULL;
    own.stream = POOL_STREAMS;
}

void observe_context_end(CUcontext context)
{
    release_own(); /* else this would wait for itself */
    contexts_remove(context);
}

static const struct patching_place places[] = {
    {SANITIZER_AT_GLOBAL_ACCESS, PATCH_FUNCTION_NAME(ssan_patch_access)},
    {SANITIZER_AT_MEMCPY_ASYNC, PATCH_FUNCTION_NAME(ssan_patch_copy)},
    {SANITIZER_AT_BULK_GLOBAL_TO_SHARED, PATCH_FUNCTION_NAME(ssan_patch_bulk_read)},
    {SANITIZER_AT_BULK_SHARED_TO_GLOBAL, PATCH_FUNCTION_NAME(ssan_patch_bulk_write)},
    {SANITIZER_AT_BULK_REDUCE_SHARED_TO_GLOBAL, PATCH_FUNCTION_NAME(ssan_patch_bulk_reduce)},
};
#define PLACES (sizeof places / sizeof places[0])

/* What is not seen where a place can't be patched; 0: nothing can be observed then. */
static const unsigned unseen_without[PLACES] = {0, 0, CUBIN_BULK_READ, CUBIN_BULK_WRITE,
                                                CUBIN_BULK_REDUCE};

static void patch(const struct sanitizer_module_data *data, struct observe_module *module)
{
    const struct sanitizer_api *api = observer.setup.api;
    uint32_t results[PLACES];
    bool is_patched = true;
    patching_choose(api, data->module, places, results, PLACES);
    for (size_t i = 0; i < PLACES; i++) {
        if (results[i] != SANITIZER_OK) {
            observe_module_unpatched(module, unseen_without[i]);
            is_patched = is_patched && unseen_without[i] != 0;
        }
    }
    if (!is_patched) {
        tell_once("accesses of kernels are not observed: the device patches are of another build "
                  "(make capture)");
    }
    is_patched = is_patched && patching_apply(api, data->module) == SANITIZER_OK;
    observe_module_set_patched(module, is_patched);
}

void observe_module(const struct sanitizer_module_data *data)
{
    if (observer.accesses == SSAN_accesses_OFF) {
        return;
    }
    struct observe_module *module = observe_modules_add(data);
    if (!module || observer.accesses != SSAN_accesses_EXACT) {
        return;
    }
    if (!contexts_has(data->context)) {
        add_late(data->context);
    }
    if (contexts_has(data->context)) {
        patch(data, module);
    }
}

void observe_module_end(const struct sanitizer_module_data *module)
{
    observe_modules_remove(module->module);
}

/* Until a launch says otherwise, patches find no record; without that they find garbage. */
static void set_default(CUfunction function)
{
    (void)observer.setup.api->set_callback_data(function, NULL);
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
    bool is_asked =
        observe_is_inside() && (!kernel || kernel->is_listed) &&
        observe_plan_counts(observer.setup.plan, atomic_fetch_add(&observer.fitting, 1));
    atomic_fetch_add(&observer.launches, 1);
    atomic_fetch_add(&observer.chosen, is_asked);
    return is_asked;
}

/* The user has asked for some launches only, and there was none of these. */
static void tell_none_chosen(void)
{
    char text[160];
    unsigned long long launches = atomic_load(&observer.launches);
    if (launches > 0 && atomic_load(&observer.chosen) == 0) {
        snprintf(text, sizeof text,
                 "none of %llu launches was observed: no kernel fits what was asked for, or its "
                 "window was never open",
                 launches);
        message_tell(text);
    }
}

/* A record for the launch. Where none is free, waiting here is of little use: the driver holds a
 * lock that the thread which drains may need. Takes what the caller has acquired. */
static uint64_t begin(struct pool *pool, uint64_t op, struct observed_kernel *kernel,
                      const struct sanitizer_launch_data *launch)
{
    observe_launch_end(); /* of one whose end was not told */
    release_own();
    own.pool = pool;
    own.user = pool_begin(pool, op, kernel, launch->handle, &own.stream);
    if (!own.user && atomic_load(&pool->stream) && pool_drain(pool, &observer.sink) > 0) {
        own.user = pool_begin(pool, op, kernel, launch->handle, &own.stream);
    }
    return own.user;
}

static bool set_user(const struct sanitizer_launch_data *launch, uint64_t user)
{
    uint32_t result = observer.setup.api->set_launch_callback_data(launch->launch, launch->function,
                                                                   launch->handle, pool_at(user));
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

/* Windows for what its parameters point to, where it is large enough; pages for the rest. */
static void give_memory(struct pool *pool, uint64_t user, struct observed_kernel *kernel,
                        const struct sanitizer_launch_data *launch)
{
    uint64_t threads = (uint64_t)launch->grid_x * launch->grid_y * launch->grid_z *
                       launch->block_x * launch->block_y * launch->block_z;
    bool has_windows = windows_are_worth(kernel, threads), is_known = claims_are_known(kernel);
    if (!has_windows && is_known) {
        return;
    }
    struct observe_arguments arguments = observe_arguments_find();
    observe_footprint_prepare(kernel, launch->function);
    if (has_windows) {
        struct window_plan plan = windows_plan(kernel, &arguments, threads);
        windows_give(pool, user, &plan, threads, launch->handle);
        if (growth_is_wanted(pool)) {
            contexts_hurry();
        }
    }
    if (!is_known) {
        claims_promise_unknown(pool, user, &arguments, threads);
    }
}

static bool launch_exactly(uint64_t op, struct observed_kernel *kernel,
                           const struct sanitizer_launch_data *launch)
{
    struct pool *pool = contexts_acquire(launch->context);
    if (!pool || !kernel || !observe_module_is_patched(kernel->module)) {
        contexts_release(pool);
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
        own.user = user = 0;
        own.stream = POOL_STREAMS;
    }
    if (user) {
        give_memory(pool, user, kernel, launch);
    } else {
        emit_lost(SSAN_loss_ACCESSES, op);
    }
    return user != 0;
}

bool observe_launch(uint64_t op, const char *name, const struct sanitizer_launch_data *launch)
{
    bool is_new = false;
    own.waits_first = false;
    if (observer.accesses == SSAN_accesses_OFF) {
        return false;
    }
    struct observed_kernel *kernel = observe_kernel_find(launch, name, &is_new);
    own.waits_first = kernel && kernel->waits_first;
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
    if (own.user) {
        pool_taken(own.pool, own.user);
        own.user = 0;
    }
    if (own.stream >= POOL_STREAMS) {
        release_own();
    }
}

bool observe_waits_first(void)
{
    return own.waits_first;
}

void observe_graph_node(const struct sanitizer_graph_node_data *node)
{
    if (observer.accesses == SSAN_accesses_EXACT) {
        (void)set_user(&node->data.launch, 0);
    }
}

static struct pool *acquire(CUcontext context)
{
    return observer.accesses == SSAN_accesses_EXACT ? contexts_acquire(context) : NULL;
}

void observe_joining(CUcontext context)
{
    struct pool *pool = acquire(context);
    own.joining = context;
    own.below = pool ? pool_count(pool) : 0;
    contexts_release(pool);
}

void observe_joined(CUcontext context, struct sanitizer_stream *stream)
{
    struct pool *pool = acquire(context);
    if (pool && own.joining == context) {
        pool_joined(pool, stream, own.below);
    }
    contexts_release(pool);
}

void observe_wait(void)
{
    if (observer.accesses == SSAN_accesses_EXACT) {
        contexts_wait(WAIT_LIMIT_MS);
    }
}

/* Until the thread that drains has done what was asked of it, for a limited time. */
static void wait_for_growth(struct pool *pool, bool (*is_waited_for)(struct pool *pool))
{
    uint64_t limit = pool_now_ms() + GROWTH_LIMIT_MS;
    while (is_waited_for(pool) && pool_now_ms() < limit) {
        contexts_hurry();
        pool_wait(pool, WAIT_MS);
    }
    if (is_waited_for(pool)) {
        growth_give_up(pool);
    }
}

/* Launches of other threads are in the way, too. */
static void mark_all(struct pool *pool)
{
    if (borrow_begin()) {
        pool_mark_all(pool);
        borrow_end();
    }
}

/* Until there is room again, for a limited time. */
static void wait_for_room(struct pool *pool)
{
    uint64_t limit = pool_now_ms() + WAIT_LIMIT_MS;
    while (pool_is_pressed(pool) && pool_now_ms() < limit) {
        mark_all(pool);
        contexts_hurry();
        pool_wait(pool, WAIT_MS);
    }
    if (pool_is_pressed(pool)) {
        pool_give_up_waiting(pool);
    }
}

void observe_before_launch(CUcontext context)
{
    struct pool *pool = acquire(context);
    if (pool && growth_is_urgent(pool)) {
        wait_for_growth(pool, growth_is_urgent);
    }
    if (pool && pool_is_pressed(pool)) {
        wait_for_room(pool);
    }
    contexts_release(pool);
}

void observe_before_alloc(CUcontext context, uint64_t bytes)
{
    struct pool *pool = acquire(context);
    if (pool && growth_before_alloc(pool, bytes)) {
        mark_all(pool);
        wait_for_growth(pool, growth_has_to_shrink);
    }
    contexts_release(pool);
}

void observe_call_end(void)
{
    observe_launch_end(); /* of one that failed behind its begin */
    if (own.pool && own.stream < POOL_STREAMS) {
        pool_mark(own.pool, own.stream);
    }
    release_own();
}

void observe_stream_end(CUcontext context, struct sanitizer_stream *stream)
{
    struct pool *pool = acquire(context);
    if (pool) {
        pool_end_stream(pool, stream);
    }
    contexts_release(pool);
}

bool observe_is_own_thread(void)
{
    return contexts_is_own_thread();
}

void observe_exit(void)
{
    tell_none_chosen();
    contexts_finish();
}

void observe_detach(void)
{
    observer.accesses = SSAN_accesses_OFF;
    borrow_detach();
    patching_detach();
    observe_modules_forget();
    contexts_forget();
}
