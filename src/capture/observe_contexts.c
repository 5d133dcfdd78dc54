/* Pools by context, and their drain thread.
 *
 * The thread drains every TICK_MS while launches are in flight, over a stream of its own that does
 * not wait for the legacy default stream. It is the only place where we call the driver ourselves,
 * outside of callbacks. Nobody waits for it without a limit: it may be held up by a lock of the
 * driver that the thread which waits holds. */
#include "capture/observe_contexts.h"

#include "capture/driver.h"

#include "base/elapsed.h"
#include "trace/message.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define CONTEXTS      64u
#define DEFAULT_BYTES (UINT64_C(512) << 20)
#define TICK_MS       20u
#define IDLE_MS       50u
#define END_LIMIT_MS  3000u /* for what is in flight when its context ends */
#define END_STUCK_MS  300u  /* without progress: the thread is held up */
#define RELAXED       2     /* CU_STREAM_CAPTURE_MODE_RELAXED */
#define OWN_STACK     (256u << 10)

struct driver {
    int (*push)(CUcontext context);
    int (*pop)(CUcontext *context);
    int (*create)(CUstream *stream, unsigned flags);
    int (*exchange)(int *mode);
};

static struct {
    const struct sanitizer_api *api;
    struct ssan_sink *sink;
    const char *patches;
    uint64_t bytes;
    bool has_gates;

    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t wake;
    pthread_cond_t passed; /* the thread has finished a pass */
    struct {
        CUcontext context;
        struct pool *_Atomic pool;
    } items[CONTEXTS];
    _Atomic uint32_t count; /* of items that were ever used */
    atomic_bool has_failed; /* there is no thread, and there will be none */
    bool has_thread, is_ending, is_hurried;
    bool is_draining; /* the thread is inside a pool */
} contexts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool is_own;

bool contexts_is_own_thread(void)
{
    return is_own;
}

bool contexts_have_failed(void)
{
    return atomic_load_explicit(&contexts.has_failed, memory_order_relaxed);
}

/* Launches from here on find no pool and count as lost; those in flight do when their context ends.
 */
static void fail(void)
{
    if (!atomic_exchange(&contexts.has_failed, true)) {
        message_tell("accesses of kernels are not observed: the thread that takes them from the "
                     "device can't run");
    }
}

static bool find_driver(struct driver *driver)
{
    driver->push = (int (*)(CUcontext))driver_find("cuCtxPushCurrent_v2");
    driver->pop = (int (*)(CUcontext *))driver_find("cuCtxPopCurrent_v2");
    driver->create = (int (*)(CUstream *, unsigned))driver_find("cuStreamCreate");
    driver->exchange = (int (*)(int *))driver_find("cuThreadExchangeStreamCaptureMode");
    return driver->push && driver->pop && driver->create && driver->exchange;
}

/* A stream to drain over. On failure the pool can't be drained by the thread. */
static void open_stream(const struct driver *driver, struct pool *pool)
{
    CUstream stream = NULL;
    struct sanitizer_stream *handle = NULL;
    if (driver->create(&stream, CUDA_STREAM_NON_BLOCKING) == CUDA_OK &&
        contexts.api->get_stream_handle(pool->context, stream, &handle) == SANITIZER_OK) {
        atomic_store(&pool->stream, handle);
    }
}

static void drain_one(const struct driver *driver, struct pool *pool)
{
    CUcontext old = NULL;
    if (driver->push(pool->context) != CUDA_OK) {
        return;
    }
    if (!atomic_load(&pool->stream)) {
        open_stream(driver, pool);
    }
    if (atomic_load(&pool->stream)) {
        if (atomic_load(&pool->wants_end)) {
            pool_end_streams(pool);
        }
        (void)pool_drain(pool, contexts.sink);
    }
    driver->pop(&old);
}

/* Drains each pool once; answers whether launches are in flight. Lock held, released within. */
static bool drain_all(const struct driver *driver)
{
    bool is_busy = false;
    for (uint32_t i = 0; i < atomic_load(&contexts.count) && !contexts.is_ending; i++) {
        struct pool *pool = atomic_load(&contexts.items[i].pool);
        if (!pool) {
            continue;
        }
        contexts.is_draining = true;
        pthread_mutex_unlock(&contexts.lock);
        drain_one(driver, pool);
        is_busy = is_busy || pool_in_flight(pool) > 0;
        pthread_mutex_lock(&contexts.lock);
        contexts.is_draining = false;
        pthread_cond_broadcast(&contexts.passed);
    }
    return is_busy;
}

