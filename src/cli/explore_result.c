/* Results of trials read back from their folders. */
#include "cli/explore_result.h"

#include "base/hash.h"
#include "explore/snapshot.h"
#include "trace/reader.h"

static enum ssan_status path_of(struct strbuf *path, const struct trial_result *trial,
                                const char *name, struct ssan_error *err)
{
    strbuf_clear(path);
    strbuf_printf(path, "%s/%s", trial->directory, name);
    return path->failed ? ssan_no_memory(err) : SSAN_OK;
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

enum ssan_status explore_result_read(const struct trial_result *trial,
                                     const struct output_mask *mask, struct model *model,
                                     struct probe_result *result, struct ssan_error *err)
{
    struct output_text output = {0};
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
        if (!output_open(&output, trial)) {
            status = ssan_fail(err, SSAN_IO, 0, "can't read what the program printed");
        }
        result->outcome.out_hash = output_hash(mask, &output);
        output_close(&output);
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
