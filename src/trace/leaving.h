/* The normal end of the process, told once whichever way it goes.
 *
 * exit and return from main come through on_exit; the short ways out come through functions that a
 * producer exports in place of the C library's and that end in leaving_now. Threads that end the
 * process at once wait for the one that tells it. */
#ifndef SSAN_TRACE_LEAVING_H
#define SSAN_TRACE_LEAVING_H

#include <stdatomic.h>
#include <stdbool.h>

/* What one thread does, once, while the process ends. Zeroed is not begun. */
struct leaving_task {
    atomic_int thread; /* which one does it */
    atomic_bool done;
};

/* True for the first, who does it and then says leaving_done; others wait for that, but not in its
 * own thread, and no longer than 30 s: what is done may wait for the caller. In a signal handler,
 * too. */
bool leaving_begin(struct leaving_task *task);
void leaving_done(struct leaving_task *task);

/* `ended` is called once, with the exit code, in the process that called this last or in a child
 * that it forked since. Registered first, it runs last. */
void leaving_watch(void (*ended)(int code));

/* The C library's short ways out. */
enum leaving { LEAVING__exit, LEAVING__Exit, LEAVING_quick_exit, LEAVING_COUNT };

/* Ends the process as that function does. In a signal handler, too, as far as `ended` may be. */
_Noreturn void leaving_now(enum leaving which, int code);

/* Defines such a function, for a producer to export. */
#define LEAVING_BY(name)                                                                           \
    _Noreturn void name(int code);                                                                 \
    __attribute__((visibility("default"))) _Noreturn void name(int code)                           \
    {                                                                                              \
        leaving_now(LEAVING_##name, code);                                                         \
    }

#endif
