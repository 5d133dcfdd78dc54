/* Asks the kernel whether it could read a page, then reads it.
 *
 * process_vm_readv would do both at once, but containers forbid it. A signal mask is taken from the
 * address instead, for a change that does not exist: the kernel says that the address is bad
 * (EFAULT) or that the change is (EINVAL). A page that another thread unmaps between the two is
 * beyond what can be guarded against. */
#include "capture/memory_probe.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096u

static bool is_readable(uint64_t address)
{
    int error = errno;
    bool good = syscall(SYS_rt_sigprocmask, ~0, address & ~UINT64_C(7), NULL, (size_t)8) == -1 &&
                errno == EINVAL;
    errno = error;
    return good;
}

bool memory_is_readable(uint64_t from, uint64_t bytes)
{
    if (from < PAGE || from + bytes < from) {
        return false;
    }
    for (uint64_t at = from; at < from + bytes; at = (at / PAGE + 1) * PAGE) {
        if (!is_readable(at)) {
            return false;
        }
    }
    return true;
}

__attribute__((no_sanitize("address", "thread"))) bool memory_probe(void *to, uint64_t from,
                                                                    size_t bytes)
{
    unsigned char *out = to;
    if (!memory_is_readable(from, bytes)) {
        return false;
    }
    for (size_t i = 0; i < bytes; i++) {
        out[i] = *(const volatile unsigned char *)(uintptr_t)(from + i);
    }
    return true;
}
