/* Reads a live trace, while it grows and afterwards.
 *
 * Naive model: walk the records from the header on; at one that is not committed, wait while the
 * writer lives, else look for the next offset at which a committed record stands and count what
 * lies between as lost. The file is read, not mapped: whoever cuts it must not stop us with a
 * signal. A copy that was taken while the record was written does not fit its sum and is read again
 * later. What the writer dropped is told as `lost` events as soon as nothing else is there. Cost:
 * one copy and one sum of each byte; behind a hole one look at each 8 bytes. */
#include "trace/process.h"
#include "trace/reader_form.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_STEP = 1 << 16 };

struct live {
    struct reader base;
    char *path;
    int fd;
    struct live_header header; /* as last read */
    struct process_watch writer;
    bool gone;         /* the writer has ended, and the file was read since: it is final */
    uint64_t chunk;    /* file offset of the chunk in `bytes` */
    size_t at, ready;  /* in the chunk: the next record, the end of those that are committed */
    uint64_t released; /* chunks before this offset have no bytes any more */
    uint64_t told[ssan_loss_count]; /* losses that were told already */
    unsigned char *bytes;           /* LIVE_CHUNK */
};

enum filled { FILLED_RECORDS, FILLED_NOTHING, FILLED_ERROR };

static enum filled io_fail(struct live *live, struct ssan_error *err)
{
    ssan_fail(err, SSAN_IO, live->chunk + live->at, "%s: %s", live->path, strerror(errno));
    return FILLED_ERROR;
}

static bool is_sealed(const struct live *live)
{
    return live->header.seal != 0;
}

/* End of the part of this chunk that may hold records. */
static size_t chunk_limit(const struct live *live)
{
    uint64_t total = live->header.total;
    if (!is_sealed(live) || total >= live->chunk + LIVE_CHUNK) {
        return LIVE_CHUNK;
    }
    return total > live->chunk ? (size_t)(total - live->chunk) : 0;
}

static struct record_head head_at(const struct live *live, size_t at)
{
    struct record_head head;
    memcpy(&head, live->bytes + at, sizeof head);
    return head;
}

/* True when a committed record stands at `at` and ends at or before `end`. */
static bool is_record(const struct live *live, size_t at, size_t end)
{
    if (end < RECORD_LEAST || at > end - RECORD_LEAST) {
        return false;
    }
    struct record_head head = head_at(live, at);
    if (head.size < RECORD_LEAST || head.size % 8 || head.size > end - at) {
        return false;
    }
    const unsigned char *from = live->bytes + at;
    uint64_t word;
    memcpy(&word, from + head.size - RECORD_COMMIT, sizeof word);
    return (uint32_t)word == record_place(live->chunk + at, head) &&
           word >> 32 == record_sum(from + sizeof head,
                                    head.kind == RECORD_PAD ? 0 : head.size - RECORD_LEAST);
}

/* Reads the records that are committed from `at` on, READ_STEP bytes or one record at a time. */
static enum filled fill(struct live *live, struct ssan_error *err)
{
    size_t limit = chunk_limit(live), want = sizeof(struct record_head), end = live->at;
    for (;;) {
        if (want > limit - live->at) {
            want = limit - live->at;
        }
        ssize_t got = read_at(live->fd, live->bytes + live->at, want, live->chunk + live->at);
        if (got < 0) {
            return io_fail(live, err);
        }
        if ((size_t)got < RECORD_COMMIT || head_at(live, live->at).size == 0) {
            return FILLED_NOTHING;
        }
        size_t have = live->at + (size_t)got;
        while (is_record(live, end, have)) {
            end += head_at(live, end).size;
        }
        if (end > live->at) {
            break;
        }
        size_t size = head_at(live, live->at).size;
        if (have - live->at < want || (size_t)got >= limit - live->at ||
            (size_t)got >= READ_STEP + size) {
            return FILLED_NOTHING;
        }
        want = READ_STEP + size;
    }
    live->ready = end;
    return FILLED_RECORDS;
}

static bool is_seal_right(const struct live_header *header)
{
    return header->seal == 0 || header->seal == record_mix(header->total, LIVE_MAGIC);
}

