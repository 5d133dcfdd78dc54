/* What streamsan calls the pipeline's streams, events and buffers: "pipe.copy0",
 * "pipe.slot2.device_input"; and how a program is to use the buffers, which a report tells in place
 * of edits that would need our events. Nothing is made where the tool is absent. */
#include "pipeline/parts.h"

#include <stdio.h>

static void tell(const void *object, const char *pipe, const char *kind, unsigned index,
                 const char *part)
{
    char text[128];
    if (object) {
        snprintf(text, sizeof text, "%s.%s%u%s%s", pipe, kind, index, *part ? "." : "", part);
        SSAN_NAME(object, text);
    }
}

/* What a report says of the buffers, to somebody who knows pipeline.h. */
static const char input_usage[] =
    "fill it between acquire and submit; from submit on it is the pipeline's, and the next batch "
    "has an input of its own";
static const char device_input_usage[] =
    "use it in compute, on the stream that compute is given; work on another stream has to wait "
    "for that stream first, and that stream for the work before compute returns";
static const char device_output_usage[] =
    "fill it in compute, on the stream that compute is given (work on another stream has to wait "
    "for that stream first, and that stream for the work before compute returns), and have the "
    "result from take";
static const char output_usage[] =
    "use it between take and release of its batch; copy out before release what is needed longer";
static const char landed_usage[] =
    "use it between take and release, on the stream that the consumer was created with; work on "
    "another stream has to wait for that stream first, and that stream for the work before "
    "release; the host has to wait for that stream";

static void tell_buffer(const void *buffer, const char *pipe, const char *kind, unsigned index,
                        const char *part, const char *usage)
{
    tell(buffer, pipe, kind, index, part);
    if (buffer) {
        SSAN_USAGE(buffer, usage);
    }
}

void pipe_name_all(const struct ssan_pipe *pipe)
{
    if (!ssan_annotate) {
        return;
    }
    for (unsigned i = 0; i < pipe->options.device_count; i++) {
        tell(pipe->parts[i].upload, pipe->name, "upload", i, "");
    }
    for (unsigned i = 0; i < pipe->lane_count; i++) {
        tell(pipe->lanes[i].copy, pipe->name, "copy", i, "");
    }
    for (unsigned i = 0; i < pipe->slot_count; i++) {
        const struct slot *slot = &pipe->slots[i];
        tell_buffer(slot->input, pipe->name, "slot", i, "input", input_usage);
        tell_buffer(slot->device_input, pipe->name, "slot", i, "device_input", device_input_usage);
        tell_buffer(slot->device_output, pipe->name, "slot", i, "device_output",
                    device_output_usage);
        tell_buffer(slot->output, pipe->name, "slot", i, "output", output_usage);
        tell(slot->uploaded, pipe->name, "slot", i, "uploaded");
        tell(slot->produced, pipe->name, "slot", i, "produced");
        tell(slot->copied, pipe->name, "slot", i, "copied");
    }
}

void consumer_name_all(const struct ssan_pipe_consumer *consumer)
{
    char name[96];
    if (!ssan_annotate || !consumer->options.on_device) {
        return;
    }
    tell(consumer->transfer, consumer->pipe->name, "transfer", consumer->index, "");
    snprintf(name, sizeof name, "%s.consumer%u", consumer->pipe->name, consumer->index);
    for (unsigned i = 0; i < consumer->options.landings; i++) {
        tell_buffer(consumer->landings[i].memory, name, "landing", i, "", landed_usage);
        tell(consumer->landings[i].landed, name, "landing", i, "landed");
        tell(consumer->landings[i].consumed, name, "landing", i, "consumed");
    }
    for (unsigned i = 0; i < consumer->pipe->slot_count; i++) {
        tell(consumer->reclaimed[i], name, "slot", i, "reclaimed");
    }
}
