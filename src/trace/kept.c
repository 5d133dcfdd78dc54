/* Reads a kept trace: header, frames, end mark, each with its checksum.
 *
 * Naive model: the whole file unpacked, then its records one by one. Bytes that do not fit their
 * checksum are an error with their offset; a file that stops before its end mark is cut, and
 * everything before is given. Cost: one frame in memory, packed and unpacked. */
#include "trace/reader_form.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

struct kept {
    struct reader base;
    char *path;
    int fd;
    ZSTD_DCtx *zstd;
    uint64_t offset; /* of the next frame or end mark */
    uint64_t frame;  /* of the frame in `raw` */
    unsigned char *packed, *raw;
    size_t packed_room, raw_room;
    size_t at, raw_bytes; /* in `raw` */
    uint32_t left;        /* records of the frame not given yet */
    struct kept_end seen; /* totals so far */
};

enum loaded { LOADED_FRAME, LOADED_END, LOADED_CUT, LOADED_ERROR };

static enum loaded damaged(struct kept *kept, uint64_t at, const char *what, struct ssan_error *err)
{
    ssan_fail(err, SSAN_FORMAT, at, "%s is damaged at byte %llu: %s", kept->path,
              (unsigned long long)at, what);
    return LOADED_ERROR;
}

static enum loaded io_fail(struct kept *kept, struct ssan_error *err)
{
    ssan_fail(err, SSAN_IO, kept->offset, "%s: %s", kept->path, strerror(errno));
    return LOADED_ERROR;
}

static bool grow(unsigned char **buffer, size_t *room, size_t need)
{
    if (need > *room) {
        unsigned char *more = mem_resize(*buffer, need, 1);
        if (!more) {
            return false;
        }
        *buffer = more;
        *room = need;
    }
    return true;
}

/* The end mark, of which `got` bytes are there. */
static enum loaded load_end(struct kept *kept, struct ssan_error *err)
{
    struct kept_end end;
    unsigned char more;
    ssize_t got = read_at(kept->fd, &end, sizeof end, kept->offset);
    if (got < 0) {
        return io_fail(kept, err);
    }
    if ((size_t)got < sizeof end) {
        return LOADED_CUT;
    }
    if (end.check != XXH3_64bits(&end, offsetof(struct kept_end, check)) || end.whole > 1) {
        return damaged(kept, kept->offset, "the end mark does not fit its checksum", err);
    }
    if (end.events != kept->seen.events || end.frames != kept->seen.frames ||
        end.raw_bytes != kept->seen.raw_bytes) {
        return damaged(kept, kept->offset, "the end mark counts other events than are there", err);
    }
    got = read_at(kept->fd, &more, 1, kept->offset + sizeof end);
    if (got != 0) {
        return got < 0 ? io_fail(kept, err)
                       : damaged(kept, kept->offset + sizeof end, "bytes behind the end mark", err);
    }
    return end.whole ? LOADED_END : LOADED_CUT;
}

/* The packed bytes of `frame`, checked and unpacked. */
static enum loaded load_packed(struct kept *kept, const struct kept_frame *frame,
                               struct ssan_error *err)
{
    uint64_t begin = kept->offset + sizeof *frame;
    struct stat file;
    if (fstat(kept->fd, &file) != 0) {
        return io_fail(kept, err);
    }
    if (S_ISREG(file.st_mode) && (uint64_t)file.st_size < begin + frame->packed_bytes) {
        return LOADED_CUT;
    }
    if (!grow(&kept->packed, &kept->packed_room, frame->packed_bytes) ||
        !grow(&kept->raw, &kept->raw_room, frame->raw_bytes)) {
        ssan_fail(err, SSAN_NO_MEMORY, kept->offset, "%s: out of memory", kept->path);
        return LOADED_ERROR;
    }
    ssize_t got = read_at(kept->fd, kept->packed, frame->packed_bytes, begin);
    if (got < 0) {
        return io_fail(kept, err);
    }
    if ((size_t)got < frame->packed_bytes) {
        return LOADED_CUT;
    }
    if (frame->packed_check != XXH3_64bits(kept->packed, frame->packed_bytes)) {
        return damaged(kept, begin, "the frame does not fit its checksum", err);
    }
    size_t raw = ZSTD_decompressDCtx(kept->zstd, kept->raw, frame->raw_bytes, kept->packed,
                                     frame->packed_bytes);
    if (ZSTD_isError(raw) || raw != frame->raw_bytes) {
        return damaged(kept, begin, "the frame does not unpack", err);
    }
    return LOADED_FRAME;
}

