/* Pools by context, and their drain thread.
 *
 * The thread drains every TICK_MS while launches are in flight, over a stream of its own that does
 * not wait for the legacy default stream, of the highest priority: what it copies and zeroes would
 * wait behind all blocks of the program's kernels otherwise. It is the only place where we call the
 * driver ourselves, outside of callbacks. A pool is found without a lock: who uses it is counted
 * beside it, and it goes when it can't be found any more and nobody is. Nobody waits for it without
 * a limit: it may be held up by a lock of the driver that the thread which waits holds. */
#include "capture/observe_contexts.h"

#include "capture/borrow.h"
#include "capture/observe_driver.h"
#include "capture/observe_growth.h"
#include "capture/patching.h"

#include "base/elapsed.h"
#include "trace/message.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define CONTEXTS     64u
#define TICK_MS      20u
#define IDLE_MS      50u
#define END_LIMIT_MS 3000u /* for what is in flight when its context ends */
#define END_STUCK_MS 300u  /* without progress: the thread is held up */
#define OWN_STACK    (256u << 10)

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
        CUcontext _Atomic context;
        struct pool *_Atomic pool;
        _Atomic uint32_t users; /* threads that have acquired the pool, or look whether they can */
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

/* Memory that a launch waits for comes before what may take longer. Answers whether launches that
 * have ended were left for another pass soon, which makes progress only as this one did. */
static bool drain_one(const struct observe_driver *driver, struct pool *pool)
{
    const bool had_failed = atomic_load(&pool->has_failed);
    bool is_left = false;
    CUcontext old = NULL;
    if (driver->push(pool->context) != CUDA_OK) {
        return false;
    }
    if (!atomic_load(&pool->stream)) {
        observe_driver_open_stream(driver, pool);
    }
    if (atomic_load(&pool->stream)) {
        if (atomic_load(&pool->wants_end) && borrow_begin()) {
            pool_end_streams(pool);
            borrow_end();
        }
        growth_run(pool, driver->memory);
        is_left = pool_drain(pool, contexts.sink) > 0 && atomic_load(&pool->has_more) &&
                  !atomic_load(&pool->has_failed);
        growth_run(pool, driver->memory);
        if (!had_failed && atomic_load(&pool->has_failed)) {
            observe_driver_tell_failure(driver, pool);
        }
    }
    driver->pop(&old);
    return is_left;
}

/* Drains each pool once; answers whether launches are in flight. Lock held, released within. */
static bool drain_all(const struct observe_driver *driver)
{
    bool is_busy = false;
    for (uint32_t i = 0; i < atomic_load(&contexts.count) && !contexts.is_ending; i++) {
        struct pool *pool = atomic_load(&contexts.items[i].pool);
        if (!pool) {
            continue;
        }
        contexts.is_draining = true;
        pthread_mutex_unlock(&contexts.lock);
        bool is_left = drain_one(driver, pool);
        is_busy = is_busy || pool_in_flight(pool) > 0;
        pthread_mutex_lock(&contexts.lock);
        contexts.is_hurried = contexts.is_hurried || is_left;
        contexts.is_draining = false;
        pthread_cond_broadcast(&contexts.passed);
    }
    return is_busy;
}

static void *drain_thread(void *unused)
{
    struct observe_driver driver;
    is_own = true;
    if (!observe_driver_find(&driver)) {
        fail();
        pthread_mutex_lock(&contexts.lock);
        contexts.has_thread = false;
        pthread_cond_broadcast(&contexts.passed);
        pthread_mutex_unlock(&contexts.lock);
        return NULL;
    }
    observe_driver_relax(&driver);
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
    condition_init(&contexts.wake);
    condition_init(&contexts.passed);
    contexts.api = api;
    contexts.sink = sink;
    contexts.patches = patches;
    contexts.bytes = bytes;
    contexts.has_gates = has_gates;
}

/* Puts a pool where it is found; false: there is no room, or another thread has been faster. Lock
 * held. */