static void *drain_thread(void *unused)
{
    struct driver driver;
    int mode = RELAXED;
    is_own = true;
    if (!find_driver(&driver)) {
        fail();
        pthread_mutex_lock(&contexts.lock);
        contexts.has_thread = false;
        pthread_cond_broadcast(&contexts.passed);
        pthread_mutex_unlock(&contexts.lock);
        return NULL;
    }
    (void)driver.exchange(&mode);
    pthread_mutex_lock(&contexts.lock);
    while (!contexts.is_ending) {
        contexts.is_hurried = false;
        bool is_busy = drain_all(&driver);
        struct timespec until = time_in_ms(is_busy ? TICK_MS : IDLE_MS);
        while (!contexts.is_hurried && !contexts.is_ending &&
               pthread_cond_timedwait(&contexts.wake, &contexts.lock, &until) != ETIMEDOUT) {
        }
    }
    pthread_mutex_unlock(&contexts.lock);
    return NULL;
}

/* Lock held. The program's signals are none of the thread's business. */
static void start_thread(void)
{
    sigset_t all, old;
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, OWN_STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    contexts.has_thread = pthread_create(&thread, &attributes, drain_thread, NULL) == 0;
    if (!contexts.has_thread) { /* a program's thread-local data may need more than OWN_STACK */
        pthread_attr_destroy(&attributes);
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        contexts.has_thread = pthread_create(&thread, &attributes, drain_thread, NULL) == 0;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
}

void contexts_start(const struct sanitizer_api *api, struct ssan_sink *sink, const char *patches,
                    uint64_t bytes, bool has_gates)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&contexts.wake, &clock);
    pthread_cond_init(&contexts.passed, &clock);
    pthread_condattr_destroy(&clock);
    contexts.api = api;
    contexts.sink = sink;
    contexts.patches = patches;
    contexts.bytes = bytes ? bytes : DEFAULT_BYTES;
    contexts.has_gates = has_gates;
}

bool contexts_add(CUcontext context)
{
    struct pool *pool;
    uint32_t i = 0;
    if (contexts_find(context)) {
        return true;
    }
    if (contexts_have_failed()) {
        return false;
    }
    pool = pool_create(contexts.api, context, contexts.bytes);
    if (!pool || contexts.api->add_patches_from_file(contexts.patches, context) != SANITIZER_OK) {
        pool_destroy(pool);
        return false;
    }
    pool->resets_all = contexts.has_gates;
    pthread_mutex_lock(&contexts.lock);
    while (i < CONTEXTS && atomic_load(&contexts.items[i].pool)) {
        i++;
    }
    if (i < CONTEXTS) {
        contexts.items[i].context = context;
        atomic_store(&contexts.items[i].pool, pool);
        if (i >= atomic_load(&contexts.count)) {
            atomic_store(&contexts.count, i + 1);
        }
        if (!contexts.has_thread) {
            start_thread();
        }
    }
    bool has_failed = i < CONTEXTS && !contexts.has_thread;
    pthread_mutex_unlock(&contexts.lock);
    if (has_failed) {
        fail();
    }
    if (i == CONTEXTS) {
        pool_destroy(pool);
    }
    return i < CONTEXTS && !has_failed;
}

struct pool *contexts_find(CUcontext context)
{
    uint32_t count =
        contexts_have_failed() ? 0 : atomic_load_explicit(&contexts.count, memory_order_acquire);
    for (uint32_t i = 0; i < count; i++) {
        struct pool *pool = atomic_load_explicit(&contexts.items[i].pool, memory_order_acquire);
        if (pool && contexts.items[i].context == context) {
            return pool;
        }
    }
    return NULL;
}

void contexts_hurry(void)
{
    pthread_mutex_lock(&contexts.lock);
    contexts.is_hurried = true;
    pthread_cond_signal(&contexts.wake);
    pthread_mutex_unlock(&contexts.lock);
}

/* Whether one of the first `below` launches of a pool is not drained yet. A pool goes under the
 * lock only. */