static enum loaded load(struct kept *kept, struct ssan_error *err)
{
    struct kept_frame frame;
    ssize_t got = read_at(kept->fd, &frame, sizeof frame, kept->offset);
    if (got < 0) {
        return io_fail(kept, err);
    }
    if ((size_t)got >= sizeof frame.magic && frame.magic == END_MAGIC) {
        return load_end(kept, err);
    }
    if ((size_t)got >= sizeof frame.magic && frame.magic != FRAME_MAGIC) {
        return damaged(kept, kept->offset, "neither a frame nor an end mark", err);
    }
    if ((size_t)got < sizeof frame) {
        return LOADED_CUT;
    }
    if (frame.check != XXH3_64bits(&frame, offsetof(struct kept_frame, check))) {
        return damaged(kept, kept->offset, "the frame's head does not fit its checksum", err);
    }
    if (frame.events == 0 || frame.raw_bytes > KEPT_FRAME_MAX ||
        frame.packed_bytes > ZSTD_COMPRESSBOUND((size_t)KEPT_FRAME_MAX)) {
        return damaged(kept, kept->offset, "the frame's head has impossible lengths", err);
    }
    enum loaded answer = load_packed(kept, &frame, err);
    if (answer == LOADED_FRAME) {
        kept->frame = kept->offset;
        kept->offset += sizeof frame + frame.packed_bytes;
        kept->at = 0;
        kept->raw_bytes = frame.raw_bytes;
        kept->left = frame.events;
        kept->seen.frames++;
        kept->seen.events += frame.events;
        kept->seen.raw_bytes += frame.raw_bytes;
    }
    return answer;
}

/* The next record of the frame. */
static enum ssan_next give_record(struct kept *kept, struct ssan_event *event,
                                  struct ssan_error *err)
{
    struct record_head head = {0, 0};
    struct record_fault fault = {"?", NULL, "the record's size does not fit its frame"};
    size_t left = kept->raw_bytes - kept->at;
    if (left >= sizeof head) {
        memcpy(&head, kept->raw + kept->at, sizeof head);
    }
    kept->left--;
    if (head.size < sizeof head || head.size % 8 || head.size > left ||
        (kept->left == 0 && head.size != left)) {
        fault_fail(err, kept->path, kept->frame, &fault);
        return SSAN_NEXT_ERROR;
    }
    const unsigned char *fields = kept->raw + kept->at + sizeof head;
    kept->at += head.size;
    kept->base.position = kept->frame;
    if (!record_read(fields, head.size - sizeof head, head.kind, event, &fault)) {
        fault_fail(err, kept->path, kept->frame, &fault);
        return SSAN_NEXT_ERROR;
    }
    return SSAN_NEXT_EVENT;
}

static enum ssan_next kept_next(struct reader *reader, struct ssan_event *event,
                                struct ssan_error *err)
{
    struct kept *kept = (struct kept *)reader;
    while (kept->left == 0) {
        switch (load(kept, err)) {
        case LOADED_FRAME:
            break;
        case LOADED_END:
            return SSAN_NEXT_END;
        case LOADED_CUT:
            return SSAN_NEXT_CUT;
        case LOADED_ERROR:
            return SSAN_NEXT_ERROR;
        }
    }
    return give_record(kept, event, err);
}

static bool kept_rewind(struct reader *reader)
{
    struct kept *kept = (struct kept *)reader;
    kept->offset = sizeof(struct kept_header);
    kept->left = 0;
    kept->seen = (struct kept_end){0};
    return true;
}

static uint64_t kept_bytes(const struct reader *reader)
{
    struct stat file;
    return fstat(((const struct kept *)reader)->fd, &file) == 0 ? (uint64_t)file.st_size : 0;
}

static void kept_close(struct reader *reader)
{
    struct kept *kept = (struct kept *)reader;
    if (kept->fd >= 0) {
        close(kept->fd);
    }
    ZSTD_freeDCtx(kept->zstd);
    mem_free(kept->packed);
    mem_free(kept->raw);
    mem_free(kept->path);
    mem_free(kept);
}

static const struct reader_form kept_form = {kept_next, kept_rewind, kept_bytes, NULL, kept_close};

static enum ssan_status check_header(const char *path, int fd, struct ssan_error *err)
{
    struct kept_header header;
    ssize_t got = read_at(fd, &header, sizeof header, 0);
    if (got < 0) {
        return ssan_fail(err, SSAN_IO, 0, "%s: %s", path, strerror(errno));
    }
    if ((size_t)got < sizeof header) {
        return ssan_fail(err, SSAN_TRUNCATED, (uint64_t)got, "%s is cut off within its header",
                         path);
    }
    /* The version first: what stands behind it may differ between versions. */
    if (header.version == SSAN_TRACE_VERSION &&
        (header.header_bytes != sizeof header ||
         header.check != XXH3_64bits(&header, offsetof(struct kept_header, check)))) {
        return ssan_fail(err, SSAN_FORMAT, 0,
                         "%s is damaged at byte 0: the header does not fit its checksum", path);
    }
    return version_check(path, header.version, header.vocabulary, err);
}

enum ssan_status kept_open(struct reader **reader, const char *path, int fd, struct ssan_error *err)
{
    enum ssan_status status = check_header(path, fd, err);
    if (status != SSAN_OK) {
        return status;
    }
    struct kept *kept = mem_zalloc(1, sizeof *kept);
    if (kept) {
        kept->base.form = &kept_form;
        kept->fd = -1;
        kept->path = mem_strdup(path);
        kept->zstd = ZSTD_createDCtx();
    }
    if (!kept || !kept->path || !kept->zstd) {
        if (kept) {
            kept_close(&kept->base);
        }
        return ssan_fail(err, SSAN_NO_MEMORY, 0, "%s: out of memory", path);
    }
    kept->fd = fd;
    kept_rewind(&kept->base);
    *reader = &kept->base;
    return SSAN_OK;
}