static bool put_pool(struct pool *pool)
{
    uint32_t i = 0;
    while (i < CONTEXTS &&
           (atomic_load(&contexts.items[i].pool) || atomic_load(&contexts.items[i].users) > 0)) {
        i++;
    }
    if (i == CONTEXTS || contexts_has(pool->context)) {
        return false;
    }
    pool->place = i;
    atomic_store(&contexts.items[i].context, pool->context);
    atomic_store(&contexts.items[i].pool, pool);
    if (i >= atomic_load(&contexts.count)) {
        atomic_store(&contexts.count, i + 1);
    }
    return true;
}

/* No lock of ours is held while the driver is called: it takes its own, and holds them when it
 * calls back. */
bool contexts_add(CUcontext context)
{
    struct pool *pool;
    if (contexts_has(context)) {
        return true;
    }
    if (contexts_have_failed()) {
        return false;
    }
    pool = pool_create(contexts.api, context, contexts.bytes);
    if (!pool || patching_add_file(contexts.api, contexts.patches, context) != SANITIZER_OK) {
        pool_destroy(pool);
        return false;
    }
    pool->resets_all = contexts.has_gates;
    pthread_mutex_lock(&contexts.lock);
    bool is_put = put_pool(pool);
    if (is_put && !contexts.has_thread) {
        start_thread();
    }
    bool has_failed = is_put && !contexts.has_thread;
    pthread_mutex_unlock(&contexts.lock);
    if (has_failed) {
        fail();
    }
    if (!is_put) {
        pool_destroy(pool);
    }
    return contexts_has(context);
}

/* The pool at a place, where it is that of `context`, or, NULL, whichever it is. */
static struct pool *acquire_at(uint32_t place, CUcontext context)
{
    struct pool *pool = atomic_load(&contexts.items[place].pool);
    if (!pool || (context && atomic_load(&contexts.items[place].context) != context)) {
        return NULL;
    }
    atomic_fetch_add(&contexts.items[place].users, 1); /* from here on what is found stays */
    if (atomic_load(&contexts.items[place].pool) == pool &&
        (!context || atomic_load(&contexts.items[place].context) == context)) {
        return pool;
    }
    atomic_fetch_sub(&contexts.items[place].users, 1);
    return NULL;
}

struct pool *contexts_acquire(CUcontext context)
{
    uint32_t count = contexts_have_failed() || !context ? 0 : atomic_load(&contexts.count);
    struct pool *pool = NULL;
    for (uint32_t i = 0; i < count && !pool; i++) {
        pool = acquire_at(i, context);
    }
    return pool;
}

void contexts_release(struct pool *pool)
{
    if (pool) {
        atomic_fetch_sub(&contexts.items[pool->place].users, 1);
    }
}

bool contexts_has(CUcontext context)
{
    struct pool *pool = contexts_acquire(context);
    contexts_release(pool);
    return pool != NULL;
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

static uint64_t ms_until(uint64_t limit)
{
    uint64_t now = pool_now_ms();
    return limit > now ? limit - now : 0;
}

/* Takes a pool that the caller has acquired from the thread, which must have opened its stream, and
 * from everybody else. NOT_OURS: another thread ends it. IN_USE: the thread has opened no stream,
 * or somebody is held up inside the pool, which stays for good. */
enum taken { TAKEN, IN_USE, NOT_OURS };

static enum taken take_pool(struct pool *pool, uint64_t limit)
{
    struct timespec until = time_in_ms((unsigned)ms_until(limit)), pause = {0, 500000};
    struct pool *_Atomic *place = &contexts.items[pool->place].pool;
    _Atomic uint32_t *users = &contexts.items[pool->place].users;
    bool is_free = true;
    pthread_mutex_lock(&contexts.lock);
    contexts.is_hurried = true;
    pthread_cond_signal(&contexts.wake);
    while (contexts.has_thread && !atomic_load(&pool->stream) && is_free) {
        is_free = pthread_cond_timedwait(&contexts.passed, &contexts.lock, &until) != ETIMEDOUT;
    }
    bool is_ours = atomic_exchange(place, NULL) == pool;
    while (is_ours && contexts.is_draining && is_free) {
        is_free = pthread_cond_timedwait(&contexts.passed, &contexts.lock, &until) != ETIMEDOUT;
    }
    pthread_mutex_unlock(&contexts.lock);
    while (is_ours && atomic_load(users) > 1 && ms_until(limit) > 0) {
        nanosleep(&pause, NULL);
    }
    return !is_ours                                                           ? NOT_OURS
           : is_free && atomic_load(users) == 1 && atomic_load(&pool->stream) ? TAKEN
                                                                              : IN_USE;
}

/* Of a context, or, NULL, of all. */
static uint32_t in_flight(CUcontext only)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < atomic_load(&contexts.count); i++) {
        struct pool *pool = acquire_at(i, only);
        left += pool ? pool_in_flight(pool) : 0;
        contexts_release(pool);
    }
    return left;
}