/* Reads the header again; false with *err when it no longer makes sense. */
static bool read_header(struct live *live, struct ssan_error *err)
{
    ssize_t got = read_at(live->fd, &live->header, sizeof live->header, 0);
    if (got == sizeof live->header && !is_seal_right(&live->header)) {
        /* Total and seal may have been written between the two reads of one copy; a second one has
         * both. */
        got = read_at(live->fd, &live->header, sizeof live->header, 0);
    }
    if (got < 0) {
        io_fail(live, err);
        return false;
    }
    if ((size_t)got < sizeof live->header) {
        ssan_fail(err, SSAN_TRUNCATED, (uint64_t)got, "%s is cut off within its header",
                  live->path);
        return false;
    }
    if (!is_seal_right(&live->header)) {
        ssan_fail(err, SSAN_FORMAT, offsetof(struct live_header, seal),
                  "%s is damaged: its seal does not fit its length", live->path);
        return false;
    }
    return true;
}

static void set_lost(struct ssan_event *event, enum ssan_loss what, uint64_t count)
{
    *event = (struct ssan_event){.kind = SSAN_EV_lost, .lost = {.what = what, .count = count}};
}

/* A loss that the header counts and that wasn't told yet. */
static bool tell_loss(struct live *live, struct ssan_event *event)
{
    for (int what = 0; what < ssan_loss_count; what++) {
        uint64_t count = live->header.lost[what];
        if (count > live->told[what]) {
            set_lost(event, (enum ssan_loss)what, count - live->told[what]);
            live->told[what] = count;
            return true;
        }
    }
    return false;
}

/* Steps over an uncommitted part of a final file to the next committed record; stays where it is
 * without one. */
static enum filled skip_hole(struct live *live, struct ssan_error *err)
{
    const uint64_t begin = live->chunk;
    uint64_t chunk = begin;
    size_t at = live->at;
    for (;;) {
        live->chunk = chunk;
        ssize_t got = chunk_limit(live) > at
                          ? read_at(live->fd, live->bytes + at, chunk_limit(live) - at, chunk + at)
                          : 0;
        if (got < 0) {
            return io_fail(live, err);
        }
        for (size_t end = at + (size_t)got; at + RECORD_LEAST <= end; at += 8) {
            if (is_record(live, at, end)) {
                live->at = live->ready = at;
                return FILLED_RECORDS;
            }
        }
        /* A file may be sparse and huge: only parts with data are looked at. */
        off_t data = chunk > INT64_MAX - LIVE_CHUNK
                         ? -1
                         : lseek(live->fd, (off_t)(chunk + LIVE_CHUNK), SEEK_DATA);
        if (data < 0) {
            live->chunk = begin;
            return FILLED_NOTHING;
        }
        chunk = ((uint64_t)data - sizeof(struct live_header)) / LIVE_CHUNK * LIVE_CHUNK +
                sizeof(struct live_header);
        at = 0;
    }
}

/* Gives the committed record at `at`. False for padding, which is stepped over. */
static bool give_record(struct live *live, struct ssan_event *event, enum ssan_next *answer,
                        struct ssan_error *err)
{
    struct record_head head = head_at(live, live->at);
    struct record_fault fault;
    uint64_t position = live->chunk + live->at;
    const unsigned char *fields = live->bytes + live->at + sizeof head;
    live->at += head.size;
    if (head.kind == RECORD_PAD) {
        return false;
    }
    live->base.position = position;
    *answer = SSAN_NEXT_EVENT;
    if (!record_read(fields, head.size - RECORD_LEAST, head.kind, event, &fault)) {
        fault_fail(err, live->path, position, &fault);
        *answer = SSAN_NEXT_ERROR;
    }
    return true;
}

/* Nothing more is committed, and the file is final. */
static enum ssan_next end_of_file(struct live *live, struct ssan_event *event,
                                  struct ssan_error *err)
{
    uint64_t begin = live->chunk + live->at;
    bool short_of_total = is_sealed(live) && begin < live->header.total;
    if (!is_sealed(live) || short_of_total) {
        switch (skip_hole(live, err)) {
        case FILLED_RECORDS:
            live->base.position = begin;
            set_lost(event, SSAN_loss_OPERATIONS, 1);
            return SSAN_NEXT_EVENT;
        case FILLED_ERROR:
            return SSAN_NEXT_ERROR;
        case FILLED_NOTHING:
            break;
        }
    }
    if (tell_loss(live, event)) {
        return SSAN_NEXT_EVENT;
    }
    return is_sealed(live) && !short_of_total ? SSAN_NEXT_END : SSAN_NEXT_CUT;
}

