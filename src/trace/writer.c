/* The live trace's writer: one atomic add orders the events, one release store commits each.
 *
 * Naive model: a global lock around an append to the file. `cursor` is (granted chunks << 40 |
 * bytes reserved in the newest); a thread that gets bytes inside the chunk owns them, one that gets
 * bytes behind it goes to next_chunk_slow, where a futex lock of our own admits one thread to grant
 * the next chunk. Chunks are seen through windows, mappings of WINDOW_CHUNKS chunks that stay valid
 * for the rest of the process, since a slow thread may still write into one. Cost: the encoding,
 * two atomic operations; every LIVE_CHUNK bytes a few system calls.
 *
 * Numbered notes on `cursor`:
 *  1. Bits 0-39 count on when the chunk is full, by at most one record (<= LIVE_CHUNK = 2^20) for
 * each thread that tries at once: 2^20 threads would be needed to overflow.
 *  2. Bits 40-63 hold up to MAX_CHUNKS = 2^24 - 1 chunks, 16 TiB; then the writer is full. */
#include "trace/writer.h"

#include "trace/live_file.h"
#include "trace/record.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OFFSET_BITS   40
#define OFFSET_MASK   ((UINT64_C(1) << OFFSET_BITS) - 1)
#define MAX_CHUNKS    ((UINT64_C(1) << 24) - 1)
#define WINDOW_CHUNKS UINT64_C(256)
#define WINDOW_BYTES  (WINDOW_CHUNKS * LIVE_CHUNK)
#define MAX_WINDOWS   (MAX_CHUNKS / WINDOW_CHUNKS + 1)

enum writer_state {
    WRITER_OPEN,
    WRITER_FULL,     /* no space: events are counted */
    WRITER_FINISHED, /* sealed: events are dropped */
    WRITER_DETACHED, /* a forked child: nothing of the file is ours */
};

struct writer {
    struct ssan_sink sink;   /* first, so that a sink is its writer */
    _Atomic uint64_t cursor; /* notes 1, 2 */
    _Atomic int state; /* enum writer_state; leaves OPEN under the lock only (detach: alone) */
    _Atomic uint64_t records;
    uint64_t kill_after_records, limit_bytes;
    _Atomic int64_t tool; /* process to watch; 0: none */
    struct live_header *header;
    struct live_file file; /* under the lock */
    struct writer *next;   /* all writers of the process, for the child of a fork */
    _Atomic uint32_t lock; /* 0 free, 1 held, 2 held and awaited */
    unsigned char *windows[MAX_WINDOWS];
};

static _Atomic(struct writer *) all_writers;
static pthread_once_t watch_forks_once = PTHREAD_ONCE_INIT;

/* What a thread must not suffer while it holds the lock: a signal whose handler makes an event, a
 * cancellation. */
struct hold {
    sigset_t signals;
    int cancel, error;
};

static void lock_slow(struct writer *writer, struct hold *hold)
{
    sigset_t all;
    uint32_t free_word = 0;
    hold->error = errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &hold->signals);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &hold->cancel);
    if (!atomic_compare_exchange_strong(&writer->lock, &free_word, 1)) {
        while (atomic_exchange(&writer->lock, 2) != 0) {
            syscall(SYS_futex, &writer->lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
        }
    }
}

