/* Hashes of a folder. Lines are sorted by the bytes of their paths; a line that is not exactly of
 * the form "<64 digits>  <path>\n" makes the whole manifest damaged, so no change of it is read
 * over. */
#include "contract/manifest.h"

#include "contract/tree.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES         (64u << 10)
#define MANIFEST_BYTES_MOST (256u << 20)
#define DIGITS              (DIGEST_ROOM - 1)

/* The files of a folder, or the lines of a manifest. */
struct entry {
    const char *path;
    bool plain;               /* a regular file */
    char digest[DIGEST_ROOM]; /* of a manifest's line */
};

struct entries {
    VEC(struct entry) list;
};

enum ssan_status digest_file(char digest[DIGEST_ROOM], const char *path, struct ssan_error *err)
{
    SHA2_CTX context;
    uint8_t block[BLOCK_BYTES];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return file_fail(err, errno, "can't read", path);
    }
    SHA256Init(&context);
    for (;;) {
        const ssize_t got = read(fd, block, sizeof block);
        if (got < 0 && errno != EINTR) {
            const int error = errno;
            close(fd);
            return file_fail(err, error, "can't read", path);
        }
        if (got == 0) {
            break;
        }
        SHA256Update(&context, block, got > 0 ? (size_t)got : 0);
    }
    close(fd);
    SHA256End(&context, digest);
    return SSAN_OK;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

/* Names are compared as whole paths, and fts need not sort. */
static void sort(struct entries *entries)
{
    if (entries->list.count) {
        qsort(entries->list.items, entries->list.count, sizeof *entries->list.items, by_path);
    }
}

static enum ssan_status take_found(struct entries *entries, const FTSENT *found, size_t base,
                                   struct arena *arena, struct ssan_error *err)
{
    switch (found->fts_info) {
    case FTS_D:
    case FTS_DP:
        return SSAN_OK;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
    case FTS_DC:
        return file_fail(err, found->fts_errno ? found->fts_errno : ELOOP, "can't read",
                         found->fts_path);
    default:
        break;
    }
    /* fts puts no second slash behind a folder that ends in one */
    const char *path = found->fts_path + base;
    struct entry entry = {.path = arena_strdup(arena, path + strspn(path, "/")),
                          .plain = found->fts_info == FTS_F};
    if (!entry.path) {
        return ssan_no_memory(err);
    }
    if (strcmp(entry.path, MANIFEST_NAME) == 0) {
        return SSAN_OK;
    }
    return VEC_PUSH(&entries->list, entry) ? SSAN_OK : ssan_no_memory(err);
}

/* All that lies in the folder but its manifest, sorted. */
static enum ssan_status walk(struct entries *entries, const char *folder, struct arena *arena,
                             struct ssan_error *err)
{
    char *paths[] = {(char *)folder, NULL};
    enum ssan_status status = SSAN_OK;
    const FTSENT *found;
    /* the folder itself may be named by a link, nothing in it may be one */
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    if (!tree) {
        return file_fail(err, errno, "can't read", folder);
    }
    errno = 0;
    while (status == SSAN_OK && (found = fts_read(tree))) {
        status = take_found(entries, found, strlen(folder), arena, err);
        errno = 0;
    }
    if (status == SSAN_OK && errno) {
        status = file_fail(err, errno, "can't read", folder);
    }
    fts_close(tree);
    sort(entries);
    return status;
}

/* Names that a line can hold: no control characters, so that none needs an escape. */
static bool is_writable_name(const char *path)
{
    for (; *path; path++) {
        if ((unsigned char)*path < 32 || *path == 127 || *path == '\\') {
            return false;
        }
    }
    return true;
}

