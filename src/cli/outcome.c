/* Reads the files of trials and looks for the first difference.
 *
 * Cost: one pass over both outputs and both memories. */
#include "cli/outcome.h"

#include "base/strbuf.h"
#include "trace/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES 500 /* of a line of output that is kept */

static enum ssan_status read_trace(struct outcome *outcome, const char *path,
                                   struct ssan_error *err)
{
    struct reader *reader;
    struct ssan_source *source;
    enum ssan_status status = reader_open(&reader, path, err);
    if (status) {
        return status;
    }
    source = reader_source(reader);
    status = model_read(&outcome->model, source, err);
    if (!status && !source->rewind(source)) {
        status = ssan_fail(err, SSAN_INTERNAL, 0, "%s: can't be read again", path);
    }
    if (!status) {
        status = facts_read(&outcome->facts, source, err);
    }
    reader_close(reader);
    return status;
}

enum ssan_status outcome_read(struct outcome *outcome, const struct trial_result *result,
                              struct ssan_error *err)
{
    char path[4096];
    memset(outcome, 0, sizeof *outcome);
    outcome->result = result;
    snprintf(path, sizeof path, "%s/" TRIAL_MEMORY, result->directory);
    outcome->has_memory = snapshot_read(&outcome->memory, path, NULL) == SSAN_OK;
    snprintf(path, sizeof path, "%s/" TRIAL_TRACE, result->directory);
    return read_trace(outcome, path, err);
}

void outcome_close(struct outcome *outcome)
{
    model_finish(&outcome->model);
    facts_finish(&outcome->facts);
    snapshot_close(&outcome->memory);
    memset(outcome, 0, sizeof *outcome);
}

/* -- output -- */

struct text {
    const char *at;
    size_t length;
    void *map;
};

static void map_text(struct text *text, const struct trial_result *result)
{
    char path[4096];
    struct stat info;
    int fd;
    memset(text, 0, sizeof *text);
    snprintf(path, sizeof path, "%s/" TRIAL_STDOUT, result->directory);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0) {
        text->map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        text->map = text->map == MAP_FAILED ? NULL : text->map;
        text->at = text->map;
        text->length = text->map ? (size_t)info.st_size : 0;
    }
    if (fd >= 0) {
        close(fd);
    }
}

static void unmap_text(struct text *text)
{
    if (text->map) {
        munmap(text->map, text->length);
    }
}

/* The line that begins at `from`; NULL behind the end. */
static const char *copy_line(struct arena *arena, const struct text *text, size_t from)
{
    const char *newline;
    size_t length;
    if (from >= text->length) {
        return NULL;
    }
    newline = memchr(text->at + from, '\n', text->length - from);
    length = newline ? (size_t)(newline - text->at) - from : text->length - from;
    return arena_strndup(arena, text->at + from, length < LINE_BYTES ? length : LINE_BYTES);
}

static void compare_output(struct arena *arena, const struct trial_result *expected,
                           const struct trial_result *got, struct witness_output *output)
{
    struct text left, right;
    size_t i = 0, begin = 0;
    uint64_t line = 1;
    map_text(&left, expected);
    map_text(&right, got);
    while (i < left.length && i < right.length && left.at[i] == right.at[i]) {
        if (left.at[i++] == '\n') {
            begin = i;
            line++;
        }
    }
    if (i < left.length || i < right.length) {
        *output = (struct witness_output){.differs = true,
                                          .line = line,
                                          .got = copy_line(arena, &right, begin),
                                          .expected = copy_line(arena, &left, begin)};
    }
    unmap_text(&left);
    unmap_text(&right);
}

static void compare_exit(const struct trial_result *expected, const struct trial_result *got,
                         struct witness_exit *exit)
{
    *exit = (struct witness_exit){
        .differs = expected->code != got->code || expected->end_signal != got->end_signal,
        .timed_out = got->timed_out && !expected->timed_out,
        .code = got->code,
        .signal = got->end_signal,
        .expected_code = expected->code,
        .expected_signal = expected->end_signal,
    };
}

/* -- memory -- */

static bool is_noise(const struct outcome_noise *noise, uint32_t alloc)
{
    size_t i;
    for (i = 0; i < noise->allocs.count; i++) {
        if (noise->allocs.items[i] == alloc) {
            return true;
        }
    }
    return false;
}

/* How good a difference is to be shown: the smaller the better. */
static unsigned rank(const struct snapshot_difference *difference, uint32_t alloc)
{
    if (difference->memory != SSAN_memory_DEVICE) {
        return 0;
    }
    return difference->alloc == alloc ? 1 : 2;
}

