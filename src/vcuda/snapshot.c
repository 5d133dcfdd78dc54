/* Appends blocks to the file of the session, by plain writes.
 *
 * Invariant: the file holds whole blocks up to the first write that failed, a part of that one
 * perhaps, and nothing behind it: its end is missing then. It is opened anew for each block: the
 * program may close descriptors that it has not opened. Cost: one write of the bytes of each block.
 */
#include "vcuda/snapshot.h"

#include "trace/process.h"
#include "trace/snapshot_abi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static struct {
    bool on;
    uint64_t left, written;
    char path[4200];
} snapshot;

static bool put(int fd, const void *bytes, uint64_t count)
{
    const char *at = bytes;
    while (count > 0) {
        ssize_t written = write(fd, at, count);
        if (written > 0) {
            at += written;
            count -= (uint64_t)written;
        } else if (written == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* Appends two stretches. */
static void append(int flags, const void *head, uint64_t head_bytes, const void *rest,
                   uint64_t rest_bytes)
{
    uint64_t end = snapshot.written + head_bytes + rest_bytes;
    int fd = open(snapshot.path, O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0600);
    snapshot.on =
        fd >= 0 && process_may_write(end) && put(fd, head, head_bytes) && put(fd, rest, rest_bytes);
    if (fd >= 0 && close(fd) != 0) {
        snapshot.on = false;
    }
    snapshot.written = end;
}

void snapshot_open(const char *live_trace, uint64_t limit_bytes)
{
    const struct snapshot_header header = {.magic = SNAPSHOT_MAGIC, .version = SNAPSHOT_VERSION};
    snprintf(snapshot.path, sizeof snapshot.path, "%s" SNAPSHOT_SUFFIX, live_trace);
    snapshot.left = limit_bytes;
    snapshot.written = 0;
    append(O_CREAT | O_EXCL, &header, sizeof header, NULL, 0);
}

void snapshot_free(const struct memory_block *block)
{
    struct snapshot_block head = {.alloc = block->id,
                                  .memory = (uint32_t)block->kind,
                                  .address = block->address,
                                  .size_bytes = block->size,
                                  .kept_bytes = block->size};
    if (!snapshot.on || block->kind == SSAN_memory_REGISTERED || block->id == 0) {
        return;
    }
    if (head.kept_bytes > snapshot.left) {
        head.kept_bytes = snapshot.left;
    }
    snapshot.left -= head.kept_bytes;
    append(0, &head, sizeof head, memory_at(block->address), head.kept_bytes);
}

void snapshot_finish(void)
{
    const struct snapshot_block end = {0};
    struct memory_block block = {0};
    uint64_t at = 0;
    while (snapshot.on && memory_next(at, &block)) {
        snapshot_free(&block);
        at = block.address + block.size;
    }
    if (snapshot.on) {
        append(0, &end, sizeof end, NULL, 0);
    }
    snapshot.on = false;
}

void snapshot_detach(void)
{
    snapshot.on = false;
}
