/* Any records in a file whose checksums fit: what lies behind the checksums of a live and of a kept
 * trace, which random bytes never pass.
 *
 * The first byte chooses form and end; the rest are records, heads included. Those whose sizes fit
 * are committed as a writer would. The reader gives events, then one of its ends, twice the same.
 */
#include "fuzz/read_twice.h"

#include "trace/format.h"
#include "trace/record.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KEPT = 1, FINISHED = 2, TWO_FRAMES = 4, LOSSES = 8 };

struct file {
    int fd;
    uint64_t length;
};

static void put(struct file *file, const void *bytes, size_t count)
{
    if (count && write(file->fd, bytes, count) != (ssize_t)count) {
        abort();
    }
    file->length += count;
}

/* Commits every record of `bytes`, which begin at `offset` of the file, up to one that can't be. */
static void commit(unsigned char *bytes, size_t size, uint64_t offset)
{
    size_t at = 0;
    while (size - at >= RECORD_LEAST) {
        struct record_head head;
        memcpy(&head, bytes + at, sizeof head);
        if (head.size < RECORD_LEAST || head.size % 8 || head.size > size - at) {
            return;
        }
        const size_t fields = head.size - RECORD_LEAST;
        const uint64_t word = (uint64_t)record_sum(bytes + at + sizeof head, fields) << 32 |
                              record_place(offset + at, head);
        memcpy(bytes + at + head.size - RECORD_COMMIT, &word, sizeof word);
        at += head.size;
    }
}

static void put_live(struct file *file, unsigned flags, unsigned char *bytes, size_t size)
{
    struct live_header header = {.magic = LIVE_MAGIC,
                                 .version = SSAN_TRACE_VERSION,
                                 .header_bytes = sizeof header,
                                 .chunk_bytes = LIVE_CHUNK,
                                 .vocabulary = record_vocabulary()};
    if (flags & FINISHED) {
        header.total = sizeof header + size;
        header.seal = record_mix(header.total, LIVE_MAGIC);
    }
    header.lost[0] = flags & LOSSES ? 3 : 0;
    put(file, &header, sizeof header);
    commit(bytes, size, sizeof header);
    put(file, bytes, size);
}

/* Records in `bytes` by their heads; at least 1. */
static uint32_t count_records(const unsigned char *bytes, size_t size)
{
    uint32_t count = 0;
    size_t at = 0;
    while (size - at >= sizeof(struct record_head)) {
        struct record_head head;
        memcpy(&head, bytes + at, sizeof head);
        count++;
        if (head.size < sizeof head || head.size > size - at) {
            break;
        }
        at += head.size;
    }
    return count ? count : 1;
}

static uint32_t put_frame(struct file *file, const unsigned char *bytes, size_t size)
{
    const size_t room = ZSTD_compressBound(size);
    void *packed = malloc(room);
    size_t length = packed ? ZSTD_compress(packed, room, bytes, size, 1) : 0;
    if (!packed || ZSTD_isError(length)) {
        abort();
    }
    struct kept_frame frame = {.magic = FRAME_MAGIC,
                               .events = count_records(bytes, size),
                               .raw_bytes = (uint32_t)size,
                               .packed_bytes = (uint32_t)length,
                               .packed_check = XXH3_64bits(packed, length)};
    frame.check = XXH3_64bits(&frame, offsetof(struct kept_frame, check));
    put(file, &frame, sizeof frame);
    put(file, packed, length);
    free(packed);
    return frame.events;
}

static void put_kept(struct file *file, unsigned flags, const unsigned char *bytes, size_t size)
{
    struct kept_header header = {.magic = KEPT_MAGIC,
                                 .version = SSAN_TRACE_VERSION,
                                 .header_bytes = sizeof header,
                                 .vocabulary = record_vocabulary()};
    struct kept_end end = {.magic = END_MAGIC, .whole = flags & FINISHED ? 1 : 0};
    header.check = XXH3_64bits(&header, offsetof(struct kept_header, check));
    put(file, &header, sizeof header);
    for (unsigned frame = 0; frame < (flags & TWO_FRAMES ? 2 : 1); frame++) {
        end.events += put_frame(file, bytes, size);
        end.raw_bytes += size;
        end.frames++;
    }
    end.check = XXH3_64bits(&end, offsetof(struct kept_end, check));
    put(file, &end, sizeof end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct file file = {memfd_create("sealed", MFD_CLOEXEC), 0};
    unsigned char *bytes = size > 1 ? malloc(size - 1) : NULL;
    if (!bytes || file.fd < 0) {
        if (file.fd >= 0) {
            close(file.fd);
        }
        free(bytes);
        return 0;
    }
    memcpy(bytes, data + 1, size - 1);
    if (data[0] & KEPT) {
        put_kept(&file, data[0], bytes, size - 1);
    } else {
        put_live(&file, data[0], bytes, size - 1);
    }
    read_twice(file.fd);
    close(file.fd);
    free(bytes);
    return 0;
}