/* Lets the thread drain until `limit`, or until that has not got on for so long. */
static void let_drain(CUcontext only, uint64_t limit, unsigned stuck_ms)
{
    struct timespec pause = {0, 500000};
    uint64_t moved_ms = pool_now_ms();
    uint32_t left = in_flight(only);
    while (left > 0 && ms_until(limit) > 0 && pool_now_ms() - moved_ms < stuck_ms) {
        contexts_hurry();
        nanosleep(&pause, NULL);
        uint32_t now_left = in_flight(only);
        moved_ms = now_left < left ? pool_now_ms() : moved_ms;
        left = now_left;
    }
}

/* The caller has acquired the pool, and gives it up. */
static void end_pool(struct pool *pool, uint64_t limit)
{
    struct timespec pause = {0, 1000000};
    enum taken taken = take_pool(pool, limit);
    bool is_marked = false;
    while (taken == TAKEN && pool_in_flight(pool) > 0 && ms_until(limit) > 0) {
        if (!is_marked && borrow_begin()) {
            pool_end_streams(pool);
            borrow_end();
            is_marked = true;
        }
        if (pool_drain(pool, contexts.sink) == 0) {
            nanosleep(&pause, NULL);
        }
    }
    if (taken != NOT_OURS) {
        pool_give_up(pool, contexts.sink);
    }
    contexts_release(pool);
    if (taken == TAKEN) {
        pool_destroy(pool);
    }
}

/* Has the thread put last marks into all streams. */
static void want_end(CUcontext only)
{
    for (uint32_t i = 0; i < atomic_load(&contexts.count); i++) {
        struct pool *pool = acquire_at(i, only);
        if (pool) {
            atomic_store(&pool->wants_end, true);
        }
        contexts_release(pool);
    }
}

void contexts_remove(CUcontext context)
{
    uint64_t limit = pool_now_ms() + END_LIMIT_MS;
    if (!context) {
        return;
    }
    want_end(context);
    let_drain(context, limit, END_STUCK_MS);
    for (uint32_t i = 0; i < atomic_load(&contexts.count); i++) {
        struct pool *pool = acquire_at(i, context);
        if (pool) {
            end_pool(pool, limit);
        }
    }
}

/* The thread does it all: this may be a signal handler that has interrupted the program in the
 * middle of malloc or of the driver. However many contexts there are, nobody waits longer than for
 * one. */
void contexts_finish(void)
{
    uint64_t limit = pool_now_ms() + END_LIMIT_MS;
    want_end(NULL);
    pthread_mutex_lock(&contexts.lock);
    bool has_thread = contexts.has_thread;
    pthread_mutex_unlock(&contexts.lock);
    if (has_thread) {
        let_drain(NULL, limit, END_LIMIT_MS);
    }
    struct timespec until = time_in_ms((unsigned)ms_until(limit));
    pthread_mutex_lock(&contexts.lock);
    contexts.is_ending = true;
    pthread_cond_signal(&contexts.wake);
    while (contexts.is_draining &&
           pthread_cond_timedwait(&contexts.passed, &contexts.lock, &until) != ETIMEDOUT) {
    }
    pthread_mutex_unlock(&contexts.lock);
    for (uint32_t i = 0; i < atomic_load(&contexts.count); i++) {
        struct pool *pool = acquire_at(i, NULL);
        if (pool) {
            pool_give_up(pool, contexts.sink);
        }
        contexts_release(pool);
    }
}

void contexts_forget(void)
{
    pthread_mutex_init(&contexts.lock, NULL);
    contexts.has_thread = false;
    atomic_store(&contexts.has_failed, false);
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        atomic_store(&contexts.items[i].pool, NULL);
        atomic_store(&contexts.items[i].users, 0);
    }
}