static enum ssan_status add_line(struct strbuf *text, const char *folder, const struct entry *entry,
                                 struct ssan_error *err)
{
    struct strbuf path = {0};
    char digest[DIGEST_ROOM];
    if (!entry->plain || !is_writable_name(entry->path)) {
        struct strbuf name = {0};
        strbuf_add_printable(&name, entry->path, strlen(entry->path), 200);
        const enum ssan_status status =
            ssan_fail(err, SSAN_FORMAT, 0,
                      "%.200s is no plain file, or its name has control characters or a backslash",
                      strbuf_text(&name));
        strbuf_finish(&name);
        return status;
    }
    strbuf_printf(&path, "%s/%s", folder, entry->path);
    const enum ssan_status status =
        path.failed ? ssan_no_memory(err) : digest_file(digest, strbuf_text(&path), err);
    if (status == SSAN_OK) {
        strbuf_printf(text, "%s  %s\n", digest, entry->path);
    }
    strbuf_finish(&path);
    return status;
}

/* Puts the text at its place, at once, down to the disk. */
static enum ssan_status put_in_place(const char *folder, const struct strbuf *text,
                                     struct ssan_error *err)
{
    struct strbuf beside = {0}, path = {0};
    strbuf_printf(&beside, "%s/." MANIFEST_NAME ".new", folder);
    strbuf_printf(&path, "%s/" MANIFEST_NAME, folder);
    enum ssan_status status =
        text->failed || beside.failed || path.failed
            ? ssan_no_memory(err)
            : tree_write(strbuf_text(&beside), strbuf_text(text), text->length, err);
    if (status == SSAN_OK && rename(strbuf_text(&beside), strbuf_text(&path)) != 0) {
        status = file_fail(err, errno, "can't create", strbuf_text(&path));
    }
    if (status && beside.length) {
        (void)unlink(strbuf_text(&beside));
    }
    if (status == SSAN_OK) {
        const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0) {
            (void)fsync(fd);
            close(fd);
        }
    }
    strbuf_finish(&beside);
    strbuf_finish(&path);
    return status;
}

enum ssan_status manifest_write(const char *folder, char digest[DIGEST_ROOM],
                                struct ssan_error *err)
{
    struct entries entries = {0};
    struct arena arena = {0};
    struct strbuf text = {0};
    enum ssan_status status = walk(&entries, folder, &arena, err);
    for (size_t i = 0; i < entries.list.count && status == SSAN_OK; i++) {
        status = add_line(&text, folder, &entries.list.items[i], err);
    }
    if (status == SSAN_OK) {
        status = put_in_place(folder, &text, err);
    }
    if (status == SSAN_OK) {
        SHA256Data((const uint8_t *)strbuf_text(&text), text.length, digest);
    }
    strbuf_finish(&text);
    VEC_FREE(&entries.list);
    arena_finish(&arena);
    return status;
}

/* A path that a manifest may name: below the folder. */
static bool is_below(const char *path)
{
    return path[0] && path[0] != '/' && strcmp(path, "..") != 0 && strncmp(path, "../", 3) != 0 &&
           !strstr(path, "/../") && is_writable_name(path);
}

/* One line, without its newline. */
static bool take_line(struct entries *entries, const char *line, size_t length, struct arena *arena)
{
    struct entry entry = {.plain = true};
    if (length < DIGITS + 3 || strspn(line, "0123456789abcdef") != DIGITS ||
        memcmp(line + DIGITS, "  ", 2) != 0 || memchr(line, '\0', length)) {
        return false;
    }
    memcpy(entry.digest, line, DIGITS);
    entry.path = arena_strndup(arena, line + DIGITS + 2, length - DIGITS - 2);
    return entry.path && is_below(entry.path) && VEC_PUSH(&entries->list, entry);
}

