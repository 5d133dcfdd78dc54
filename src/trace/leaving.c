/* One flag decides who tells the end: a signal handler that exits while on_exit runs does not tell
 * it again. A forked child is a process of its own; one that shares memory (vfork) is not, and
 * tells nothing. */
#include "trace/leaving.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_bool done = true;
static pid_t owner;
static void (*tell)(int code);

static void end_process(int code)
{
    if (!atomic_load(&done) && getpid() == owner && !atomic_exchange(&done, true)) {
        tell(code);
    }
}

static void on_normal_exit(int code, void *unused)
{
    end_process(code);
}

static void set_owner(void)
{
    owner = getpid();
    atomic_store(&done, false);
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
    on_exit(on_normal_exit, NULL);
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
