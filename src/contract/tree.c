/* Folders, copies, and their ends. Errors keep the words of the system, with the path. */
#include "contract/tree.h"

#include "contract/forms.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES (64u << 10)

static enum ssan_status make_one(const char *path, struct ssan_error *err)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST ? SSAN_OK
                                                     : file_fail(err, errno, "can't create", path);
}

enum ssan_status tree_make(const char *base, const char *path, struct ssan_error *err)
{
    struct strbuf whole = {0};
    enum ssan_status status = SSAN_OK;
    strbuf_printf(&whole, "%s/%s", base, path);
    if (whole.failed) {
        return ssan_no_memory(err);
    }
    for (char *at = whole.text + strlen(base) + 1; *at && status == SSAN_OK; at++) {
        if (*at == '/') {
            *at = '\0';
            status = make_one(whole.text, err);
            *at = '/';
        }
    }
    status = status ? status : make_one(whole.text, err);
    strbuf_finish(&whole);
    return status;
}

static enum ssan_status write_all(int fd, const char *bytes, size_t length, const char *path,
                                  struct ssan_error *err)
{
    const int error = file_write(fd, bytes, length);
    return error ? file_fail(err, error, "can't write", path) : SSAN_OK;
}

/* Closes what was written, and tells what the close tells. */
static enum ssan_status close_written(int fd, const char *path, enum ssan_status status,
                                      struct ssan_error *err)
{
    return close(fd) != 0 && status == SSAN_OK ? file_fail(err, errno, "can't write", path)
                                               : status;
}

enum ssan_status tree_write(const char *path, const char *text, size_t length,
                            struct ssan_error *err)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        return file_fail(err, errno, "can't create", path);
    }
    enum ssan_status status = write_all(fd, text, length, path, err);
    if (status == SSAN_OK && fsync(fd) != 0 && errno != EINVAL) {
        status = file_fail(err, errno, "can't write", path);
    }
    return close_written(fd, path, status, err);
}

static enum ssan_status copy_bytes(int from, const char *from_path, int to, const char *to_path,
                                   struct ssan_error *err)
{
    char block[BLOCK_BYTES];
    enum ssan_status status = SSAN_OK;
    for (;;) {
        const ssize_t got = read(from, block, sizeof block);
        if (got == 0 || status) {
            return status;
        }
        if (got < 0 && errno != EINTR) {
            return file_fail(err, errno, "can't read", from_path);
        }
        status = got > 0 ? write_all(to, block, (size_t)got, to_path, err) : SSAN_OK;
    }
}

enum ssan_status tree_copy(const char *from, const char *to, struct ssan_error *err)
{
    struct stat info;
    /* nobody need have the other end of a pipe open */
    const int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (in < 0 || fstat(in, &info) != 0 || !S_ISREG(info.st_mode)) {
        const int error = in < 0 ? errno : S_ISDIR(info.st_mode) ? EISDIR : 0;
        if (in >= 0) {
            close(in);
        }
        return error ? file_fail(err, error, "can't read", from)
                     : ssan_fail(err, SSAN_IO, 0, "can't read %.200s: it is no plain file", from);
    }
    const int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, info.st_mode & 0777);
    enum ssan_status status;
    if (out < 0) {
        status = file_fail(err, errno, "can't create", to);
    } else {
        status = copy_bytes(in, from, out, to, err);
        status = close_written(out, to, status, err);
    }
    close(in);
    return status;
}

/* Whether a file of the contract is there to be read, and one. */
static enum ssan_status look_at(const struct contract_options *options, const struct spec *spec,
                                const char *path, const char *name, struct ssan_error *err)
{
    struct strbuf from = {0};
    struct stat info;
    enum ssan_status status = SSAN_OK;
    strbuf_printf(&from, "%s/%s", options->plan->folder, name);
    if (from.failed) {
        status = ssan_no_memory(err);
    } else if (access(strbuf_text(&from), R_OK) != 0 || stat(strbuf_text(&from), &info) != 0) {
        status = spec_blame(err, spec, options->plan->spec_name, path, "%.200s: %s", name,
                            strerror(errno));
    } else if (!S_ISREG(info.st_mode)) {
        status =
            spec_blame(err, spec, options->plan->spec_name, path, "%.200s is no plain file", name);
    }
    strbuf_finish(&from);
    return status;
}

/* One file of the contract into sources/; without a work folder it is only looked at. */
static enum ssan_status take_file(const struct contract_options *options, const struct spec *spec,
                                  const char *path, const char *name, struct ssan_error *err)
{
    struct strbuf from = {0}, to = {0};
    struct ssan_error inner = {0};
    const char *slash = strrchr(name, '/');
    enum ssan_status status = look_at(options, spec, path, name, err);
    if (status || !options->work) {
        return status;
    }
    strbuf_printf(&from, "%s/%s", options->plan->folder, name);
    if (slash) {
        strbuf_printf(&to, "sources/%.*s", (int)(slash - name), name);
        status = to.failed ? ssan_no_memory(err) : tree_make(options->work, strbuf_text(&to), err);
        strbuf_clear(&to);
    }
    strbuf_printf(&to, "%s/sources/%s", options->work, name);
    if (status == SSAN_OK && (from.failed || to.failed)) {
        status = ssan_no_memory(err);
    } else if (status == SSAN_OK) {
        status = tree_copy(strbuf_text(&from), strbuf_text(&to), &inner);
        if (status) {
            ssan_fail(err, status, 0, "%s", inner.text);
        }
    }
    strbuf_finish(&from);
    strbuf_finish(&to);
    return status;
}

