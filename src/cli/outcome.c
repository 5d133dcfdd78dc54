/* Reads the files of trials and looks for the first difference.
 *
 * Cost: one pass over both outputs and both memories. */
#include "cli/outcome.h"

#include "base/strbuf.h"
#include "trace/reader.h"

#include <string.h>

#define LINE_BYTES 500 /* of a line of output that is kept */

static enum ssan_status read_trace(struct trial_outcome *outcome, const char *path,
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
        status = ssan_fail(err, SSAN_IO, 0, "%s: can't be read again", path);
    }
    if (!status) {
        status = facts_read(&outcome->facts, source, err);
    }
    reader_close(reader);
    return status;
}

enum ssan_status outcome_read(struct trial_outcome *outcome, const struct trial_result *result,
                              struct ssan_error *err)
{
    struct strbuf path = {0};
    enum ssan_status status;
    memset(outcome, 0, sizeof *outcome);
    outcome->result = result;
    strbuf_printf(&path, "%s/" TRIAL_MEMORY, result->directory);
    status =
        path.failed ? SSAN_NO_MEMORY : snapshot_read(&outcome->memory, strbuf_text(&path), NULL);
    outcome->has_memory = status == SSAN_OK;
    strbuf_clear(&path);
    strbuf_printf(&path, "%s/" TRIAL_TRACE, result->directory);
    if (path.failed || status == SSAN_NO_MEMORY) {
        status = ssan_no_memory(err);
    } else {
        status = read_trace(outcome, strbuf_text(&path), err);
    }
    strbuf_finish(&path);
    return status;
}

void outcome_close(struct trial_outcome *outcome)
{
    model_finish(&outcome->model);
    facts_finish(&outcome->facts);
    snapshot_close(&outcome->memory);
    memset(outcome, 0, sizeof *outcome);
}

/* -- output -- */

/* The line that begins at `from`; NULL behind the end. False when out of memory. */
static bool copy_line(struct arena *arena, const struct output_text *text, size_t from,
                      const char **line)
{
    size_t length = output_line_length(text, from);
    *line = NULL;
    if (from >= text->length) {
        return true;
    }
    *line = arena_strndup(arena, text->at + from, length < LINE_BYTES ? length : LINE_BYTES);
    return *line != NULL;
}

/* False when it can't be told. */
static bool compare_output(struct arena *arena, const struct output_mask *mask,
                           const struct trial_result *expected, const struct trial_result *got,
                           struct witness_output *output)
{
    struct output_text left, right;
    size_t left_line, right_line;
    bool fine = output_open(&left, expected);
    fine = output_open(&right, got) && fine;
    uint64_t line = fine ? output_difference(mask, &left, &right, &left_line, &right_line) : 0;
    if (line != 0) {
        *output = (struct witness_output){.differs = true, .line = line};
        fine = copy_line(arena, &right, right_line, &output->got) &&
               copy_line(arena, &left, left_line, &output->expected);
    }
    output_close(&left);
    output_close(&right);
    return fine;
}

static bool learn_output(struct output_mask *mask, const struct trial_result *one,
                         const struct trial_result *other)
{
    struct output_text left, right;
    bool fine = output_open(&left, one);
    fine = output_open(&right, other) && fine && output_learn(mask, &left, &right);
    output_close(&left);
    output_close(&right);
    return fine;
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

/* False when out of memory. */
static bool describe(struct report *report, const struct trial_outcome *expected,
                     const struct trial_outcome *got, const struct snapshot_difference *difference,
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
    return memory->got && memory->expected;
}

/* False when out of memory. */
static bool compare_memory(struct report *report, const struct trial_outcome *expected,
                           const struct trial_outcome *got, const struct outcome_noise *noise,
                           int buffer, struct witness_memory *memory)
{
    struct snapshot_differences all = {0};
    const struct snapshot_difference *best = NULL;
    uint32_t alloc = buffer >= 0 ? report->buffers[buffer].alloc : 0;
    bool fine = true;
    size_t i;
    memory->buffer = -1;
    if (expected->has_memory && got->has_memory) {
        fine = snapshot_compare(&expected->memory, &got->memory, &all);
    }
    for (i = 0; fine && i < all.count; i++) {
        if (!is_noise(noise, all.items[i].alloc) &&
            (!best || rank(&all.items[i], alloc) < rank(best, alloc))) {
            best = &all.items[i];
        }
    }
    fine = fine && (!best || describe(report, expected, got, best, memory));
    mem_free(all.items);
    return fine;
}

bool outcome_learn_noise(struct outcome_noise *noise, const struct trial_outcome *one,
                         const struct trial_outcome *other)
{
    struct snapshot_differences all = {0};
    struct witness_exit exit;
    bool fine = true;
    size_t i;
    if (one->has_memory && other->has_memory) {
        fine = snapshot_compare(&one->memory, &other->memory, &all);
    }
    for (i = 0; fine && i < all.count; i++) {
        fine = VEC_PUSH(&noise->allocs, all.items[i].alloc);
    }
    fine = learn_output(&noise->output, one->result, other->result) && fine;
    compare_exit(one->result, other->result, &exit);
    noise->exit |= exit.differs || exit.timed_out;
    mem_free(all.items);
    return fine;
}

void outcome_forget_noise(struct outcome_noise *noise)
{
    VEC_FREE(&noise->allocs);
    output_forget(&noise->output);
}

enum witness_kind outcome_compare(struct report *report, const struct trial_outcome *expected,
                                  const struct trial_outcome *got,
                                  const struct outcome_noise *noise, int buffer,
                                  struct witness *witness)
{
    bool differs, fine = compare_memory(report, expected, got, noise, buffer, &witness->memory);
    if (!noise->output.all) {
        fine = compare_output(&report->arena, &noise->output, expected->result, got->result,
                              &witness->output) &&
               fine;
    }
    if (!noise->exit) {
        compare_exit(expected->result, got->result, &witness->exit);
    }
    differs = witness->memory.buffer >= 0 || witness->output.differs || witness->exit.differs ||
              witness->exit.timed_out;
    witness->kind = !fine ? WITNESS_FAILED : differs ? WITNESS_SHOWN : WITNESS_SILENT;
    return witness->kind;
}