static enum ssan_next live_next(struct reader *reader, struct ssan_event *event,
                                struct ssan_error *err)
{
    struct live *live = (struct live *)reader;
    enum ssan_next answer;
    for (;;) {
        while (live->at < live->ready) {
            if (give_record(live, event, &answer, err)) {
                return answer;
            }
        }
        if (live->at + RECORD_LEAST > LIVE_CHUNK) {
            live->chunk += LIVE_CHUNK;
            live->at = live->ready = 0;
        }
        bool at_end = is_sealed(live) && live->chunk + live->at >= live->header.total;
        enum filled filled = at_end ? FILLED_NOTHING : fill(live, err);
        if (filled == FILLED_ERROR) {
            return SSAN_NEXT_ERROR;
        }
        if (filled == FILLED_RECORDS) {
            continue;
        }
        if (at_end || live->gone) {
            return end_of_file(live, event, err);
        }
        bool alive = process_watch_alive(&live->writer), sealed = is_sealed(live);
        if (!read_header(live, err)) {
            return SSAN_NEXT_ERROR;
        }
        live->gone = !alive;
        if (alive && sealed == is_sealed(live)) {
            return tell_loss(live, event) ? SSAN_NEXT_EVENT : SSAN_NEXT_WAIT;
        }
    }
}

static bool live_rewind(struct reader *reader)
{
    struct live *live = (struct live *)reader;
    if (live->released) {
        return false;
    }
    live->chunk = sizeof(struct live_header);
    live->at = live->ready = 0;
    memset(live->told, 0, sizeof live->told);
    return true;
}

static uint64_t live_bytes(const struct reader *reader)
{
    const struct live *live = (const struct live *)reader;
    return live->chunk + live->at;
}

static void live_release(struct reader *reader)
{
    struct live *live = (struct live *)reader;
    uint64_t from = live->released ? live->released : sizeof(struct live_header);
    if (live->chunk <= from) {
        return;
    }
    int fd = open(live->path, O_WRONLY | O_CLOEXEC);
    struct stat ours, there;
    if (fd >= 0 && fstat(fd, &there) == 0 && fstat(live->fd, &ours) == 0 &&
        ours.st_ino == there.st_ino && ours.st_dev == there.st_dev &&
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                  (off_t)(live->chunk - from)) == 0) {
        live->released = live->chunk;
    }
    if (fd >= 0) {
        close(fd);
    }
}

static void live_close(struct reader *reader)
{
    struct live *live = (struct live *)reader;
    process_watch_finish(&live->writer);
    if (live->fd >= 0) {
        close(live->fd);
    }
    mem_free(live->bytes);
    mem_free(live->path);
    mem_free(live);
}

static const struct reader_form live_form = {live_next, live_rewind, live_bytes, live_release,
                                             live_close};

enum ssan_status live_open(struct reader **reader, const char *path, int fd, struct ssan_error *err)
{
    enum ssan_status status = SSAN_OK;
    struct live *live = mem_zalloc(1, sizeof *live);
    if (live) {
        live->base.form = &live_form;
        live->fd = -1;
        live->path = mem_strdup(path);
        live->bytes = mem_alloc(LIVE_CHUNK);
    }
    if (!live || !live->path || !live->bytes) {
        status = ssan_fail(err, SSAN_NO_MEMORY, 0, "%s: out of memory", path);
        goto fail;
    }
    live->fd = fd;
    struct ssan_error why = {0};
    if (!read_header(live, &why)) {
        status = ssan_fail(err, why.status, why.position, "%s", why.text);
        goto fail;
    }
    status = version_check(path, live->header.version, live->header.vocabulary, err);
    if (status != SSAN_OK) {
        goto fail;
    }
    if (live->header.header_bytes != sizeof live->header ||
        live->header.chunk_bytes != LIVE_CHUNK) {
        status = ssan_fail(err, SSAN_FORMAT, offsetof(struct live_header, header_bytes),
                           "%s is damaged: its header has other sizes than version %u", path,
                           SSAN_TRACE_VERSION);
        goto fail;
    }
    process_watch_init(&live->writer, live->header.pid, live->header.start_ticks);
    live_rewind(&live->base);
    *reader = &live->base;
    return SSAN_OK;
fail:
    if (live) {
        live->fd = -1; /* stays the caller's */
        live_close(&live->base);
    }
    return status;
}
