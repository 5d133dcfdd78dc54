/* Host threads: their ids, who made whom, and how many could still do something. */
#ifndef SSAN_VCUDA_THREADS_H
#define SSAN_VCUDA_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Id of the calling thread; 1 is the main thread. Given at the first call, or when its creator made
 * it. */
uint32_t threads_self(void);
/* Host threads of the program that are alive and not waiting in pthread_join. */
uint32_t threads_free_to_run(void);
/* End (exclusive) of the calling thread's stack. */
uint64_t threads_stack_end(void);
/* Starts a thread of ours: no host thread of the program, and none that takes its signals. 0 or an
 * errno. */
int threads_create_own(pthread_t *thread, void *(*function)(void *), void *data);
/* Lets the calling thread of ours take the signals that its creator took, while it runs code of the
 * program, or none again. */
void threads_take_signals(bool take);
/* The operation whose host function this thread runs; 0: none. */
uint64_t threads_callback(void);
void threads_set_callback(uint64_t op);
/* Whether the calling thread asks for errors on behalf of a library (SSAN_LIBRARY_ASKS). */
bool threads_library_asks(void);
void threads_set_library_asks(bool asks);
/* In a forked child: nobody holds the lock, and this is the only thread. */
void threads_forget(void);

#endif
