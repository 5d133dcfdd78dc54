/* Reads snapshots and finds the bytes in which two differ.
 *
 * Naive model: a byte-by-byte comparison of blocks with equal numbers. Cost: one pass over the
 * bytes. */
#include "explore/snapshot.h"

#include "trace/snapshot_abi.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* An ordinary number: what programs compute with, and small integers read as one are not. */
#define ORDINARY_LEAST 1e-30
#define ORDINARY_MOST  1e30

static int by_alloc(const void *a, const void *b)
{
    uint32_t left = ((const struct snapshot_contents *)a)->alloc;
    uint32_t right = ((const struct snapshot_contents *)b)->alloc;
    return left < right ? -1 : left > right;
}

static enum ssan_status map_file(struct snapshot *snapshot, const char *path,
                                 struct ssan_error *err)
{
    struct stat info = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) {
        int error = errno;
        if (fd >= 0) {
            close(fd);
        }
        return ssan_fail(err, SSAN_IO, 0, "%s: %s", path, strerror(error));
    }
    snapshot->map_bytes = (size_t)info.st_size;
    snapshot->map =
        info.st_size > 0 ? mmap(NULL, snapshot->map_bytes, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    int error = errno;
    close(fd);
    if (snapshot->map == MAP_FAILED) {
        snapshot->map = NULL;
        return ssan_fail(err, SSAN_IO, 0, "%s: %s", path, strerror(error));
    }
    return SSAN_OK;
}

static enum ssan_status read_blocks(struct snapshot *snapshot, const char *path,
                                    struct ssan_error *err)
{
    const unsigned char *at = snapshot->map;
    size_t offset = sizeof(struct snapshot_header);
    while (offset + sizeof(struct snapshot_block) <= snapshot->map_bytes) {
        struct snapshot_block head;
        struct snapshot_contents block;
        memcpy(&head, at + offset, sizeof head);
        if (head.alloc == 0) {
            snapshot->complete = true;
            break;
        }
        if (head.kept_bytes > head.size_bytes || head.memory >= ssan_memory_count) {
            return ssan_fail(err, SSAN_FORMAT, offset, "%s: damaged at byte %zu", path, offset);
        }
        offset += sizeof head;
        if (head.kept_bytes > snapshot->map_bytes - offset) {
            break;
        }
        block = (struct snapshot_contents){head.alloc,      (enum ssan_memory)head.memory,
                                           head.address,    head.size_bytes,
                                           head.kept_bytes, at + offset};
        snapshot->cut |= head.kept_bytes < head.size_bytes;
        if (!VEC_PUSH(&snapshot->blocks, block)) {
            return ssan_no_memory(err);
        }
        offset += head.kept_bytes;
    }
    return SSAN_OK;
}

enum ssan_status snapshot_read(struct snapshot *snapshot, const char *path, struct ssan_error *err)
{
    struct snapshot_header header;
    enum ssan_status status;
    memset(snapshot, 0, sizeof *snapshot);
    status = map_file(snapshot, path, err);
    if (status) {
        return status;
    }
    if (snapshot->map_bytes < sizeof header) {
        return ssan_fail(err, SSAN_FORMAT, 0, "%s: not contents of memory", path);
    }
    memcpy(&header, snapshot->map, sizeof header);
    if (header.magic != SNAPSHOT_MAGIC) {
        return ssan_fail(err, SSAN_FORMAT, 0, "%s: not contents of memory", path);
    }
    if (header.version != SNAPSHOT_VERSION) {
        return ssan_fail(err, SSAN_VERSION, 0,
                         "%s: written in version %" PRIu32 ", this tool reads %u", path,
                         header.version, SNAPSHOT_VERSION);
    }
    status = read_blocks(snapshot, path, err);
    if (snapshot->blocks.count > 1) {
        qsort(snapshot->blocks.items, snapshot->blocks.count, sizeof *snapshot->blocks.items,
              by_alloc);
    }
    return status;
}

void snapshot_close(struct snapshot *snapshot)
{
    VEC_FREE(&snapshot->blocks);
    if (snapshot->map) {
        munmap(snapshot->map, snapshot->map_bytes);
    }
    memset(snapshot, 0, sizeof *snapshot);
}

const struct snapshot_contents *snapshot_find(const struct snapshot *snapshot, uint32_t alloc)
{
    const struct snapshot_contents key = {.alloc = alloc};
    return snapshot->blocks.count == 0 ? NULL
                                       : bsearch(&key, snapshot->blocks.items,
                                                 snapshot->blocks.count, sizeof key, by_alloc);
}

