/* The bytes of a trace: magics, version, headers, records. docs/trace-format.md says it in prose.
 *
 * Live file: one struct live_header (a page), then chunks of LIVE_CHUNK bytes, each filled with
 * records from its start. Kept file: struct kept_header, frames (struct kept_frame and its packed
 * bytes), one struct kept_end. A record is a struct record_head, the fields of its event
 * (record.h), and in a live file a commit word as its last 8 bytes. Everything is little-endian;
 * records begin at multiples of 8.
 *
 * Compatibility: a reader reads its own SSAN_TRACE_VERSION only. Raise it on any change of
 * event.def, enums.def or of what stands here. `vocabulary`, a number made from the two tables,
 * catches a change that forgot to. */
#ifndef SSAN_TRACE_FORMAT_H
#define SSAN_TRACE_FORMAT_H

#include "trace/event.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define SSAN_TRACE_VERSION 7u

#define LIVE_MAGIC  UINT64_C(0x3145564c4e415353) /* "SSANLVE1" */
#define KEPT_MAGIC  UINT64_C(0x3145504b4e415353) /* "SSANKPE1" */
#define FRAME_MAGIC UINT32_C(0x4d415246)         /* "FRAM" */
#define END_MAGIC   UINT32_C(0x21444e45)         /* "END!" */

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "fields are stored as they lie in memory");

#define LIVE_CHUNK       (UINT64_C(1) << 20)
#define LIVE_LOSS_ROOM   8
#define KEPT_FRAME_BYTES (UINT32_C(256) << 10) /* a frame is closed when it holds this much */
#define KEPT_FRAME_MAX   (UINT32_C(64) << 20)  /* no frame unpacks to more */

struct live_header {
    uint64_t magic; /* written last: a file without it has no header yet */
    uint32_t version;
    uint32_t header_bytes; /* sizeof this */
    uint32_t chunk_bytes;  /* LIVE_CHUNK */
    uint32_t pid;
    uint64_t vocabulary;
    uint64_t start_ticks; /* of the process (proc_pid_stat(5), starttime), so that a reused pid is
                             noticed */
    uint64_t full;        /* 1: no more space was granted; what came behind is in `lost` */
    uint64_t total;       /* once finished: file offset behind the last record */
    uint64_t seal;        /* once finished: record_mix(total, LIVE_MAGIC); 0 before */
    uint64_t lost[LIVE_LOSS_ROOM]; /* events that were dropped, by enum ssan_loss */
    unsigned char reserved[4096 - 128];
};

static_assert(sizeof(struct live_header) == 4096, "one page");
static_assert(offsetof(struct live_header, lost) == 64, "layout");
static_assert(ssan_loss_count <= LIVE_LOSS_ROOM, "a counter for each class of loss");

struct record_head {
    uint32_t size; /* of the whole record with head and commit word, a multiple of 8 */
    uint32_t kind; /* enum ssan_event_kind, or RECORD_PAD */
};

static_assert(sizeof(struct record_head) == 8, "layout");

/* Fills a live chunk up to its end. A rest too short for head and commit word stays empty. */
#define RECORD_PAD    UINT32_MAX
#define RECORD_COMMIT 8u
#define RECORD_LEAST  ((uint32_t)sizeof(struct record_head) + RECORD_COMMIT)

struct kept_header {
    uint64_t magic;
    uint32_t version;
    uint32_t header_bytes; /* sizeof this */
    uint64_t vocabulary;
    uint64_t check; /* XXH3 of all bytes before */
};

struct kept_frame {
    uint32_t magic;
    uint32_t events;       /* records in it, at least 1 */
    uint32_t raw_bytes;    /* unpacked */
    uint32_t packed_bytes; /* that follow this struct: one zstd frame */
    uint64_t packed_check; /* XXH3 of them */
    uint64_t check;        /* XXH3 of all bytes before */
};

struct kept_end {
    uint32_t magic;
    uint32_t whole; /* 1: the source ended well; 0: the kept trace is a cut one */
    uint64_t events, frames, raw_bytes;
    uint64_t check; /* XXH3 of all bytes before */
};

static_assert(sizeof(struct kept_header) == 32, "layout");
static_assert(sizeof(struct kept_frame) == 32, "layout");
static_assert(sizeof(struct kept_end) == 40, "layout");

/* A number that two pairs share by accident only. */
static inline uint64_t record_mix(uint64_t a, uint64_t b)
{
    uint64_t z = a * UINT64_C(0x9e3779b97f4a7c15) + b;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9) + b;
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The commit word of a record. Low half: made from its offset in the file and its head, so that
 * bytes of another place never look committed. High half: the sum of its fields, so that a target
 * that writes astray is noticed. */
static inline uint32_t record_place(uint64_t offset, struct record_head head)
{
    return (uint32_t)record_mix(offset, (uint64_t)head.size << 32 | head.kind);
}

/* Of `bytes` (a multiple of 8) bytes. Each word has its own odd factor: a change of one word always
 * changes the 64-bit sum, and the 32 bits that are kept with a chance of 1 - 2^-32. */
static inline uint32_t record_sum(const void *from, size_t bytes)
{
    const unsigned char *at = from;
    uint64_t sum = UINT64_C(0x9e3779b97f4a7c15), factor = UINT64_C(0xbf58476d1ce4e5b9);
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word;
        memcpy(&word, at + i, sizeof word);
        sum += word * factor;
        factor += UINT64_C(0x94d049bb133111ea);
    }
    return (uint32_t)(record_mix(sum, bytes) >> 32);
}

#endif
