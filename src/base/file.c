/* Reads files by blocks, so that what has no size of its own (a pipe, /proc) is read as well, and
 * what has no end stops at the limit; writes; removes folders. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES 16384

enum ssan_status file_fail(struct ssan_error *err, int error, const char *what, const char *path)
{
    const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    return ssan_fail(err, full ? SSAN_FULL : SSAN_IO, 0, "%s %s: %s", what, path, strerror(error));
}

enum ssan_status file_read(struct strbuf *text, const char *path, size_t most_bytes,
                           struct ssan_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const size_t before = text->length;
    char block[BLOCK_BYTES];
    ssize_t got = 1;
    int error = fd < 0 ? errno : 0;
    while (!error && got > 0 && !text->failed && text->length - before <= most_bytes) {
        got = read(fd, block, sizeof block);
        if (got > 0) {
            strbuf_add(text, block, (size_t)got);
        } else if (got < 0 && errno == EINTR) {
            got = 1;
        } else if (got < 0) {
            error = errno;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    if (error) {
        return ssan_fail(err, SSAN_IO, 0, "%s: %s", path, strerror(error));
    }
    if (text->failed) {
        return ssan_fail(err, SSAN_NO_MEMORY, 0, "%s: out of memory", path);
    }
    if (text->length - before > most_bytes) {
        return ssan_fail(err, SSAN_FORMAT, 0, "%s: longer than %zu bytes", path, most_bytes);
    }
    return SSAN_OK;
}

void file_read_end(struct strbuf *text, const char *path, size_t most_bytes)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char block[BLOCK_BYTES];
    struct stat info = {.st_size = 0};
    ssize_t got = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    const uint64_t size = (uint64_t)info.st_size;
    uint64_t at = size > most_bytes ? size - most_bytes : 0;
    while (got > 0 && at < size && !text->failed) {
        const uint64_t left = size - at;
        got = pread(fd, block, left < sizeof block ? (size_t)left : sizeof block, (off_t)at);
        if (got > 0) {
            strbuf_add(text, block, (size_t)got);
            at += (uint64_t)got;
        } else if (got < 0 && errno == EINTR) {
            got = 1;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
}

int file_write(int fd, const void *bytes, size_t length_bytes)
{
    const char *at = bytes;
    while (length_bytes > 0) {
        const ssize_t done = write(fd, at, length_bytes);
        if (done < 0 && errno != EINTR) {
            return errno;
        }
        at += done > 0 ? done : 0;
        length_bytes -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

const char *file_temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    (void)remove(path);
    return 0;
}

void file_remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