/* False when the blocks are equal in what both kept. */
static bool differ(const struct snapshot_contents *left, const struct snapshot_contents *right,
                   struct snapshot_difference *difference)
{
    uint64_t most = left->kept_bytes < right->kept_bytes ? left->kept_bytes : right->kept_bytes;
    uint64_t i;
    if (most == 0 || memcmp(left->bytes, right->bytes, most) == 0) {
        return false;
    }
    *difference = (struct snapshot_difference){
        .alloc = left->alloc, .memory = left->memory, .left = left, .right = right};
    for (i = 0; i < most; i++) {
        if (left->bytes[i] != right->bytes[i]) {
            difference->first = difference->bytes == 0 ? i : difference->first;
            difference->bytes++;
        }
    }
    return true;
}

bool snapshot_compare(const struct snapshot *left, const struct snapshot *right,
                      struct snapshot_differences *differences)
{
    size_t i;
    for (i = 0; i < left->blocks.count; i++) {
        const struct snapshot_contents *mine = &left->blocks.items[i];
        const struct snapshot_contents *other = snapshot_find(right, mine->alloc);
        struct snapshot_difference difference;
        if (other && other->memory == mine->memory && other->size_bytes == mine->size_bytes &&
            differ(mine, other, &difference) && !VEC_PUSH(differences, difference)) {
            return false;
        }
    }
    return true;
}

/* -- values -- */

static double real_of(const unsigned char *bytes, uint32_t width)
{
    float narrow;
    double wide;
    if (width == sizeof narrow) {
        memcpy(&narrow, bytes, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, bytes, sizeof wide);
    return wide;
}

static int64_t integer_of(const unsigned char *bytes, uint32_t width)
{
    int8_t one;
    int16_t two;
    int32_t four;
    int64_t eight;
    switch (width) {
    case 1:
        memcpy(&one, bytes, 1);
        return one;
    case 2:
        memcpy(&two, bytes, 2);
        return two;
    case 4:
        memcpy(&four, bytes, 4);
        return four;
    default:
        memcpy(&eight, bytes, 8);
        return eight;
    }
}

static bool is_ordinary(double value)
{
    double size = fabs(value);
    return size >= ORDINARY_LEAST && size <= ORDINARY_MOST;
}

static bool may_be_real(double value)
{
    return is_ordinary(value) || value == 0 || !isfinite(value);
}

enum snapshot_type snapshot_guess(const unsigned char *left, const unsigned char *right,
                                  uint32_t width)
{
    double a, b;
    if (width == 1 || width == 2) {
        return width == 1 ? TYPE_I8 : TYPE_I16;
    }
    if (width != 4 && width != 8) {
        return TYPE_HEX;
    }
    a = real_of(left, width);
    b = real_of(right, width);
    if ((is_ordinary(a) && may_be_real(b)) || (is_ordinary(b) && may_be_real(a))) {
        return width == 4 ? TYPE_F32 : TYPE_F64;
    }
    return width == 4 ? TYPE_I32 : TYPE_I64;
}

const char *snapshot_type_name(enum snapshot_type type)
{
    static const char *const names[] = {"hex", "i8", "i16", "i32", "i64", "f32", "f64"};
    return names[type];
}

/* As few digits as give the same number back. */
static void print_real(double value, bool narrow, char *text, size_t room)
{
    int digits;
    for (digits = 1; digits <= 17; digits++) {
        snprintf(text, room, "%.*g", digits, value);
        if (!isfinite(value) ||
            (narrow ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)) {
            break;
        }
    }
    if (isnan(value)) {
        snprintf(text, room, "nan"); /* its sign says nothing */
    }
}

void snapshot_value(enum snapshot_type type, const unsigned char *bytes, uint32_t width, char *text,
                    size_t room)
{
    size_t used = 0;
    uint32_t i;
    switch (type) {
    case TYPE_F32:
    case TYPE_F64:
        print_real(real_of(bytes, width), type == TYPE_F32, text, room);
        break;
    case TYPE_HEX:
        used += (size_t)snprintf(text, room, "0x");
        for (i = width; i-- > 0 && used + 3 < room;) {
            used += (size_t)snprintf(text + used, room - used, "%02x", bytes[i]);
        }
        break;
    default:
        snprintf(text, room, "%" PRId64, integer_of(bytes, width));
        break;
    }
}
