/* Finds out about processes through /proc and signals them through a pidfd.
 *
 * The pidfd is opened before the process is looked at, so what was looked at is what is signalled.
 */
#include "cli/followed.h"

#include "trace/control_abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void followed_add(struct followed *followed, pid_t pid)
{
    size_t i;
    for (i = 0; i < followed->count; i++) {
        if (followed->pids[i] == pid) {
            return;
        }
    }
    if (pid > 1 && followed->count < sizeof followed->pids / sizeof *followed->pids) {
        followed->pids[followed->count++] = pid;
    }
}

void followed_add_children(struct followed *followed)
{
    char path[64];
    FILE *list;
    int pid;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    list = fopen(path, "re");
    while (list && fscanf(list, "%d", &pid) == 1) {
        followed_add(followed, pid);
    }
    if (list) {
        fclose(list);
    }
}

static bool is_of_session(pid_t pid, const char *session)
{
    static const char name[] = CONTROL_ENV "=";
    char path[64], *entry = NULL;
    size_t room = 0;
    bool found = false;
    FILE *environment;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    environment = fopen(path, "re");
    while (environment && !found && getdelim(&entry, &room, '\0', environment) > 0) {
        found = strncmp(entry, name, sizeof name - 1) == 0 &&
                strcmp(entry + sizeof name - 1, session) == 0;
    }
    free(entry);
    if (environment) {
        fclose(environment);
    }
    return found;
}

void followed_signal(const struct followed *followed, const char *session, int number,
                     bool by_terminal)
{
    size_t i;
    for (i = 0; i < followed->count; i++) {
        pid_t pid = followed->pids[i];
        int fd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (fd < 0) {
            continue;
        }
        if (is_of_session(pid, session) && !(by_terminal && getpgid(pid) == getpgrp())) {
            syscall(SYS_pidfd_send_signal, fd, number, NULL, 0);
        }
        close(fd);
    }
}

static void add_name(struct strbuf *out, pid_t pid)
{
    char path[64], name[64] = "";
    FILE *file;
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    file = fopen(path, "re");
    if (file) {
        if (fgets(name, sizeof name, file)) {
            name[strcspn(name, "\n")] = '\0';
        }
        fclose(file);
    }
    strbuf_printf(out, "process %d", (int)pid);
    if (name[0]) {
        strbuf_printf(out, " (%s)", name);
    }
}

void followed_words(const struct followed *followed, struct strbuf *out)
{
    size_t i;
    for (i = 0; i < followed->count && i < FOLLOWED_NAMED; i++) {
        strbuf_puts(out, i > 0 ? ", " : "");
        add_name(out, followed->pids[i]);
    }
    if (followed->count > FOLLOWED_NAMED) {
        strbuf_printf(out, " and %zu more", followed->count - FOLLOWED_NAMED);
    } else if (followed->count == 0) {
        strbuf_puts(out, "processes");
    }
}
