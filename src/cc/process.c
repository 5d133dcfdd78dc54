/* Children and temporary files of `streamsan cc`. */
#include "cc/process.h"

#include "base/child.h"
#include "base/ending_signals.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void session_open(struct session *session, bool verbose)
{
    *session = (struct session){.verbose = verbose, .open = true};
    ending_signals_block(&session->old_set);
}

void session_close(struct session *session)
{
    if (!session->open) {
        return;
    }
    session->open = false;
    if (session->folder) {
        file_remove_tree(session->folder);
        mem_free(session->folder);
        session->folder = NULL;
    }
    if (session->caught) {
        raise(session->caught); /* pending until the mask is restored */
    }
    sigprocmask(SIG_SETMASK, &session->old_set, NULL);
}

char *session_file(struct session *session, struct arena *arena, const char *stem,
                   const char *suffix, struct ssan_error *err)
{
    static unsigned int serial;
    if (!session->folder) {
        const char *base = file_temporary_folder();
        char *wanted = words_text(arena, "%s/streamsan-cc-XXXXXX", base);
        if (!wanted || !mkdtemp(wanted)) {
            ssan_fail(err, SSAN_IO, 0, "no temporary folder in %s: %s (TMPDIR names another)", base,
                      strerror(errno));
            return NULL;
        }
        session->folder = mem_strdup(wanted);
        if (!session->folder) {
            rmdir(wanted);
        }
    }
    char *name = session->folder
                     ? words_text(arena, "%s/%u-%s%s", session->folder, serial++, stem, suffix)
                     : NULL;
    if (!name) {
        ssan_no_memory(err);
    }
    return name;
}

static void print_command(const struct words *command)
{
    for (size_t i = 0; i < command->count && command->items[i]; i++) {
        const char *word = command->items[i];
        bool plain = *word && !word[strcspn(word, " \t\n\"'\\$&|;<>()*?[]#~`!{}")];
        fprintf(stderr, "%s", i ? " " : "");
        if (plain) {
            fprintf(stderr, "%s", word);
            continue;
        }
        fputc('\'', stderr);
        for (const char *c = word; *c; c++) {
            fprintf(stderr, *c == '\'' ? "'\\''" : "%c", *c);
        }
        fputc('\'', stderr);
    }
    fputc('\n', stderr);
}

/* Starts the child with the caller's own signal mask; 0 or an error number. */
static int start(const struct session *session, const char *const *words,
                 const posix_spawn_file_actions_t *files, pid_t *pid)
{
    const struct child child = {.words = words, .mask = &session->old_set, .files = files};
    return child_start(&child, pid);
}

/* Waits for the child; signals that would end this process go to the child first. */
static int wait_for(struct session *session, pid_t pid)
{
    struct child_end end;
    while (!child_take_end(pid, false, &end)) {
        const int number = ending_signals_take(NULL);
        if (number) {
            session->caught = number;
            kill(pid, number);
        }
    }
    return end.code;
}

enum ssan_status session_run(struct session *session, struct words *command, int *exit_code,
                             struct ssan_error *err)
{
    if (!words_end(command)) {
        return ssan_no_memory(err);
    }
    if (session->verbose) {
        print_command(command);
    }
    pid_t pid;
    int error = start(session, command->items, NULL, &pid);
    if (error) {
        return ssan_fail(err, SSAN_MISSING, 0, "cannot start %s: %s", command->items[0],
                         strerror(error));
    }
    *exit_code = wait_for(session, pid);
    return SSAN_OK;
}

bool session_ask(struct session *session, const char *const *command, char *answer,
                 size_t size_bytes)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    pid_t pid;
    int error = start(session, command, &actions, &pid);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    size_t length = 0;
    while (!error) {
        /* The rest beyond the buffer is read and dropped, so that the child never meets a closed
         * pipe. */
        char spill[512];
        bool full = length + 1 >= size_bytes;
        ssize_t got = full ? read(ends[0], spill, sizeof spill)
                           : read(ends[0], answer + length, size_bytes - 1 - length);
        if (got <= 0) {
            break;
        }
        length += full ? 0 : (size_t)got;
    }
    close(ends[0]);
    answer[length] = '\0';
    return !error && wait_for(session, pid) == 0;
}