static enum ssan_status read_lines(struct entries *entries, const char *folder,
                                   struct manifest_result *result, struct ssan_error *err)
{
    struct strbuf path = {0}, text = {0};
    struct ssan_error inner = {0};
    struct stat info;
    strbuf_printf(&path, "%s/" MANIFEST_NAME, folder);
    const bool plain = lstat(strbuf_text(&path), &info) != 0 || S_ISREG(info.st_mode);
    enum ssan_status status =
        path.failed ? ssan_no_memory(err)
        : !plain    ? ssan_fail(&inner, SSAN_FORMAT, 0, MANIFEST_NAME " is no plain file")
                    : file_read(&text, strbuf_text(&path), MANIFEST_BYTES_MOST, &inner);
    if (status && !path.failed) {
        status = access(folder, F_OK) != 0
                     ? file_fail(err, errno, "can't read", folder)
                     : ssan_fail(err, SSAN_FORMAT, 0,
                                 "%.200s holds no evidence, or evidence that was never finished: "
                                 "%.200s",
                                 folder, inner.text);
    }
    const char *at = strbuf_text(&text), *end = at + text.length;
    for (uint64_t line = 1; status == SSAN_OK && at < end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const size_t count = entries->list.count;
        if (!newline || !take_line(entries, at, (size_t)(newline - at), &result->arena) ||
            (count &&
             strcmp(entries->list.items[count - 1].path, entries->list.items[count].path) >= 0)) {
            status = ssan_fail(err, SSAN_FORMAT, line,
                               "%.200s:%llu: the manifest is damaged: it is not as it was written",
                               strbuf_text(&path), (unsigned long long)line);
            break;
        }
        at = newline + 1;
    }
    if (status == SSAN_OK && entries->list.count == 0) {
        status =
            ssan_fail(err, SSAN_FORMAT, 0, "%.200s: the manifest is empty", strbuf_text(&path));
    }
    SHA256Data((const uint8_t *)strbuf_text(&text), text.length, result->digest);
    strbuf_finish(&path);
    strbuf_finish(&text);
    return status;
}

static enum ssan_status tell(struct manifest_result *result, enum manifest_change change,
                             const char *path, struct ssan_error *err)
{
    const struct manifest_difference difference = {change, path};
    return VEC_PUSH(&result->differences, difference) ? SSAN_OK : ssan_no_memory(err);
}

/* A file that both know. */
static enum ssan_status compare_one(struct manifest_result *result, const char *folder,
                                    const struct entry *wanted, const struct entry *found,
                                    struct ssan_error *err)
{
    struct strbuf path = {0};
    char digest[DIGEST_ROOM];
    enum ssan_status status = SSAN_OK;
    if (!found->plain) {
        return tell(result, MANIFEST_CHANGED, wanted->path, err);
    }
    strbuf_printf(&path, "%s/%s", folder, wanted->path);
    status = path.failed ? ssan_no_memory(err) : digest_file(digest, strbuf_text(&path), err);
    strbuf_finish(&path);
    if (status == SSAN_OK && strcmp(digest, wanted->digest) != 0) {
        status = tell(result, MANIFEST_CHANGED, wanted->path, err);
    }
    return status;
}

static enum ssan_status compare(struct manifest_result *result, const char *folder,
                                const struct entries *wanted, const struct entries *found,
                                struct ssan_error *err)
{
    size_t i = 0, k = 0;
    enum ssan_status status = SSAN_OK;
    while (status == SSAN_OK && (i < wanted->list.count || k < found->list.count)) {
        const struct entry *left = i < wanted->list.count ? &wanted->list.items[i] : NULL;
        const struct entry *right = k < found->list.count ? &found->list.items[k] : NULL;
        const int order = !left ? 1 : !right ? -1 : strcmp(left->path, right->path);
        if (order < 0) {
            status = tell(result, MANIFEST_MISSING, left->path, err);
        } else if (order > 0) {
            status = tell(result, MANIFEST_ADDED, right->path, err);
        } else {
            status = compare_one(result, folder, left, right, err);
        }
        i += order <= 0;
        k += order >= 0;
    }
    return status;
}

enum ssan_status manifest_verify(struct manifest_result *result, const char *folder,
                                 struct ssan_error *err)
{
    struct entries wanted = {0}, found = {0};
    *result = (struct manifest_result){0};
    enum ssan_status status = read_lines(&wanted, folder, result, err);
    result->files = wanted.list.count;
    if (status == SSAN_OK) {
        status = walk(&found, folder, &result->arena, err);
    }
    if (status == SSAN_OK) {
        status = compare(result, folder, &wanted, &found, err);
    }
    VEC_FREE(&wanted.list);
    VEC_FREE(&found.list);
    return status;
}

void manifest_result_finish(struct manifest_result *result)
{
    VEC_FREE(&result->differences);
    arena_finish(&result->arena);
}

const char *manifest_change_word(enum manifest_change change)
{
    static const char *const words[] = {"changed", "missing", "added"};
    return words[change];
}
