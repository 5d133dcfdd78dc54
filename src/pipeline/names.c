/* What streamsan calls the pipeline's streams, events and buffers: "pipe.copy0",
 * "pipe.slot2.device_input". Nothing is made where the tool is absent. */
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
        tell(slot->input, pipe->name, "slot", i, "input");
        tell(slot->device_input, pipe->name, "slot", i, "device_input");
        tell(slot->device_output, pipe->name, "slot", i, "device_output");
        tell(slot->output, pipe->name, "slot", i, "output");
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
        tell(consumer->landings[i].memory, name, "landing", i, "");
        tell(consumer->landings[i].landed, name, "landing", i, "landed");
        tell(consumer->landings[i].consumed, name, "landing", i, "consumed");
    }
    for (unsigned i = 0; i < consumer->pipe->slot_count; i++) {
        tell(consumer->reclaimed[i], name, "slot", i, "reclaimed");
    }
}