static void unlock_slow(struct writer *writer, const struct hold *hold)
{
    if (atomic_exchange(&writer->lock, 0) == 2) {
        syscall(SYS_futex, &writer->lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    pthread_setcancelstate(hold->cancel, NULL);
    pthread_sigmask(SIG_SETMASK, &hold->signals, NULL);
    errno = hold->error;
}

/* File offset of chunk `number`, counted from 1. */
static inline uint64_t chunk_offset(uint64_t number)
{
    return sizeof(struct live_header) + (number - 1) * LIVE_CHUNK;
}

static inline unsigned char *chunk_memory(const struct writer *writer, uint64_t number)
{
    return writer->windows[(number - 1) / WINDOW_CHUNKS] +
           (number - 1) % WINDOW_CHUNKS * LIVE_CHUNK;
}

/* The commit word is the last thing of a record to be seen: release, paired with the reader's look
 * at it first. The sum is taken of what stands in the file, which the cache still holds. */
static inline void commit(unsigned char *at, uint64_t offset, struct record_head head, size_t bytes)
{
    _Atomic uint64_t *word = (_Atomic uint64_t *)(void *)(at + head.size - RECORD_COMMIT);
    uint64_t sum = record_sum(at + sizeof head, bytes);
    atomic_store_explicit(word, sum << 32 | record_place(offset, head), memory_order_release);
}

/* Whether another chunk is within the limit of the disk and has a reader. Under the lock. */
static bool may_grow(struct writer *writer)
{
    int64_t tool = atomic_load_explicit(&writer->tool, memory_order_relaxed);
    if (tool && kill((pid_t)tool, 0) != 0 && errno == ESRCH) {
        return false;
    }
    return !writer->limit_bytes ||
           live_file_disk_bytes(&writer->file) + LIVE_CHUNK <= writer->limit_bytes;
}

/* Makes chunk `number` usable. Under the lock. */
static bool grant_chunk(struct writer *writer, uint64_t number)
{
    uint64_t offset = chunk_offset(number), window = (number - 1) / WINDOW_CHUNKS;
    if (number > MAX_CHUNKS || !may_grow(writer) ||
        !live_file_grant(&writer->file, offset, LIVE_CHUNK)) {
        return false;
    }
    uint64_t begin = chunk_offset(window * WINDOW_CHUNKS + 1);
    bool is_new = !writer->windows[window];
    if (is_new) {
        writer->windows[window] = live_file_map(&writer->file, NULL, begin, WINDOW_BYTES);
    }
    if (!writer->windows[window]) {
        return false;
    }
    if (window && is_new) {
        /* Mapped anew in place: its page tables are given back, a slow thread inside just faults
         * its page in. */
        live_file_map(&writer->file, writer->windows[window - 1], begin - WINDOW_BYTES,
                      WINDOW_BYTES);
    }
    return live_file_populate(chunk_memory(writer, number), LIVE_CHUNK);
}

/* Called by threads that found chunk `number` used up. True: try again. Kept out of line so that
 * `put` stays a leaf on its way through the common case. */
__attribute__((noinline)) static bool next_chunk_slow(struct writer *writer, uint64_t number)
{
    struct hold hold;
    lock_slow(writer, &hold);
    bool open = atomic_load(&writer->state) == WRITER_OPEN;
    if (open && atomic_load(&writer->cursor) >> OFFSET_BITS == number) {
        open = grant_chunk(writer, number + 1);
        if (open) {
            atomic_store_explicit(&writer->cursor, (number + 1) << OFFSET_BITS,
                                  memory_order_release);
        } else {
            writer->header->full = 1;
            atomic_store(&writer->state, WRITER_FULL);
        }
    }
    unlock_slow(writer, &hold);
    return open;
}

/* Memory of `size` bytes of the file, this thread's alone, with its file offset; NULL when there is
 * no more. */
static inline unsigned char *reserve(struct writer *writer, uint32_t size, uint64_t *offset)
{
    for (;;) {
        uint64_t got = atomic_fetch_add_explicit(&writer->cursor, size, memory_order_acq_rel);
        uint64_t number = got >> OFFSET_BITS, at = got & OFFSET_MASK;
        if (at + size <= LIVE_CHUNK) {
            *offset = chunk_offset(number) + at;
            return chunk_memory(writer, number) + at;
        }
        if (at + RECORD_LEAST <= LIVE_CHUNK) {
            struct record_head head = {(uint32_t)(LIVE_CHUNK - at), RECORD_PAD};
            unsigned char *rest = chunk_memory(writer, number) + at;
            memcpy(rest, &head, sizeof head);
            commit(rest, chunk_offset(number) + at, head, 0);
        }
        if (!next_chunk_slow(writer, number)) {
            return NULL;
        }
    }
}

/* What the reader has to tell of an event that isn't there. */
static enum ssan_loss loss_of(enum ssan_event_kind kind)
{
    switch (kind) {
    case SSAN_EV_set:
    case SSAN_EV_set_leaf:
    case SSAN_EV_host_access:
        return SSAN_loss_ACCESSES;
    case SSAN_EV_module:
    case SSAN_EV_site:
    case SSAN_EV_frame:
    case SSAN_EV_line:
        return SSAN_loss_STACKS;
    default:
        return SSAN_loss_OPERATIONS;
    }
}

static void count_loss(struct writer *writer, const struct ssan_event *event)
{
    _Atomic uint64_t *counter = (_Atomic uint64_t *)&writer->header->lost[loss_of(event->kind)];
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static void put(struct ssan_sink *sink, const struct ssan_event *event);

/* An event above a chunk: a set goes as two halves, which mean the same; others are lost. */
__attribute__((noinline)) static void put_large_slow(struct writer *writer,
                                                     const struct ssan_event *event)
{
    if (event->kind != SSAN_EV_set) {
        count_loss(writer, event);
        return;
    }
    struct ssan_event half = *event;
    uint32_t count = event->set.runs.count;
    half.set.runs.count = count / 2;
    put(&writer->sink, &half);
    half.set.runs.ptr += count / 2;
    half.set.runs.count = count - count / 2;
    put(&writer->sink, &half);
}

static void put(struct ssan_sink *sink, const struct ssan_event *event)
{
    struct writer *writer = (struct writer *)sink;
    uint64_t offset;
    unsigned char *at = NULL;
    size_t bytes = record_bytes(event) + RECORD_COMMIT;
    if (atomic_load_explicit(&writer->state, memory_order_relaxed) == WRITER_OPEN &&
        bytes >= RECORD_LEAST) {
        if (bytes > LIVE_CHUNK) {
            put_large_slow(writer, event);
            return;
        }
        at = reserve(writer, (uint32_t)bytes, &offset);
    }
    if (!at) {
        int state = atomic_load(&writer->state);
        if (state == WRITER_OPEN || state == WRITER_FULL) {
            count_loss(writer, event);
        }
        return;
    }
    record_write(at, (uint32_t)bytes, event);
    commit(at, offset, (struct record_head){(uint32_t)bytes, (uint32_t)event->kind},
           bytes - RECORD_LEAST);
    if (writer->kill_after_records &&
        atomic_fetch_add(&writer->records, 1) + 1 == writer->kill_after_records) {
        kill(getpid(), SIGKILL);
    }
}

static void detach_all(void)
{
    for (struct writer *writer = atomic_load(&all_writers); writer; writer = writer->next) {
        writer_detach(writer);
    }
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, detach_all);
}

struct writer *writer_create(const char *directory, uint64_t limit_bytes,
                             uint64_t kill_after_records, struct ssan_error *err)
{
    struct writer *writer =
        mmap(NULL, sizeof *writer, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (writer == MAP_FAILED) {
        ssan_fail(err, SSAN_NO_MEMORY, 0, "no memory for the writer of the trace");
        return NULL;
    }
    writer->sink.put = put;
    writer->kill_after_records = kill_after_records;
    writer->limit_bytes = limit_bytes;
    /* Number 0 with nothing left: the first event grants the first chunk. */
    atomic_init(&writer->cursor, LIVE_CHUNK);
    if (live_file_create(&writer->file, directory, &writer->header, err) != SSAN_OK) {
        munmap(writer, sizeof *writer);
        return NULL;
    }
    pthread_once(&watch_forks_once, watch_forks);
    writer->next = atomic_load(&all_writers);
    while (!atomic_compare_exchange_weak(&all_writers, &writer->next, writer)) {
    }
    return writer;
}

const char *writer_path(const struct writer *writer)
{
    return writer->file.path;
}

void writer_watch(struct writer *writer, int64_t tool)
{
    atomic_store_explicit(&writer->tool, tool, memory_order_relaxed);
}

struct ssan_sink *writer_sink(struct writer *writer)
{
    return &writer->sink;
}

void writer_detach(struct writer *writer)
{
    atomic_store(&writer->state, WRITER_DETACHED);
}

void writer_finish(struct writer *writer)
{
    struct hold hold;
    if (atomic_load(&writer->state) == WRITER_DETACHED) {
        return; /* the lock may be held for ever by a thread that only the parent has */
    }
    lock_slow(writer, &hold);
    int state = atomic_load(&writer->state);
    if (state == WRITER_OPEN || state == WRITER_FULL) {
        atomic_store(&writer->state, WRITER_FINISHED);
        /* From here on every reservation falls behind the chunk; those before it lie below `total`.
         */
        uint64_t last = atomic_fetch_or(&writer->cursor, OFFSET_MASK >> 1);
        uint64_t number = last >> OFFSET_BITS, at = last & OFFSET_MASK;
        writer->header->total = number ? chunk_offset(number) + (at < LIVE_CHUNK ? at : LIVE_CHUNK)
                                       : sizeof(struct live_header);
        atomic_store_explicit((_Atomic uint64_t *)&writer->header->seal,
                              record_mix(writer->header->total, LIVE_MAGIC), memory_order_release);
    }
    unlock_slow(writer, &hold);
}
