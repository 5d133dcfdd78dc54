/* Stands in for pthread_create, pthread_join, thrd_create and thrd_join, so that the trace knows
 * the edges between host threads.
 *
 * Invariant: a thread's `thread_start` is in the trace before the thread runs, and `thread_join`
 * after it ended. Ids are given in order of creation and never used again. Threads of ours are made
 * past these functions; their ids, if they ever need one, have a range of their own. One small
 * lock, a leaf of the lock order. */
#include "vcuda/threads.h"

#include "base/map.h"
#include "base/mem.h"
#include "vcuda/cuda.h"
#include "vcuda/emit.h"
#include "vcuda/site.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <threads.h>

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int join_function(pthread_t, void **);
typedef int thrd_create_function(thrd_t *, thrd_start_t, void *);
typedef int thrd_join_function(thrd_t, int *);

/* Ids of our own threads, which begin when the schedule runs a host function: those of the program
 * must not depend on that. */
#define OWN_FIRST 1024u
#define OWN_MOST  4096u

static _Atomic uint32_t id_count, own_count, alive, in_join;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct map ids; /* pthread_t to id, while not joined */
static _Thread_local uint32_t self_id;
static _Thread_local bool is_own;
static _Thread_local sigset_t creator_signals; /* of a thread of ours */
static _Thread_local uint64_t stack_end, callback_op;
static _Thread_local bool library_asks;

__attribute__((constructor(101))) static void number_main_thread(void)
{
    (void)threads_self();
}

/* Of a thread of the program: behind the range of ours once it gets there. */
static uint32_t next_id(void)
{
    uint32_t id = atomic_fetch_add(&id_count, 1) + 1;
    return id < OWN_FIRST ? id : id + OWN_MOST;
}

static uint32_t next_own_id(void)
{
    uint32_t count = atomic_fetch_add(&own_count, 1);
    return count < OWN_MOST ? OWN_FIRST + count : next_id();
}

uint32_t threads_self(void)
{
    if (self_id == 0) {
        self_id = is_own ? next_own_id() : next_id();
        if (!is_own) {
            atomic_fetch_add(&alive, 1);
        }
    }
    return self_id;
}

uint32_t threads_free_to_run(void)
{
    uint32_t all = atomic_load(&alive), joining = atomic_load(&in_join);
    return all > joining ? all - joining : 0;
}

uint64_t threads_stack_end(void)
{
    pthread_attr_t attr;
    void *begin;
    size_t size;
    if (stack_end == 0 && pthread_getattr_np(pthread_self(), &attr) == 0) {
        if (pthread_attr_getstack(&attr, &begin, &size) == 0) {
            stack_end = (uint64_t)(uintptr_t)begin + size;
        }
        pthread_attr_destroy(&attr);
    }
    return stack_end;
}

uint64_t threads_callback(void)
{
    return callback_op;
}

void threads_set_callback(uint64_t op)
{
    callback_op = op;
}

bool threads_library_asks(void)
{
    return library_asks;
}

void threads_set_library_asks(bool asks)
{
    library_asks = asks;
}

/* The C library's function behind ours. */
static void *next_function(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static create_function *real_create(void)
{
    static _Atomic(create_function *) known;
    create_function *function = atomic_load_explicit(&known, memory_order_relaxed);
    if (!function) {
        *(void **)&function = next_function("pthread_create");
        atomic_store_explicit(&known, function, memory_order_relaxed);
    }
    return function;
}

struct start {
    void *(*function)(void *); /* NULL: a thread of C11 */
    thrd_start_t thrd;
    void *data;
    uint32_t id;      /* 0: a thread of ours */
    sigset_t signals; /* a thread of ours: the creator's mask */
};

static void set_id(pthread_t thread, uint32_t id)
{
    pthread_mutex_lock(&lock);
    (void)map_set(&ids, (uint64_t)thread, id); /* without memory its join gives no edge */
    pthread_mutex_unlock(&lock);
}

static void on_end(void *unused)
{
    atomic_fetch_sub(&alive, 1);
}

static void enter(uint32_t id)
{
    self_id = id;
    set_id(pthread_self(), id);
}

static void *run_thread(void *data)
{
    struct start start = *(struct start *)data;
    void *result;
    mem_free(data);
    if (start.id == 0) {
        is_own = true;
        creator_signals = start.signals;
        return start.function(start.data);
    }
    enter(start.id);
    pthread_cleanup_push(on_end, NULL);
    result = start.function(start.data);
    pthread_cleanup_pop(1);
    return result;
}

static int run_thrd(void *data)
{
    struct start start = *(struct start *)data;
    int result;
    mem_free(data);
    enter(start.id);
    pthread_cleanup_push(on_end, NULL);
    result = start.thrd(start.data);
    pthread_cleanup_pop(1);
    return result;
}

static struct start *make_start(struct start start)
{
    struct start *made = mem_alloc(sizeof *made);
    if (made) {
        *made = start;
    }
    return made;
}

int threads_create_own(pthread_t *thread, void *(*function)(void *), void *data)
{
    struct start *start = make_start((struct start){.function = function, .data = data});
    create_function *create = real_create(); /* NULL in a static executable */
    sigset_t all;
    int error;
    if (!create || !start) {
        mem_free(start);
        return create ? ENOMEM : ENOSYS;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &start->signals); /* inherited */
    const sigset_t before = start->signals;              /* the thread frees `start` */
    error = create(thread, NULL, run_thread, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        mem_free(start);
    }
    return error;
}

void threads_take_signals(bool take)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, take ? &creator_signals : &all, NULL);
}