static enum ssan_status take_list(const struct contract_options *options, const struct spec *spec,
                                  const char *key, const struct spec_list *list,
                                  struct ssan_error *err)
{
    enum ssan_status status = SSAN_OK;
    for (unsigned i = 0; i < list->count && status == SSAN_OK; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s[%u]", key, i);
        status = take_file(options, spec, path, list->items[i], err);
    }
    return status;
}

/* The files of schedules that stand beside the contract. */
static enum ssan_status take_schedules(const struct contract_options *options,
                                       const struct spec *spec, const char *path,
                                       const struct spec_list *schedules, struct ssan_error *err)
{
    enum ssan_status status = SSAN_OK;
    for (unsigned i = 0; i < schedules->count && status == SSAN_OK; i++) {
        char place[96];
        const char *schedule = schedules->items[i];
        snprintf(place, sizeof place, "%s[%u]", path, i);
        if (strncmp(schedule, "file:", 5) == 0 && forms_is_below(schedule + 5)) {
            status = take_file(options, spec, place, schedule + 5, err);
        }
    }
    return status;
}

static enum ssan_status take_all_schedules(const struct contract_options *options,
                                           const struct spec *spec, struct ssan_error *err)
{
    const struct spec_contract *contract = spec->contract;
    enum ssan_status status =
        take_schedules(options, spec, "matrix.schedules", &contract->matrix.over.schedules, err);
    for (unsigned i = 0; i < contract->faults_count && status == SSAN_OK; i++) {
        char path[64];
        snprintf(path, sizeof path, "faults[%u].schedules", i);
        status = take_schedules(options, spec, path, &contract->faults[i].over.schedules, err);
    }
    return status;
}

/* The files that outputs are compared with, for every run without a fault. */
static enum ssan_status take_expected(const struct contract_options *options,
                                      const struct spec *spec, const struct contract_plan *plan,
                                      struct ssan_error *err)
{
    const struct spec_expect *expect = &spec->contract->expect;
    enum ssan_status status = SSAN_OK;
    for (unsigned i = 0; i < expect->files_count; i++) {
        struct strbuf before = {0};
        for (size_t k = 0; k < plan->runs.count && status == SSAN_OK; k++) {
            struct strbuf name = {0};
            char path[64];
            snprintf(path, sizeof path, "expect.files[%u]", i);
            status = contract_plan_expand(&name, plan, options->plan, &plan->runs.items[k],
                                          expect->files[i].expected, err);
            if (status == SSAN_OK && strcmp(strbuf_text(&name), strbuf_text(&before)) != 0) {
                status = take_file(options, spec, path, strbuf_text(&name), err);
            }
            strbuf_finish(&before);
            before = name;
        }
        strbuf_finish(&before);
    }
    return status;
}

/* All files that the contract names. */
static enum ssan_status take_all(const struct contract_options *options, const struct spec *spec,
                                 const struct contract_plan *plan, struct ssan_error *err)
{
    const struct spec_build *build = &spec->contract->build;
    enum ssan_status status = take_list(options, spec, "build.sources", &build->sources, err);
    if (status == SSAN_OK) {
        status = take_list(options, spec, "build.files", &build->files, err);
    }
    if (status == SSAN_OK) {
        status = take_all_schedules(options, spec, err);
    }
    return status == SSAN_OK ? take_expected(options, spec, plan, err) : status;
}

enum ssan_status tree_check(const struct plan_options *options, const struct spec *spec,
                            const struct contract_plan *plan, struct ssan_error *err)
{
    const struct contract_options only_look = {.plan = options};
    return take_all(&only_look, spec, plan, err);
}

bool tree_is_as_copied(const char *work, const char *name)
{
    struct strbuf copy = {0}, last = {0};
    struct stat of_copy, of_last;
    strbuf_printf(&copy, "%s/sources/%s", work, name);
    strbuf_printf(&last, "%s/contract.yaml", work);
    const bool there = !copy.failed && !last.failed && stat(strbuf_text(&copy), &of_copy) == 0 &&
                       stat(strbuf_text(&last), &of_last) == 0;
    strbuf_finish(&copy);
    strbuf_finish(&last);
    return there && (of_copy.st_ctim.tv_sec != of_last.st_ctim.tv_sec
                         ? of_copy.st_ctim.tv_sec < of_last.st_ctim.tv_sec
                         : of_copy.st_ctim.tv_nsec <= of_last.st_ctim.tv_nsec);
}

enum ssan_status tree_fill(const struct contract_options *options, const struct spec *spec,
                           const struct contract_plan *plan, struct ssan_error *err)
{
    struct strbuf to = {0};
    enum ssan_status status = tree_make(options->work, "sources", err);
    for (size_t i = 0; i < plan->builds.count && status == SSAN_OK; i++) {
        status = tree_make(options->work, plan->builds.items[i].folder, err);
    }
    for (size_t i = 0; i < plan->runs.count && status == SSAN_OK; i++) {
        status = tree_make(options->work, plan->runs.items[i].folder, err);
    }
    if (status == SSAN_OK) {
        status = take_all(options, spec, plan, err);
    }
    strbuf_printf(&to, "%s/contract.yaml", options->work);
    if (status == SSAN_OK) {
        status =
            to.failed ? ssan_no_memory(err) : tree_copy(options->spec_path, strbuf_text(&to), err);
    }
    strbuf_finish(&to);
    return status;
}
