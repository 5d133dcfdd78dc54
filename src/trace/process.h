/* Whether the process that writes a trace still lives, and what this one may write. No malloc; any
 * thread. */
#ifndef SSAN_TRACE_PROCESS_H
#define SSAN_TRACE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* When process `pid` was started, in clock ticks since boot; 0 when that can't be read (it is gone,
 * no /proc). A pid and this number name one process until the next boot. */
uint64_t process_start_ticks(uint32_t pid);

/* Watches one process. Zeroed watches none; ticks 0: not known, the pid alone decides. */
struct process_watch {
    uint32_t pid;
    uint64_t start_ticks;
    int pidfd; /* -1: the kernel gives none, or it is gone */
    bool gone; /* once true it stays so */
};

void process_watch_init(struct process_watch *watch, uint32_t pid, uint64_t start_ticks);
/* False once the process has ended, also when its parent has not waited for it yet. */
bool process_watch_alive(struct process_watch *watch);
void process_watch_finish(struct process_watch *watch);

/* Whether a file of this process may have `end` bytes. Without asking, the kernel answers a file
 * above the limit with SIGXFSZ. */
bool process_may_write(uint64_t end);

#endif
