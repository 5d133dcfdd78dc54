/* Creating, growing and mapping a live trace with libc's system call wrappers only. */
#include "trace/live_file.h"

#include "trace/control_abi.h"
#include "trace/process.h"
#include "trace/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NAMES = 10000, HIGH_FD = 400 };

/* A descriptor out of the way of programs that count theirs; the given one when none is to be had.
 */
static int move_up(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
    if (high < 0) {
        return fd;
    }
    close(fd);
    return high;
}

static bool is_ours(const struct live_file *file, int fd)
{
    struct stat at;
    return fd >= 0 && fstat(fd, &at) == 0 && at.st_dev == file->device && at.st_ino == file->inode;
}

/* The descriptor of the file, -1 when it can't be had any more. */
static int find_fd(struct live_file *file)
{
    if (is_ours(file, file->fd)) {
        return file->fd;
    }
    file->fd = -1; /* closed by the target, perhaps another file by now: not ours to close */
    int fd = open(file->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && !is_ours(file, fd)) {
        close(fd);
        fd = -1;
    }
    file->fd = fd < 0 ? -1 : move_up(fd);
    return file->fd;
}

/* For file systems without fallocate: the space is real once bytes are written. */
static bool grant_by_writing(int fd, uint64_t offset, uint64_t bytes)
{
    static const char zeros[4096];
    while (bytes) {
        size_t piece = bytes < sizeof zeros ? (size_t)bytes : sizeof zeros;
        ssize_t done = pwrite(fd, zeros, piece, (off_t)offset);
        if (done <= 0 && errno != EINTR) {
            return false;
        }
        if (done > 0) {
            offset += (uint64_t)done;
            bytes -= (uint64_t)done;
        }
    }
    return true;
}

static bool grant(int fd, uint64_t offset, uint64_t bytes)
{
    int failed;
    if (!process_may_write(offset + bytes)) {
        errno = EFBIG;
        return false;
    }
    do {
        failed = fallocate(fd, 0, (off_t)offset, (off_t)bytes);
    } while (failed && errno == EINTR);
    if (failed && (errno == EOPNOTSUPP || errno == ENOSYS)) {
        return grant_by_writing(fd, offset, bytes);
    }
    return !failed;
}

bool live_file_grant(struct live_file *file, uint64_t offset, uint64_t bytes)
{
    int fd = find_fd(file);
    return fd >= 0 && grant(fd, offset, bytes);
}

uint64_t live_file_disk_bytes(struct live_file *file)
{
    struct stat status;
    int fd = find_fd(file);
    return fd >= 0 && fstat(fd, &status) == 0 ? (uint64_t)status.st_blocks * 512 : 0;
}

unsigned char *live_file_map(struct live_file *file, void *where, uint64_t offset, uint64_t bytes)
{
    int fd = find_fd(file);
    if (fd < 0) {
        return NULL;
    }
    void *at = mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (where ? MAP_FIXED : 0), fd,
                    (off_t)offset);
    return at == MAP_FAILED ? NULL : at;
}

bool live_file_populate(unsigned char *memory, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    return madvise(memory, bytes, MADV_POPULATE_WRITE) == 0 || errno == EINVAL || errno == EINTR;
#else
    return true;
#endif
}

static void fill_header(struct live_header *header)
{
    header->version = SSAN_TRACE_VERSION;
    header->header_bytes = sizeof *header;
    header->chunk_bytes = LIVE_CHUNK;
    header->pid = (uint32_t)getpid();
    header->vocabulary = record_vocabulary();
    header->start_ticks = process_start_ticks(header->pid);
    atomic_store_explicit((_Atomic uint64_t *)&header->magic, LIVE_MAGIC, memory_order_release);
}

/* Gives the finished file its first free name; link fails where one exists already, unlike rename.
 */
static enum ssan_status publish(struct live_file *file, const char *directory, const char *hidden,
                                struct ssan_error *err)
{
    for (int n = 0; n < MAX_NAMES; n++) {
        char tail[48];
        if (n == 0) {
            snprintf(tail, sizeof tail, "%ld" CONTROL_SUFFIX, (long)getpid());
        } else {
            snprintf(tail, sizeof tail, "%ld.%d" CONTROL_SUFFIX, (long)getpid(), n);
        }
        if (snprintf(file->path, sizeof file->path, "%s/%s", directory, tail) >=
            (int)sizeof file->path) {
            return ssan_fail(err, SSAN_IO, 0, "%s: the name is too long", directory);
        }
        if (link(hidden, file->path) == 0) {
            unlink(hidden);
            return SSAN_OK;
        }
        bool no_links = errno == EPERM || errno == EOPNOTSUPP || errno == EMLINK;
        if (no_links && access(file->path, F_OK) != 0 && rename(hidden, file->path) == 0) {
            return SSAN_OK;
        }
        if (errno != EEXIST && !no_links) {
            break;
        }
    }
    return ssan_fail(err, SSAN_IO, 0, "%s: %s", file->path, strerror(errno));
}

enum ssan_status live_file_create(struct live_file *file, const char *directory,
                                  struct live_header **header, struct ssan_error *err)
{
    char absolute[PATH_MAX], hidden[PATH_MAX];
    struct stat at;
    void *page = MAP_FAILED;
    enum ssan_status status;
    file->fd = -1;
    if (!realpath(directory, absolute)) {
        return ssan_fail(err, SSAN_IO, 0, "%s: %s", directory, strerror(errno));
    }
    if (snprintf(hidden, sizeof hidden, "%s/.new-XXXXXX", absolute) >= (int)sizeof hidden) {
        return ssan_fail(err, SSAN_IO, 0, "%s: the name is too long", absolute);
    }
    int fd = mkostemp(hidden, O_CLOEXEC);
    if (fd < 0) {
        return ssan_fail(err, SSAN_IO, 0, "%s: %s", hidden, strerror(errno));
    }
    fd = move_up(fd);
    if (!grant(fd, 0, sizeof **header) || fstat(fd, &at) != 0 ||
        (page = mmap(NULL, sizeof **header, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) ==
            MAP_FAILED) {
        status = ssan_fail(err, errno == ENOSPC || errno == EDQUOT ? SSAN_FULL : SSAN_IO, 0,
                           "%s: no space for a trace: %s", absolute, strerror(errno));
        goto fail;
    }
    fill_header(page);
    file->fd = fd;
    file->device = at.st_dev;
    file->inode = at.st_ino;
    status = publish(file, absolute, hidden, err);
    if (status != SSAN_OK) {
        goto fail;
    }
    *header = page;
    return SSAN_OK;
fail:
    unlink(hidden);
    if (page != MAP_FAILED) {
        munmap(page, sizeof **header);
    }
    close(fd);
    file->fd = -1;
    return status;
}
