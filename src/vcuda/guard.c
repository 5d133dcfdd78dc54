/* A SIGSEGV handler that speaks for addresses of device memory and leaves all else as it was.
 *
 * The program's view of device memory allows no access, so the faulting address is exact. After the
 * message the handler that stood before is put back and the access happens again, or the signal is
 * sent again: the program ends, or goes on, as it would without us. */
#include "vcuda/guard.h"

#include "vcuda/emit.h"
#include "vcuda/memory.h"
#include "trace/message.h"
#include "vcuda/site.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

static struct sigaction before;

static void describe(uint64_t address, char *text, size_t room)
{
    struct memory_block block;
    if (memory_try_find(address, &block)) {
        snprintf(text, room,
                 "host code touches device memory: 0x%llx, byte %llu of a block of %llu bytes",
                 (unsigned long long)address, (unsigned long long)(address - block.address),
                 (unsigned long long)block.size);
    } else {
        snprintf(text, room, "host code touches device memory: 0x%llx, in no block that lives",
                 (unsigned long long)address);
    }
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    char text[256];
    if (info->si_code > 0 && memory_is_device_address(address)) {
        uint32_t site = 0;
#ifdef __x86_64__
        const ucontext_t *registers = context;
        site = site_capture_at((uint64_t)registers->uc_mcontext.gregs[REG_RIP],
                               (uint64_t)registers->uc_mcontext.gregs[REG_RBP]);
#endif
        describe(address, text, sizeof text);
        message_tell(text);
        emit_fault(0, site, (uint32_t)cudaErrorIllegalAddress, false, text);
    }
    sigaction(SIGSEGV, &before, NULL);
    if (info->si_code <= 0) {
        raise(signal); /* sent, not caused: nothing makes it happen again by itself */
    }
}

void guard_start(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before);
}