/* Tells the trace of the thread that the caller is about to make; `frame` is the caller's. */
static uint32_t announce(struct start *start, const void *frame)
{
    start->id = next_id();
    emit_open();
    emit_thread_start(start->id, threads_self(), site_capture(frame));
    atomic_fetch_add(&alive, 1);
    return start->id;
}

/* What became of it: 0 or the error of the C library. */
static int announced(int error, pthread_t thread, uint32_t id, struct start *start)
{
    if (error) {
        atomic_fetch_sub(&alive, 1);
        mem_free(start);
    } else {
        set_id(thread, id);
    }
    return error;
}

EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                            void *(*function)(void *), void *data)
{
    (void)threads_self(); /* the parent's id is the smaller one */
    struct start *start = make_start((struct start){.function = function, .data = data});
    create_function *create = real_create();
    if (!start || !create) {
        mem_free(start);
        return EAGAIN;
    }
    uint32_t id = announce(start, __builtin_frame_address(0));
    int error = create(thread, attr, run_thread, start);
    return announced(error, error ? 0 : *thread, id, start);
}

/* thrd_t is pthread_t, in all C libraries that a program can have here. */
_Static_assert(sizeof(thrd_t) == sizeof(pthread_t), "threads of C11 are those of POSIX");

EXPORTED int thrd_create(thrd_t *thread, thrd_start_t function, void *data)
{
    (void)threads_self();
    struct start *start = make_start((struct start){.thrd = function, .data = data});
    thrd_create_function *create;
    *(void **)&create = next_function("thrd_create");
    if (!start || !create) {
        mem_free(start);
        return create ? thrd_nomem : thrd_error;
    }
    uint32_t id = announce(start, __builtin_frame_address(0));
    int error = create(thread, run_thrd, start);
    return announced(error, error == thrd_success ? (pthread_t)*thread : 0, id, start);
}

/* Before and after the wait of a join. */
static uint32_t begin_join(pthread_t thread)
{
    const uint64_t *id;
    uint32_t joined;
    pthread_mutex_lock(&lock);
    id = map_find(&ids, (uint64_t)thread);
    joined = id ? (uint32_t)*id : 0;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&in_join, 1);
    return joined;
}

static int end_join(int error, uint32_t joined)
{
    atomic_fetch_sub(&in_join, 1);
    if (error == 0 && joined) {
        emit_thread_join(threads_self(), joined);
    }
    return error;
}

EXPORTED int pthread_join(pthread_t thread, void **result)
{
    static _Atomic(join_function *) known;
    join_function *function = atomic_load_explicit(&known, memory_order_relaxed);
    if (!function) {
        *(void **)&function = next_function("pthread_join");
        atomic_store_explicit(&known, function, memory_order_relaxed);
    }
    if (!function) {
        return ESRCH; /* a static executable: no thread was made either */
    }
    uint32_t joined = begin_join(thread);
    return end_join(function(thread, result), joined);
}

EXPORTED int thrd_join(thrd_t thread, int *result)
{
    thrd_join_function *function;
    *(void **)&function = next_function("thrd_join");
    if (!function) {
        return thrd_error;
    }
    uint32_t joined = begin_join((pthread_t)thread);
    return end_join(function(thread, result), joined);
}

void threads_forget(void)
{
    pthread_mutex_init(&lock, NULL);
    atomic_store(&alive, 1);
    atomic_store(&in_join, 0);
}
