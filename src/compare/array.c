/* Arrays in files, read by blocks. */
#include "compare/array.h"

#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES (1u << 20) /* a whole number of elements of each type */

static enum ssan_status io_fail(const struct array *array, int error, struct ssan_error *err)
{
    return ssan_fail(err, SSAN_IO, 0, "%.400s: %s", array->path, strerror(error));
}

/* Reads `length` bytes from `at`. SSAN_FORMAT: the file ends before. */
static enum ssan_status read_at(const struct array *array, void *bytes, size_t length, uint64_t at,
                                struct ssan_error *err)
{
    size_t done = 0;
    if (array->fd < 0) {
        memcpy(bytes, array->held.text + at, length);
        return SSAN_OK;
    }
    while (done < length) {
        const ssize_t got =
            pread(array->fd, (char *)bytes + done, length - done, (off_t)(at + done));
        if (got == 0) {
            return ssan_fail(err, SSAN_FORMAT, 0, "%.400s: it was cut while it was read",
                             array->path);
        }
        if (got < 0 && errno != EINTR) {
            return io_fail(array, errno, err);
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return SSAN_OK;
}

/* Opens it and finds how long it is; all of what is no regular file is read, and of one that claims
 * to be empty, as those of /proc do. */
static enum ssan_status open_file(struct array *array, uint64_t *size_bytes, struct ssan_error *err)
{
    struct stat stat_of;
    array->fd = open(array->path, O_RDONLY | O_CLOEXEC);
    array->is_open = array->fd >= 0;
    if (array->fd < 0 || fstat(array->fd, &stat_of) != 0) {
        return io_fail(array, errno, err);
    }
    if (S_ISREG(stat_of.st_mode) && stat_of.st_size > 0) {
        *size_bytes = (uint64_t)stat_of.st_size;
        return SSAN_OK;
    }
    close(array->fd);
    array->fd = -1;
    array->is_open = false;
    if (S_ISDIR(stat_of.st_mode)) {
        return io_fail(array, EISDIR, err);
    }
    const enum ssan_status status = file_read(&array->held, array->path, ARRAY_HELD_MOST, err);
    *size_bytes = array->held.length;
    return status;
}

/* Takes what the header of a .npy file says. */
static enum ssan_status take_header(struct array *array, const struct array_part *part,
                                    uint64_t size_bytes, struct npy *npy, struct ssan_error *err)
{
    const size_t length =
        size_bytes < NPY_HEADER_MOST + 12 ? (size_t)size_bytes : NPY_HEADER_MOST + 12;
    unsigned char *bytes = mem_alloc(length ? length : 1);
    struct ssan_error inner = {0};
    if (!bytes) {
        return ssan_no_memory(err);
    }
    enum ssan_status status = read_at(array, bytes, length, 0, err);
    if (status == SSAN_OK) {
        status = npy_read(npy, bytes, length, part->type ? &part->type : NULL, &inner);
        if (status) {
            ssan_fail(err, status, 0, "%.200s: %.280s", array->path, inner.text);
        }
    }
    mem_free(bytes);
    return status;
}

/* Which bytes are meant, from `begin`; `whole` elements are there. */
static enum ssan_status take_count(struct array *array, const struct array_part *part,
                                   uint64_t begin, uint64_t bytes, struct ssan_error *err)
{
    const size_t size = ssan_compare_size(array->type);
    const char *type = ssan_compare_type_name(array->type);
    array->begin = begin + part->offset_bytes;
    if (part->offset_bytes > bytes) {
        return ssan_fail(err, SSAN_FORMAT, 0,
                         "%.300s: the offset of %" PRIu64
                         " bytes is behind its end: it has %" PRIu64,
                         array->path, part->offset_bytes, bytes);
    }
    bytes -= part->offset_bytes;
    if (part->count != ARRAY_TO_END) {
        array->count = part->count;
        return part->count <= bytes / size
                   ? SSAN_OK
                   : ssan_fail(err, SSAN_FORMAT, 0,
                               "%.300s: %" PRIu64 " elements of %s are wanted, there are %" PRIu64,
                               array->path, part->count, type, bytes / size);
    }
    array->count = bytes / size;
    return bytes % size == 0
               ? SSAN_OK
               : ssan_fail(err, SSAN_FORMAT, 0,
                           "%.300s: %" PRIu64 " bytes are no whole number of elements of %s",
                           array->path, bytes, type);
}

static enum ssan_status take_npy(struct array *array, const struct array_part *part,
                                 uint64_t size_bytes, struct ssan_error *err)
{
    struct npy npy = {0};
    enum ssan_status status = take_header(array, part, size_bytes, &npy, err);
    if (status) {
        return status;
    }
    const uint64_t wanted = npy.count * ssan_compare_size(npy.type);
    const uint64_t there = size_bytes - npy.data_begin;
    if (there != wanted) {
        return ssan_fail(err, SSAN_FORMAT, 0,
                         "%.300s: %" PRIu64 " bytes follow its header, its shape needs %" PRIu64,
                         array->path, there, wanted);
    }
    array->type = npy.type;
    if (part->offset_bytes == 0 && part->count == ARRAY_TO_END) {
        array->dimensions = npy.dimensions;
        memcpy(array->shape, npy.shape, sizeof npy.shape);
    }
    return take_count(array, part, npy.data_begin, wanted, err);
}

enum ssan_status array_open(struct array *array, const char *path, const struct array_part *part,
                            struct ssan_error *err)
{
    char magic[8] = {0};
    uint64_t size_bytes = 0;
    *array = (struct array){.path = path, .fd = -1};
    enum ssan_status status = open_file(array, &size_bytes, err);
    if (status == SSAN_OK && size_bytes >= sizeof magic) {
        status = read_at(array, magic, sizeof magic, 0, err);
    }
    if (status) {
        return status;
    }
    if (npy_is(magic, sizeof magic)) {
        return take_npy(array, part, size_bytes, err);
    }
    if (part->type == ARRAY_NO_TYPE) {
        return ssan_fail(err, SSAN_USAGE, 0,
                         "%.300s: no .npy file, so --type must say what its elements are", path);
    }
    array->type = part->type;
    return take_count(array, part, 0, size_bytes, err);
}

void array_close(struct array *array)
{
    if (array->is_open) {
        close(array->fd);
    }
    array->is_open = false;
    strbuf_finish(&array->held);
}

/* "(3, 4)", or "12 elements" for a raw file. */
static void describe(struct strbuf *text, const struct array *array)
{
    if (array->dimensions == 0) {
        strbuf_printf(text, "%" PRIu64 " elements", array->count);
        return;
    }
    strbuf_puts(text, "shape (");
    for (unsigned i = 0; i < array->dimensions; i++) {
        strbuf_printf(text, "%s%" PRIu64, i ? ", " : "", array->shape[i]);
    }
    strbuf_puts(text, ")");
}

static enum ssan_status check_alike(const struct array *a, const struct array *b,
                                    struct ssan_error *err)
{
    if (a->type != b->type) {
        return ssan_fail(err, SSAN_FORMAT, 0, "the types differ: %.150s has %s, %.150s has %s",
                         a->path, ssan_compare_type_name(a->type), b->path,
                         ssan_compare_type_name(b->type));
    }
    const bool shapes = a->dimensions && b->dimensions;
    if (a->count == b->count &&
        (!shapes || (a->dimensions == b->dimensions &&
                     memcmp(a->shape, b->shape, a->dimensions * sizeof *a->shape) == 0))) {
        return SSAN_OK;
    }
    struct strbuf one = {0}, other = {0};
    describe(&one, a);
    describe(&other, b);
    const enum ssan_status status =
        ssan_fail(err, SSAN_FORMAT, 0, "the sizes differ: %.120s has %.100s, %.120s has %.100s",
                  a->path, strbuf_text(&one), b->path, strbuf_text(&other));
    strbuf_finish(&one);
    strbuf_finish(&other);
    return status;
}

static enum ssan_status compare_blocks(struct array *a, struct array *b,
                                       const struct ssan_compare_options *options,
                                       unsigned char *blocks, struct ssan_compare_result *result,
                                       struct ssan_error *err)
{
    const size_t size = ssan_compare_size(options->type);
    const uint64_t bytes = a->count * size;
    enum ssan_status status = SSAN_OK;
    for (uint64_t at = 0; at < bytes && status == SSAN_OK; at += BLOCK_BYTES) {
        const size_t length = bytes - at < BLOCK_BYTES ? (size_t)(bytes - at) : BLOCK_BYTES;
        status = read_at(a, blocks, length, a->begin + at, err);
        if (status == SSAN_OK) {
            status = read_at(b, blocks + BLOCK_BYTES, length, b->begin + at, err);
        }
        if (status == SSAN_OK) {
            ssan_compare_add(options, blocks, blocks + BLOCK_BYTES, length / size, result);
        }
    }
    return status;
}

enum ssan_status array_compare(struct array *a, struct array *b,
                               struct ssan_compare_options *options,
                               struct ssan_compare_result *result, struct ssan_error *err)
{
    enum ssan_status status = check_alike(a, b, err);
    if (status) {
        return status;
    }
    options->type = a->type;
    if (ssan_compare_add(options, NULL, NULL, 0, result) == SSAN_COMPARE_WRONG_OPTIONS) {
        return ssan_fail(err, SSAN_USAGE, 0, "a tolerance is a finite number, and not negative");
    }
    unsigned char *blocks = mem_alloc(2 * (size_t)BLOCK_BYTES);
    if (!blocks) {
        return ssan_no_memory(err);
    }
    status = compare_blocks(a, b, options, blocks, result, err);
    mem_free(blocks);
    return status;
}