static bool is_behind(const uint64_t below[CONTEXTS])
{
    bool is_behind = false;
    pthread_mutex_lock(&contexts.lock);
    for (uint32_t i = 0; i < atomic_load(&contexts.count); i++) {
        struct pool *pool = atomic_load(&contexts.items[i].pool);
        is_behind = is_behind || (pool && pool_has_below(pool, below[i]));
    }
    pthread_mutex_unlock(&contexts.lock);
    return is_behind;
}

void contexts_wait(unsigned milliseconds)
{
    struct timespec pause = {0, 500000};
    uint64_t below[CONTEXTS] = {0}, limit = pool_now_ms() + milliseconds;
    pthread_mutex_lock(&contexts.lock);
    for (uint32_t i = 0; i < atomic_load(&contexts.count); i++) {
        struct pool *pool = atomic_load(&contexts.items[i].pool);
        below[i] = pool ? pool_count(pool) : 0;
    }
    pthread_mutex_unlock(&contexts.lock);
    while (!contexts_have_failed() && is_behind(below) && pool_now_ms() < limit) {
        contexts_hurry();
        nanosleep(&pause, NULL);
    }
}

/* Takes a pool from the thread, which must have opened its stream. False: it did not, or is held up
 * inside a pool. */
static bool take_pool(uint32_t index, struct pool *pool)
{
    struct timespec until = time_in_ms(END_LIMIT_MS);
    bool is_free = true;
    pthread_mutex_lock(&contexts.lock);
    while (contexts.has_thread && !atomic_load(&pool->stream) && is_free) {
        is_free = pthread_cond_timedwait(&contexts.passed, &contexts.lock, &until) != ETIMEDOUT;
    }
    atomic_store(&contexts.items[index].pool, NULL);
    while (contexts.is_draining && is_free) {
        is_free = pthread_cond_timedwait(&contexts.passed, &contexts.lock, &until) != ETIMEDOUT;
    }
    pthread_mutex_unlock(&contexts.lock);
    return is_free && atomic_load(&pool->stream);
}

/* Lets the thread drain the pool as long as that gets on, at most until `limit`. */
static void let_drain(struct pool *pool, uint64_t limit)
{
    struct timespec pause = {0, 500000};
    uint64_t moved_ms = pool_now_ms();
    uint32_t left = pool_in_flight(pool);
    while (left > 0 && pool_now_ms() < limit && pool_now_ms() - moved_ms < END_STUCK_MS) {
        contexts_hurry();
        nanosleep(&pause, NULL);
        uint32_t now_left = pool_in_flight(pool);
        moved_ms = now_left < left ? pool_now_ms() : moved_ms;
        left = now_left;
    }
}

static void end_pool(uint32_t index, bool is_whole_process)
{
    struct pool *pool = atomic_load(&contexts.items[index].pool);
    if (!pool) {
        return;
    }
    uint64_t limit = pool_now_ms() + END_LIMIT_MS;
    atomic_store(&pool->wants_end, true);
    let_drain(pool, limit);
    bool is_free = take_pool(index, pool);
    if (is_free) {
        pool_end_streams(pool);
    }
    struct timespec pause = {0, 1000000};
    while (is_free && pool_in_flight(pool) > 0 && pool_now_ms() < limit) {
        if (pool_drain(pool, contexts.sink) == 0) {
            nanosleep(&pause, NULL);
        }
    }
    pool_give_up(pool, contexts.sink);
    if (is_free && !is_whole_process) {
        pool_destroy(pool);
    }
}

void contexts_remove(CUcontext context)
{
    for (uint32_t i = 0; i < atomic_load(&contexts.count); i++) {
        if (contexts.items[i].context == context) {
            end_pool(i, false);
        }
    }
}

void contexts_finish(void)
{
    for (uint32_t i = 0; i < atomic_load(&contexts.count); i++) {
        end_pool(i, true);
    }
    pthread_mutex_lock(&contexts.lock);
    contexts.is_ending = true;
    pthread_cond_signal(&contexts.wake);
    pthread_mutex_unlock(&contexts.lock);
}

void contexts_forget(void)
{
    pthread_mutex_init(&contexts.lock, NULL);
    contexts.has_thread = false;
    atomic_store(&contexts.has_failed, false);
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        atomic_store(&contexts.items[i].pool, NULL);
    }
}
