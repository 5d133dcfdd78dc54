/* One thread tells the end: a signal handler that exits while it does does not tell it again, and
 * other threads that end the process meanwhile wait for it, since the first to come through ends
 * the process. A forked child is a process of its own; one that shares memory (vfork) is not, and
 * tells nothing. */
#include "trace/leaving.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE   16 /* threads that call exit before one of them is in on_normal_exit */
#define LOOK_NS   1000000
#define LOOKS     30000
#define NOT_ASKED (-1) /* in the place of a thread: nobody is to tell */

static struct leaving_task telling = {.thread = NOT_ASKED};
static pid_t owner;
static void (*tell)(int code);

static bool is_with_another(struct leaving_task *task)
{
    const int thread = atomic_load(&task->thread);
    return thread > 0 && thread != gettid() && !atomic_load(&task->done);
}

bool leaving_begin(struct leaving_task *task)
{
    const struct timespec look = {0, LOOK_NS};
    int nobody = 0;
    if (atomic_compare_exchange_strong(&task->thread, &nobody, gettid())) {
        return true;
    }
    for (int i = 0; i < LOOKS && is_with_another(task); i++) {
        nanosleep(&look, NULL); /* polled: no lock may be taken in a signal handler */
    }
    return false;
}

void leaving_done(struct leaving_task *task)
{
    atomic_store(&task->done, true);
}

static void end_process(int code)
{
    if (getpid() == owner && leaving_begin(&telling)) {
        tell(code);
        leaving_done(&telling);
    }
}

/* Stands several times with the C library, which gives each function to one of the threads that
 * call exit, and ends the process for one that finds none left; who waits leaves another one
 * behind. */
static void on_normal_exit(int code, void *unused)
{
    if (getpid() == owner && is_with_another(&telling)) {
        on_exit(on_normal_exit, NULL);
    }
    end_process(code);
}

static void set_owner(void)
{
    owner = getpid();
    atomic_store(&telling.done, false);
    atomic_store(&telling.thread, 0);
}

typedef void leave_function(int);

/* What stands behind ours, looked up at the beginning: the dynamic loader takes locks, and these
 * functions may be called in signal handlers. NULL: nothing (a static executable), or not yet. */
static const char *const names[LEAVING_COUNT] = {"_exit", "_Exit", "quick_exit"};
static _Atomic(leave_function *) behind[LEAVING_COUNT];

static void look_up(void)
{
    for (size_t i = 0; i < LEAVING_COUNT; i++) {
        void *found = dlsym(RTLD_NEXT, names[i]);
        leave_function *function;
        *(void **)&function = found;
        atomic_store(&behind[i], function);
    }
}

void leaving_watch(void (*ended)(int code))
{
    tell = ended;
    look_up();
    set_owner();
    pthread_atfork(NULL, NULL, set_owner);
    for (int i = 0; i < AT_ONCE; i++) {
        on_exit(on_normal_exit, NULL);
    }
}

_Noreturn void leaving_now(enum leaving which, int code)
{
    leave_function *function = atomic_load(&behind[which]);
    end_process(code);
    if (function) {
        function(code);
    }
    for (;;) {
        syscall(SYS_exit_group, code);
    }
}
