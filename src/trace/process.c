/* Life of a process by pidfd where the kernel has them (Linux 5.3), else by /proc. */
#include "trace/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STARTTIME_FIELD = 22, STATE_FIELD = 3 };

/* The text of field `wanted` of /proc/PID/stat inside `text`; the name in field 2 may hold
 * anything. */
static const char *stat_field(uint32_t pid, int wanted, char *text, size_t room)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return NULL;
    }
    ssize_t length = read(fd, text, room - 1);
    close(fd);
    if (length <= 0) {
        return NULL;
    }
    text[length] = '\0';
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < wanted; field++) {
        at = strchr(at + 1, ' ');
    }
    return at ? at + 1 : NULL;
}

uint64_t process_start_ticks(uint32_t pid)
{
    char text[1024];
    const char *field = stat_field(pid, STARTTIME_FIELD, text, sizeof text);
    return field ? strtoull(field, NULL, 10) : 0;
}

void process_watch_init(struct process_watch *watch, uint32_t pid, uint64_t start_ticks)
{
    *watch = (struct process_watch){.pid = pid, .start_ticks = start_ticks, .pidfd = -1};
    if (pid == 0 || pid > INT32_MAX) {
        watch->gone = true;
        return;
    }
#ifdef SYS_pidfd_open
    watch->pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
#endif
    /* Behind pidfd_open: the descriptor is then surely that of the process with these ticks. */
    watch->gone = start_ticks ? process_start_ticks(pid) != start_ticks : kill((pid_t)pid, 0) != 0;
}

bool process_watch_alive(struct process_watch *watch)
{
    if (watch->gone) {
        return false;
    }
    if (watch->pidfd >= 0) {
        struct pollfd ended = {.fd = watch->pidfd, .events = POLLIN};
        watch->gone = poll(&ended, 1, 0) == 1;
    } else {
        char text[1024];
        const char *state = stat_field(watch->pid, STATE_FIELD, text, sizeof text);
        watch->gone = !state || *state == 'Z' || *state == 'X' ||
                      (watch->start_ticks && process_start_ticks(watch->pid) != watch->start_ticks);
    }
    return !watch->gone;
}

void process_watch_finish(struct process_watch *watch)
{
    if (watch->pid && watch->pidfd >= 0) {
        close(watch->pidfd);
        watch->pidfd = -1;
    }
}

bool process_may_write(uint64_t end)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur);
}
