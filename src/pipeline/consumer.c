/* Consumers: made with all that they will need, so that take allocates nothing. */
#include "pipeline/parts.h"

#include <stdlib.h>
#include <string.h>

static enum ssan_pipe_status check_options(const struct ssan_pipe *pipe,
                                           const struct ssan_pipe_consumer_options *options,
                                           struct ssan_pipe_error *err)
{
    const char *wrong = NULL;
    if (pipe->options.share ? options->share_index >= pipe->options.share
                            : options->share_index != 0) {
        wrong = "share_index is not below the pipeline's share";
    } else if (!options->on_device && pipe->options.no_copy_out) {
        wrong = "a host consumer, but nothing is copied out (no_copy_out)";
    } else if (options->from_device && !options->on_device) {
        wrong = "from_device without on_device";
    } else if (options->landings > 4096) {
        wrong = "more than 4096 landings";
    }
    return wrong ? pipe_fail(err, SSAN_PIPE_INVALID, SSAN_PIPE_NO_BATCH, "%s: consumer: %s",
                             pipe->name, wrong)
                 : SSAN_PIPE_OK;
}

static void add_consumer(struct ssan_pipe *pipe, struct ssan_pipe_consumer *consumer)
{
    pthread_mutex_lock(&pipe->lock);
    consumer->index = pipe->consumer_count++;
    consumer->next = pipe->consumers;
    pipe->consumers = consumer;
    if (consumer->options.on_device) {
        pipe->stats.device_bytes +=
            (uint64_t)consumer->options.landings * pipe->options.output_bytes;
    }
    pthread_mutex_unlock(&pipe->lock);
}

enum ssan_pipe_status ssan_pipe_consumer_create(struct ssan_pipe *pipe,
                                                const struct ssan_pipe_consumer_options *options,
                                                struct ssan_pipe_consumer **consumer,
                                                struct ssan_pipe_error *err)
{
    struct ssan_pipe_consumer_options filled = {0};
    struct ssan_pipe_consumer *made;
    struct failure failure = {0};
    enum ssan_pipe_status status;
    const char *wrong = options ? pipe_wrong_size(options->size, sizeof filled) : NULL;
    if (wrong) {
        return pipe_fail(err, SSAN_PIPE_INVALID, SSAN_PIPE_NO_BATCH, "%s: consumer: %s", pipe->name,
                         wrong);
    }
    if (options) {
        memcpy(&filled, options, options->size);
    }
    status = check_options(pipe, &filled, err);
    if (status != SSAN_PIPE_OK) {
        return status;
    }
    filled.from_device = filled.on_device && (filled.from_device || pipe->options.no_copy_out);
    filled.landings = filled.landings ? filled.landings : 2;
    made = calloc(1, sizeof *made);
    if (made) {
        made->pipe = pipe;
        made->options = filled;
    }
    if (made && filled.on_device) {
        made->landings = calloc(filled.landings, sizeof *made->landings);
        made->reclaimed = calloc(pipe->slot_count, sizeof(cudaEvent_t));
    }
    if (!made || (filled.on_device && (!made->landings || !made->reclaimed))) {
        (void)pipe_no_memory(&failure, "calloc", 0);
    } else if (filled.on_device) {
        int shield = pipe_shield();
        (void)consumer_make_memory(made, &failure);
        pipe_unshield(shield);
    }
    if (failure.status != SSAN_PIPE_OK) {
        struct failure ignored = {0};
        if (made) {
            consumer_drop_memory(made, &ignored);
        }
        return pipe_fail_make(err, &failure, pipe->name);
    }
    add_consumer(pipe, made);
    consumer_name_all(made);
    *consumer = made;
    return SSAN_PIPE_OK;
}
