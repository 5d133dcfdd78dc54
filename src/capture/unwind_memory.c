/* Where the calling thread's stack ends, from the kernel's list of mappings.
 *
 * Invariant: [sp, end) is mapped and readable at the time of the answer, and stays so while the
 * frames in it live. pthread_getattr_np would take memory of the program. A thread's own record
 * (pthread_self) lies above its frames in the same mapping and bounds it closer, as mappings of
 * neighbours may be merged. Cost: one reading of /proc/self/maps for each stack a thread runs on.
 */
#include "capture/unwind_memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096u

/* Reads one address of the list: hexadecimal digits. */
struct digits {
    uint64_t value;
    unsigned field; /* 0: begin, 1: end, 2: the rest of the line */
};

struct scan {
    uint64_t sp, begin, end; /* end 0: not found yet */
    struct digits at;
};

/* Takes one character of the list; true when the mapping is found. */
static bool take(struct scan *scan, char c)
{
    struct digits *at = &scan->at;
    if (c == '\n') {
        *at = (struct digits){0};
    } else if (at->field < 2 && c >= '0' && c <= '9') {
        at->value = at->value << 4 | (uint64_t)(c - '0');
    } else if (at->field < 2 && c >= 'a' && c <= 'f') {
        at->value = at->value << 4 | (uint64_t)(c - 'a' + 10);
    } else if (at->field == 0) {
        scan->begin = at->value;
        *at = (struct digits){.field = 1};
    } else if (at->field == 1) {
        at->field = 2;
        if (scan->sp >= scan->begin && scan->sp < at->value) {
            scan->end = at->value;
            return true;
        }
    }
    return false;
}

/* The mapping that holds sp; its page when the kernel does not say. By system calls: the library's
 * functions are points where a thread may be cancelled. */
static uint64_t find_mapping(uint64_t sp, uint64_t *begin)
{
    char buffer[1024];
    struct scan scan = {.sp = sp};
    ssize_t count = 1;
    int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (file >= 0 && !scan.end && (count = syscall(SYS_read, file, buffer, sizeof buffer)) > 0) {
        for (ssize_t i = 0; i < count && !take(&scan, buffer[i]); i++) {
        }
    }
    if (file >= 0) {
        (void)syscall(SYS_close, file);
    }
    if (!scan.end) {
        scan.begin = sp & ~(uint64_t)(PAGE - 1);
        scan.end = scan.begin + PAGE;
    }
    *begin = scan.begin;
    return scan.end;
}

uint64_t unwind_stack_end(uint64_t sp)
{
    static _Thread_local __attribute__((tls_model("initial-exec"))) uint64_t known_low, known_end;
    uint64_t self = (uint64_t)(uintptr_t)pthread_self();
    if (sp >= known_low && sp < known_end) {
        return known_end;
    }
    known_end = find_mapping(sp, &known_low);
    if (self > sp && self < known_end) {
        known_end = self;
    }
    return known_end;
}