/* The row of an allocation in the report; one of the spare rows is put behind the others. */
static int buffer_of(struct report *report, uint32_t alloc)
{
    size_t i, all = report->buffer_count + report->spare_buffers;
    for (i = 0; i < all && report->buffers[i].alloc != alloc; i++) {
    }
    if (i == all) {
        return -1;
    }
    if (i >= report->buffer_count) {
        struct report_buffer row = report->buffers[i];
        report->buffers[i] = report->buffers[report->buffer_count];
        report->buffers[report->buffer_count] = row;
        i = report->buffer_count++;
        report->spare_buffers--;
    }
    return (int)i;
}

static void describe(struct report *report, const struct outcome *expected,
                     const struct outcome *got, const struct snapshot_difference *difference,
                     struct witness_memory *memory)
{
    const struct snapshot_contents *left = difference->left, *right = difference->right;
    char text[64];
    enum snapshot_type type;
    uint64_t most = left->kept_bytes < right->kept_bytes ? left->kept_bytes : right->kept_bytes;
    uint32_t width = facts_width(&got->facts, &got->model, right->address + difference->first);
    uint64_t at;
    if (width == 0) {
        width = facts_width(&expected->facts, &expected->model, left->address + difference->first);
    }
    at = width ? difference->first / width * width : 0;
    if (width == 0 || width > 8 || at + width > most) {
        width = 1;
        at = difference->first;
    }
    type = snapshot_guess(left->bytes + at, right->bytes + at, width);
    memory->buffer = buffer_of(report, difference->alloc);
    memory->index = at / width;
    memory->bytes_differ = difference->bytes;
    memory->type = snapshot_type_name(type);
    snapshot_value(type, right->bytes + at, width, text, sizeof text);
    memory->got = arena_strdup(&report->arena, text);
    snapshot_value(type, left->bytes + at, width, text, sizeof text);
    memory->expected = arena_strdup(&report->arena, text);
    if (!memory->got || !memory->expected) {
        memory->buffer = -1;
    }
}

static void compare_memory(struct report *report, const struct outcome *expected,
                           const struct outcome *got, const struct outcome_noise *noise, int buffer,
                           struct witness_memory *memory)
{
    struct snapshot_differences all = {0};
    const struct snapshot_difference *best = NULL;
    uint32_t alloc = buffer >= 0 ? report->buffers[buffer].alloc : 0;
    size_t i;
    memory->buffer = -1;
    if (expected->has_memory && got->has_memory &&
        snapshot_compare(&expected->memory, &got->memory, &all)) {
        for (i = 0; i < all.count; i++) {
            if (!is_noise(noise, all.items[i].alloc) &&
                (!best || rank(&all.items[i], alloc) < rank(best, alloc))) {
                best = &all.items[i];
            }
        }
    }
    if (best) {
        describe(report, expected, got, best, memory);
    }
    mem_free(all.items);
}

bool outcome_learn_noise(struct outcome_noise *noise, const struct outcome *one,
                         const struct outcome *other)
{
    struct snapshot_differences all = {0};
    struct witness_output output = {0};
    struct witness_exit exit;
    struct arena arena = {0};
    bool fine = true;
    size_t i;
    if (one->has_memory && other->has_memory) {
        fine = snapshot_compare(&one->memory, &other->memory, &all);
    }
    for (i = 0; fine && i < all.count; i++) {
        fine = VEC_PUSH(&noise->allocs, all.items[i].alloc);
    }
    compare_output(&arena, one->result, other->result, &output);
    compare_exit(one->result, other->result, &exit);
    noise->output |= output.differs;
    noise->exit |= exit.differs || exit.timed_out;
    arena_finish(&arena);
    mem_free(all.items);
    return fine;
}

void outcome_forget_noise(struct outcome_noise *noise)
{
    VEC_FREE(&noise->allocs);
}

bool outcome_compare(struct report *report, const struct outcome *expected,
                     const struct outcome *got, const struct outcome_noise *noise, int buffer,
                     struct witness *witness)
{
    compare_memory(report, expected, got, noise, buffer, &witness->memory);
    if (!noise->output) {
        compare_output(&report->arena, expected->result, got->result, &witness->output);
    }
    if (!noise->exit) {
        compare_exit(expected->result, got->result, &witness->exit);
    }
    return witness->memory.buffer >= 0 || witness->output.differs || witness->exit.differs ||
           witness->exit.timed_out;
}
