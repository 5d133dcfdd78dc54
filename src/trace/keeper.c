/* Writes a kept trace: records gathered to frames of KEPT_FRAME_BYTES, each compressed and
 * checksummed.
 *
 * The first failure sticks, later events are dropped, and keeper_close tells it. Cost: one encoding
 * and one copy per event, zstd at its fast end. */
#include "trace/keeper.h"

#include "trace/format.h"
#include "trace/record.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

enum { LEVEL = 3 };

struct keeper {
    char *path;
    int fd;
    ZSTD_CCtx *zstd;
    unsigned char *raw, *packed;
    size_t raw_bytes, raw_room, packed_room;
    uint32_t events;  /* in `raw` */
    uint64_t written; /* to the file */
    struct kept_end totals;
    struct ssan_error failure; /* status SSAN_OK: none yet */
};

static void write_all(struct keeper *keeper, const void *from, size_t bytes)
{
    const char *at = from;
    while (bytes && keeper->failure.status == SSAN_OK) {
        ssize_t done = write(keeper->fd, at, bytes);
        if (done < 0 && errno != EINTR) {
            bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
            ssan_fail(&keeper->failure, full ? SSAN_FULL : SSAN_IO, 0,
                      "%s: %s; the trace kept there is cut off", keeper->path, strerror(errno));
        } else if (done > 0) {
            at += done;
            keeper->written += (uint64_t)done;
            bytes -= (size_t)done;
        }
    }
}

static bool grow(struct keeper *keeper, unsigned char **buffer, size_t *room, size_t need)
{
    if (need <= *room) {
        return true;
    }
    unsigned char *more = mem_resize(*buffer, need, 1);
    if (!more) {
        ssan_fail(&keeper->failure, SSAN_NO_MEMORY, 0,
                  "%s: out of memory; the trace kept there is cut off", keeper->path);
        return false;
    }
    *buffer = more;
    *room = need;
    return true;
}

static void flush_frame(struct keeper *keeper)
{
    if (keeper->events == 0 || keeper->failure.status != SSAN_OK ||
        !grow(keeper, &keeper->packed, &keeper->packed_room,
              ZSTD_compressBound(keeper->raw_bytes))) {
        return;
    }
    size_t packed = ZSTD_compressCCtx(keeper->zstd, keeper->packed, keeper->packed_room,
                                      keeper->raw, keeper->raw_bytes, LEVEL);
    if (ZSTD_isError(packed)) {
        ssan_fail(&keeper->failure, SSAN_NO_MEMORY, 0, "%s: cannot compress: %s", keeper->path,
                  ZSTD_getErrorName(packed));
        return;
    }
    struct kept_frame frame = {
        .magic = FRAME_MAGIC,
        .events = keeper->events,
        .raw_bytes = (uint32_t)keeper->raw_bytes,
        .packed_bytes = (uint32_t)packed,
        .packed_check = XXH3_64bits(keeper->packed, packed),
    };
    frame.check = XXH3_64bits(&frame, offsetof(struct kept_frame, check));
    write_all(keeper, &frame, sizeof frame);
    write_all(keeper, keeper->packed, packed);
    keeper->totals.frames++;
    keeper->totals.events += keeper->events;
    keeper->totals.raw_bytes += keeper->raw_bytes;
    keeper->events = 0;
    keeper->raw_bytes = 0;
}

static void keeper_free(struct keeper *keeper)
{
    if (keeper->fd >= 0) {
        close(keeper->fd);
    }
    ZSTD_freeCCtx(keeper->zstd);
    mem_free(keeper->raw);
    mem_free(keeper->packed);
    mem_free(keeper->path);
    mem_free(keeper);
}

enum ssan_status keeper_open(struct keeper **keeper, const char *path, struct ssan_error *err)
{
    enum ssan_status status;
    struct keeper *made = mem_zalloc(1, sizeof *made);
    if (!made) {
        return ssan_fail(err, SSAN_NO_MEMORY, 0, "%s: out of memory", path);
    }
    made->fd = -1;
    made->path = mem_strdup(path);
    made->zstd = ZSTD_createCCtx();
    if (!made->path || !made->zstd) {
        status = ssan_fail(err, SSAN_NO_MEMORY, 0, "%s: out of memory", path);
        goto fail;
    }
    made->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (made->fd < 0) {
        status = ssan_fail(err, SSAN_IO, 0, "%s: %s", path, strerror(errno));
        goto fail;
    }
    struct kept_header header = {
        .magic = KEPT_MAGIC,
        .version = SSAN_TRACE_VERSION,
        .header_bytes = sizeof header,
        .vocabulary = record_vocabulary(),
    };
    header.check = XXH3_64bits(&header, offsetof(struct kept_header, check));
    write_all(made, &header, sizeof header);
    *keeper = made;
    return SSAN_OK;
fail:
    keeper_free(made);
    return status;
}

void keeper_put(struct keeper *keeper, const struct ssan_event *event)
{
    size_t bytes = record_bytes(event);
    if (keeper->failure.status != SSAN_OK) {
        return;
    }
    if (bytes == 0 || bytes > KEPT_FRAME_MAX) {
        ssan_fail(&keeper->failure, SSAN_FORMAT, 0, "%s: an event of %zu bytes cannot be kept",
                  keeper->path, bytes);
        return;
    }
    if (keeper->raw_bytes + bytes > KEPT_FRAME_BYTES) {
        flush_frame(keeper);
    }
    size_t need = bytes > KEPT_FRAME_BYTES ? bytes : KEPT_FRAME_BYTES;
    if (keeper->failure.status == SSAN_OK && grow(keeper, &keeper->raw, &keeper->raw_room, need)) {
        record_write(keeper->raw + keeper->raw_bytes, (uint32_t)bytes, event);
        keeper->raw_bytes += bytes;
        keeper->events++;
    }
}

uint64_t keeper_bytes(const struct keeper *keeper)
{
    return keeper->written;
}

bool keeper_is_good(const struct keeper *keeper)
{
    return keeper->failure.status == SSAN_OK;
}

enum ssan_status keeper_close(struct keeper *keeper, bool whole, struct ssan_error *err)
{
    flush_frame(keeper);
    keeper->totals.magic = END_MAGIC;
    keeper->totals.whole = whole;
    keeper->totals.check = XXH3_64bits(&keeper->totals, offsetof(struct kept_end, check));
    write_all(keeper, &keeper->totals, sizeof keeper->totals);
    if (close(keeper->fd) != 0 && keeper->failure.status == SSAN_OK && errno != EINTR) {
        ssan_fail(&keeper->failure, errno == ENOSPC || errno == EDQUOT ? SSAN_FULL : SSAN_IO, 0,
                  "%s: %s", keeper->path, strerror(errno));
    }
    keeper->fd = -1;
    enum ssan_status status = keeper->failure.status;
    if (status != SSAN_OK && err) {
        *err = keeper->failure;
    }
    keeper_free(keeper);
    return status;
}
