/* The handler of fatal signals: only system calls, no heap, a stack of its own.
 *
 * It puts the old handlers back first, so a second fault inside it ends the process. An instruction
 * that faulted runs again on return and meets the old handler; a signal that was sent is raised
 * again. */
#include "cli/rescue.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STACK_BYTES 65536
#define DEPTH       3 /* folders inside each other: of trials, of a trial, of its session */

static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

#define FATAL_COUNT (sizeof fatal / sizeof *fatal)

static char folder[4096];
static struct sigaction before[FATAL_COUNT];
static bool begun;

static bool is_dots(const char *name)
{
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* What is in the folder `fd`, and in the folders of it down to DEPTH. */
static void remove_files(int fd, unsigned depth)
{
    static _Alignas(struct dirent64) char rooms[DEPTH][4096];
    char *entries = rooms[depth];
    ssize_t got;
    while ((got = getdents64(fd, entries, sizeof rooms[depth])) > 0) {
        ssize_t at = 0;
        while (at < got) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            int inner = -1;
            at += entry->d_reclen;
            if (is_dots(entry->d_name) || unlinkat(fd, entry->d_name, 0) == 0) {
                continue;
            }
            if (depth + 1 < DEPTH) {
                inner = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            }
            if (inner >= 0) {
                remove_files(inner, depth + 1);
                close(inner);
                unlinkat(fd, entry->d_name, AT_REMOVEDIR);
            }
        }
    }
}

static void on_fatal(int number, siginfo_t *info, void *context)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)context;
    rescue_end();
    if (fd >= 0) {
        remove_files(fd, 0);
        rmdir(folder);
    }
    if (info->si_code <= 0) {
        raise(number);
    }
}

void rescue_begin(const char *directory)
{
    static char stack[STACK_BYTES];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    size_t i;
    if (begun || strlen(directory) >= sizeof folder) {
        return;
    }
    snprintf(folder, sizeof folder, "%s", directory);
    sigaltstack(&alternate, NULL);
    sigemptyset(&action.sa_mask);
    for (i = 0; i < FATAL_COUNT; i++) {
        sigaction(fatal[i], &action, &before[i]);
    }
    begun = true;
}

void rescue_end(void)
{
    size_t i;
    for (i = 0; begun && i < FATAL_COUNT; i++) {
        sigaction(fatal[i], &before[i], NULL);
    }
    begun = false;
}
