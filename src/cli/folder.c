/* Makes, watches and removes the folder of a run.
 *
 * Requests of several processes share one counter; `findings_answered` may only rise over requests
 * that have all been seen, so later ones wait in `early`. The folder is flat: control page, plan,
 * live traces, kept copies, and what is left of memory beside each trace. */
#include "cli/folder.h"

#include "cli/output.h"
#include "cli/rescue.h"

#include "trace/control_abi.h"
#include "trace/observe_plan.h"
#include "trace/plan.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Disk that one live trace may hold: the tool gives back what it has read, so this is how far it
 * may fall behind. */
#define LIVE_LIMIT_BYTES     (UINT64_C(8) << 30)
#define SNAPSHOT_LIMIT_BYTES (UINT64_C(256) << 20)

/* Gives the page its space first: a mapped page without it would kill with SIGBUS. */
static enum ssan_status map_page(struct folder *folder, struct ssan_error *err)
{
    static const char zeros[CONTROL_BYTES];
    char path[4096];
    void *page;
    int fd;
    snprintf(path, sizeof path, "%s/" CONTROL_FILE, folder->directory);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return file_fail(err, errno, "can't create", path);
    }
    if (write(fd, zeros, sizeof zeros) != (ssize_t)sizeof zeros) {
        enum ssan_status status = file_fail(err, errno, "can't write", path);
        close(fd);
        return status;
    }
    page = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (page == MAP_FAILED) {
        return file_fail(err, errno, "can't map", path);
    }
    folder->page = page;
    return SSAN_OK;
}

static enum ssan_status write_file(const struct folder *folder, const char *name,
                                   const struct strbuf *text, struct ssan_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder->directory, name);
    return output_write(path, -1, text, err);
}

/* The plans that say more than their defaults. */
static enum ssan_status write_plans(const struct folder *folder,
                                    const struct folder_options *options, struct ssan_error *err)
{
    struct strbuf text = {0};
    enum ssan_status status = SSAN_OK;
    if (options->plan && !plan_is_plain(options->plan)) {
        plan_print(options->plan, &text);
        status = write_file(folder, CONTROL_PLAN, &text, err);
    }
    strbuf_clear(&text);
    if (!status && options->observe && !observe_plan_is_plain(options->observe)) {
        observe_plan_print(options->observe, &text);
        status = write_file(folder, OBSERVE_FILE, &text, err);
    }
    strbuf_finish(&text);
    return status;
}

/* `words` shortened to what the page holds. */
static void put_schedule(struct control_page *page, const char *words)
{
    size_t room = sizeof page->schedule;
    if ((size_t)snprintf(page->schedule, room, "%s", words) >= room) {
        memcpy(page->schedule + room - 4, "...", 4);
    }
}

static void fill_page(struct control_page *page, const struct folder_options *options)
{
    const char *kill_after = getenv("STREAMSAN_TEST_KILL_AFTER");
    put_schedule(page, options->schedule);
    page->version = CONTROL_VERSION;
    page->flags = options->flags;
    page->devices = options->devices;
    page->trace_limit_bytes = LIVE_LIMIT_BYTES;
    page->tool_pid = (uint64_t)getpid();
    page->kill_after_records = kill_after ? strtoull(kill_after, NULL, 10) : 0;
    page->snapshot_limit_bytes =
        options->snapshot_limit_bytes ? options->snapshot_limit_bytes : SNAPSHOT_LIMIT_BYTES;
    page->plan_limit_ms = options->plan_limit_ms ? options->plan_limit_ms : CONTROL_PLAN_LIMIT_MS;
    __atomic_store_n(&page->magic, CONTROL_MAGIC, __ATOMIC_RELEASE);
}

enum ssan_status folder_make(const char *parent, char **directory, struct ssan_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/streamsan-XXXXXX", parent ? parent : file_temporary_folder());
    if (!mkdtemp(path)) {
        return file_fail(err, errno, "can't create the folder", path);
    }
    *directory = realpath(path, NULL);
    if (!*directory) {
        rmdir(path);
        return ssan_no_memory(err);
    }
    return SSAN_OK;
}

enum ssan_status folder_open(struct folder *folder, const struct folder_options *options,
                             struct ssan_error *err)
{
    enum ssan_status status;
    memset(folder, 0, sizeof *folder);
    status = folder_make(options->parent, &folder->directory, err);
    if (status) {
        return status;
    }
    rescue_begin(folder->directory);
    status = map_page(folder, err);
    if (!status) {
        status = write_plans(folder, options, err);
    }
    if (status) {
        folder_close(folder);
        return status;
    }
    fill_page(folder->page, options);
    return SSAN_OK;
}

static bool is_live_trace(const char *name)
{
    size_t length = strlen(name), suffix = strlen(CONTROL_SUFFIX);
    return name[0] != '.' && length > suffix && strcmp(name + length - suffix, CONTROL_SUFFIX) == 0;
}

static bool was_seen(const struct folder *folder, const char *name)
{
    size_t i;
    for (i = 0; i < folder->seen.count; i++) {
        if (strcmp(folder->seen.items[i], name) == 0) {
            return true;
        }
    }
    return false;
}

char *folder_next_trace(struct folder *folder)
{
    DIR *directory = opendir(folder->directory);
    struct dirent *entry;
    char best[256] = "", path[4096];
    char *name;
    if (!directory) {
        return NULL;
    }
    while ((entry = readdir(directory))) {
        if (is_live_trace(entry->d_name) && !was_seen(folder, entry->d_name) &&
            (!best[0] || strcmp(entry->d_name, best) < 0)) {
            snprintf(best, sizeof best, "%s", entry->d_name);
        }
    }
    closedir(directory);
    if (!best[0]) {
        return NULL;
    }
    name = mem_strdup(best);
    if (!name || !VEC_PUSH(&folder->seen, name)) {
        mem_free(name);
        return NULL;
    }
    snprintf(path, sizeof path, "%s/%s", folder->directory, best);
    return mem_strdup(path);
}

void folder_answer(struct folder *folder, uint64_t request, uint64_t findings)
{
    bool again = true;
    size_t i;
    if (request <= folder->answered || !VEC_PUSH(&folder->early, request)) {
        return;
    }
    while (again) {
        again = false;
        for (i = 0; i < folder->early.count; i++) {
            if (folder->early.items[i] == folder->answered + 1) {
                folder->answered++;
                folder->early.items[i] = folder->early.items[--folder->early.count];
                again = true;
                break;
            }
        }
    }
    __atomic_store_n(&folder->page->findings, findings, __ATOMIC_RELEASE);
    __atomic_store_n(&folder->page->findings_answered, folder->answered, __ATOMIC_RELEASE);
}

void folder_close(struct folder *folder)
{
    size_t i;
    if (folder->page) {
        munmap(folder->page, CONTROL_BYTES);
    }
    if (folder->directory) {
        file_remove_tree(folder->directory);
        rescue_end();
        free(folder->directory);
    }
    for (i = 0; i < folder->seen.count; i++) {
        mem_free(folder->seen.items[i]);
    }
    VEC_FREE(&folder->seen);
    VEC_FREE(&folder->early);
    memset(folder, 0, sizeof *folder);
}
