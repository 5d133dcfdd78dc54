/* Results of trials read back from their folders. */
#include "cli/explore_result.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "explore/snapshot.h"
#include "trace/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT_KEPT (1u << 20) /* bytes of output kept for telling differences */

static uint64_t hash_bytes(uint64_t hash, const unsigned char *bytes, size_t length)
{
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        hash = hash_mix(hash, word);
    }
    for (; i < length; i++) {
        hash = hash_mix(hash, bytes[i]);
    }
    return hash_mix(hash, length);
}

static enum ssan_status path_of(struct strbuf *path, const struct trial_result *trial,
                                const char *name, struct ssan_error *err)
{
    strbuf_clear(path);
    strbuf_printf(path, "%s/%s", trial->directory, name);
    return path->failed ? ssan_fail(err, SSAN_NO_MEMORY, 0, "out of memory") : SSAN_OK;
}

/* Blocks are hashed apart and summed up, so the order of frees does not matter. */
static void hash_memory(const char *path, struct probe_outcome *outcome)
{
    struct snapshot snapshot = {0};
    if (snapshot_read(&snapshot, path, NULL) == SSAN_OK && snapshot.complete) {
        outcome->has_memory = true;
        for (size_t i = 0; i < snapshot.blocks.count; i++) {
            const struct snapshot_contents *block = &snapshot.blocks.items[i];
            outcome->memory_hash += hash_bytes(hash_mix(block->alloc, block->size_bytes),
                                               block->bytes, (size_t)block->kept_bytes);
        }
    }
    snapshot_close(&snapshot);
}

static enum ssan_status hash_output(const char *path, struct probe_outcome *outcome,
                                    struct ssan_error *err)
{
    static unsigned char buffer[1 << 16]; /* whole reads but for the last: the hash is of pieces */
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd;
    while (fd >= 0 && (got = read(fd, buffer, sizeof buffer)) > 0) {
        outcome->out_hash = hash_bytes(outcome->out_hash, buffer, (size_t)got);
        outcome->out_bytes += (uint64_t)got;
    }
    enum ssan_status status = got < 0 ? file_fail(err, errno, "can't read", path) : SSAN_OK;
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

void explore_result_output(const struct trial_result *trial, struct strbuf *output)
{
    char buffer[1 << 14];
    struct strbuf path = {0};
    int fd = path_of(&path, trial, TRIAL_STDOUT, NULL) == SSAN_OK
                 ? open(strbuf_text(&path), O_RDONLY | O_CLOEXEC)
                 : -1;
    ssize_t got;
    strbuf_finish(&path);
    while (fd >= 0 && output->length < OUTPUT_KEPT && (got = read(fd, buffer, sizeof buffer)) > 0) {
        strbuf_add(output, buffer, (size_t)got);
    }
    if (fd >= 0) {
        close(fd);
    }
}

static enum ssan_status read_model(const char *path, struct model *model, struct ssan_error *err)
{
    struct reader *reader = NULL;
    enum ssan_status status = reader_open(&reader, path, err);
    if (!status) {
        status = model_read(model, reader_source(reader), err);
    }
    reader_close(reader);
    return status;
}

enum ssan_status explore_result_read(const struct trial_result *trial, struct model *model,
                                     struct probe_result *result, struct ssan_error *err)
{
    struct strbuf path = {0};
    enum ssan_status status = SSAN_OK;
    *result = (struct probe_result){
        .outcome = {.code = trial->end_signal ? 0 : trial->code,
                    .end_signal = trial->timed_out || trial->flooded ? 0 : trial->end_signal,
                    .timed_out = trial->timed_out || trial->flooded},
        .infeasible = trial->infeasible,
        .forced = trial->forced,
    };
    if (result->outcome.timed_out) {
        result->outcome.code = 0;
    } else {
        status = path_of(&path, trial, TRIAL_STDOUT, err);
        status = status ? status : hash_output(strbuf_text(&path), &result->outcome, err);
        status = status ? status : path_of(&path, trial, TRIAL_MEMORY, err);
        if (!status) {
            hash_memory(strbuf_text(&path), &result->outcome);
        }
    }
    status = status ? status : path_of(&path, trial, TRIAL_TRACE, err);
    status = status ? status : read_model(strbuf_text(&path), model, err);
    strbuf_finish(&path);
    return status;
}

/* The line of `text` that begins at `at`; NULL at its end. */
static char *line_at(const struct strbuf *text, size_t at)
{
    if (at >= text->length) {
        return NULL;
    }
    const char *begin = text->text + at;
    const char *end = memchr(begin, '\n', text->length - at);
    return mem_strndup(begin, end ? (size_t)(end - begin) : text->length - at);
}

uint64_t explore_result_difference(const struct strbuf *reference, const struct strbuf *other,
                                   char **expected, char **got)
{
    size_t at = 0, begin = 0;
    uint64_t line = 1;
    while (at < reference->length && at < other->length && reference->text[at] == other->text[at]) {
        if (reference->text[at++] == '\n') {
            line++;
            begin = at;
        }
    }
    if (at == reference->length && at == other->length) {
        return 0;
    }
    *expected = line_at(reference, begin);
    *got = line_at(other, begin);
    return line;
}
