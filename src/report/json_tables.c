/* The tables of the JSON form: streams, events, buffers, operations, edges, and the small values
 * they are made of.
 *
 * Findings refer to the tables by id, so a run with many findings stays small. Missing facts are
 * null. */
#include "report/json_parts.h"

#include "trace/cuda_names.h"
#include "trace/own_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void json_put(struct json_build *build, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) { /* takes the value even so */
        build->failed = true;
    }
}

void json_add(struct json_build *build, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0) { /* takes the value even so */
        build->failed = true;
    }
}

static json_t *json_format_id(char letter, uint64_t number)
{
    char id[24];
    snprintf(id, sizeof id, "%c%" PRIu64, letter, number);
    return json_string(id);
}

json_t *json_op_id(const struct report *report, int op)
{
    return op < 0 ? json_null() : json_text(report->ops[op].id);
}

json_t *json_event_id(const struct report *report, int event)
{
    return event < 0 ? json_null() : json_format_id('e', report->events[event].ordinal);
}

json_t *json_buffer_id(int buffer)
{
    return buffer < 0 ? json_null() : json_format_id('b', (uint64_t)buffer + 1);
}

json_t *json_stream_id(const struct report *report, int stream)
{
    return stream < 0 ? json_null() : json_format_id('s', report->streams[stream].ordinal);
}

json_t *json_place(struct json_build *build, const struct place *place)
{
    json_t *object;
    if (!place->file || place->line == 0) {
        return json_null();
    }
    object = json_object();
    json_put(build, object, "file", json_text(place->file));
    json_put(build, object, "line", json_integer(place->line));
    return object;
}

static const char *language_of(const struct place *place)
{
    const char *dot = place->file ? strrchr(place->file, '.') : NULL;
    if (place->language == SSAN_language_PYTHON || (dot && strcmp(dot, ".py") == 0)) {
        return "python";
    }
    if (!dot) {
        return NULL;
    }
    if (strcmp(dot, ".cu") == 0 || strcmp(dot, ".cuh") == 0) {
        return "cuda";
    }
    return strcmp(dot, ".c") == 0 ? "c" : "c++";
}

/* A frame with file, line, function; `language` on host stacks only. */
static void add_frame(struct json_build *build, json_t *array, const struct place *place,
                      bool language)
{
    json_t *frame = json_object();
    json_put(build, frame, "file", json_text(place->file));
    json_put(build, frame, "line", json_number_or_null(place->line));
    json_put(build, frame, "function", json_text(place->function));
    if (language) {
        json_put(build, frame, "language", json_text(language_of(place)));
    }
    json_add(build, array, frame);
}

json_t *json_frames(struct json_build *build, const struct place *places, size_t count)
{
    json_t *array = json_array();
    size_t i;
    for (i = 0; i < count; i++) {
        add_frame(build, array, &places[i], false);
    }
    return array;
}

/* The whole stack of an operation: what libraries did below the user's line comes first. */
static json_t *stack_frames(struct json_build *build, const struct report_op *op)
{
    json_t *array = json_array();
    size_t i;
    for (i = 0; i < op->inside_count; i++) {
        const struct place *place = &op->inside[i];
        if (place->function && !(place->file && is_own_header(place->file, strlen(place->file)))) {
            add_frame(build, array, place, true);
        }
    }
    for (i = 0; i < op->stack_count; i++) {
        add_frame(build, array, &op->stack[i], true);
    }
    return array;
}

json_t *json_ranges(struct json_build *build, const struct ranges *bytes)
{
    json_t *array = json_array();
    size_t i;
    for (i = 0; i < bytes->count; i++) {
        json_t *range = json_object();
        json_put(build, range, "begin", json_number(bytes->items[i].begin));
        json_put(build, range, "end", json_number(bytes->items[i].end));
        json_add(build, array, range);
    }
    return array;
}

static json_t *name_from_word(enum name_from from)
{
    static const char *const words[] = {"given", "variable", "ordinal"};
    return json_string(words[from]);
}

static json_t *streams(struct json_build *build)
{
    json_t *array = json_array();
    size_t i;
    for (i = 0; i < build->report->stream_count + build->report->spare_streams; i++) {
        const struct report_stream *stream = &build->report->streams[i];
        json_t *object = json_object(), *flags = json_array();
        if (stream->flavour == SSAN_stream_flavour_NON_BLOCKING) {
            json_add(build, flags, json_string("non-blocking"));
        }
        json_put(build, object, "id", json_stream_id(build->report, (int)i));
        json_put(build, object, "name", json_text(stream->name));
        json_put(build, object, "name_from", name_from_word(stream->name_from));
        json_put(build, object, "flags", flags);
        if (build->report->device_count > 1) {
            json_put(build, object, "device", json_integer(stream->device));
        }
        json_put(build, object, "created", json_place(build, &stream->created));
        json_add(build, array, object);
    }
    return array;
}

static json_t *events(struct json_build *build)
{
    json_t *array = json_array();
    size_t i;
    for (i = 0; i < build->report->event_count; i++) {
        const struct report_event *event = &build->report->events[i];
        json_t *object = json_object();
        json_put(build, object, "id", json_event_id(build->report, (int)i));
        json_put(build, object, "name", json_text(event->name));
        json_put(build, object, "name_from", name_from_word(event->name_from));
        json_put(build, object, "created", json_place(build, &event->created));
        json_add(build, array, object);
    }
    return array;
}

static const char *space_word(enum ssan_memory memory)
{
    if (memory == SSAN_memory_REGISTERED) {
        memory = SSAN_memory_PINNED;
    }
    return ssan_enum_word(SSAN_TABLE_memory, (uint32_t)memory);
}

static json_t *buffers(struct json_build *build)
{
    json_t *array = json_array();
    size_t i;
    for (i = 0; i < build->report->buffer_count; i++) {
        const struct report_buffer *buffer = &build->report->buffers[i];
        json_t *object = json_object();
        json_put(build, object, "id", json_buffer_id((int)i));
        json_put(build, object, "name", json_text(buffer->name));
        json_put(build, object, "space", json_text(space_word(buffer->memory)));
        json_put(build, object, "size_bytes", json_number_or_null(buffer->size_bytes));
        if (build->report->device_count > 1) {
            json_put(build, object, "device",
                     buffer->device >= 0 ? json_integer(buffer->device) : json_null());
        }
        json_put(build, object, "generation", json_integer(buffer->generation));
        json_put(build, object, "call", json_text(buffer->call));
        json_put(build, object, "allocated", json_place(build, &buffer->allocated));
        json_put(build, object, "freed", json_place(build, &buffer->freed));
        if (build->with_addresses) {
            char address[24];
            snprintf(address, sizeof address, "0x%" PRIx64, buffer->address);
            json_put(build, object, "address", json_string(address));
        }
        json_add(build, array, object);
    }
    return array;
}

static json_t *span(struct json_build *build, const struct buffer_span *bytes)
{
    json_t *object;
    if (bytes->buffer < 0) {
        return json_null();
    }
    object = json_object();
    json_put(build, object, "buffer", json_buffer_id(bytes->buffer));
    json_put(build, object, "begin", json_number(bytes->begin));
    json_put(build, object, "end", json_number(bytes->end));
    return object;
}

static json_t *three(struct json_build *build, const uint32_t numbers[3])
{
    json_t *array = json_array();
    int i;
    for (i = 0; i < 3; i++) {
        json_add(build, array, json_integer(numbers[i]));
    }
    return array;
}

static const char *const op_words[] = {
    "kernel", "copy",     "memset",    "alloc",      "free", "record",
    "wait",   "hostfunc", "host-read", "host-write", "sync", "failed",
};

/* The members that only operations of its kind have. */
static void op_details(struct json_build *build, json_t *object, const struct report_op *op)
{
    switch (op->kind) {
    case ROP_KERNEL:
        json_put(build, object, "kernel", json_text(op->name));
        json_put(build, object, "grid", three(build, op->grid));
        json_put(build, object, "block", three(build, op->block));
        break;
    case ROP_COPY:
        json_put(build, object, "call", json_text(op->call));
        json_put(build, object, "src", span(build, &op->src));
        json_put(build, object, "dst", span(build, &op->dst));
        break;
    case ROP_MEMSET:
    case ROP_ALLOC:
    case ROP_FREE:
        json_put(build, object, "call", json_text(op->call));
        json_put(build, object, "dst", span(build, &op->dst));
        break;
    case ROP_RECORD:
    case ROP_WAIT:
        json_put(build, object, "event", json_event_id(build->report, op->event));
        break;
    case ROP_HOSTFUNC:
        if (op->name) {
            json_put(build, object, "function", json_text(op->name));
        }
        break;
    case ROP_HOST_READ:
    case ROP_HOST_WRITE:
        json_put(build, object, "dst", span(build, &op->dst));
        break;
    case ROP_FAILED:
        json_put(build, object, "call", json_text(op->call));
        if (op->name) {
            json_put(build, object, "kernel", json_text(op->name));
        }
        json_put(build, object, "error", json_text(cuda_error_name(op->error)));
        break;
    case ROP_SYNC:
        json_put(build, object, "call", json_text(op->call));
        json_put(build, object, "event", json_event_id(build->report, op->event));
        break;
    }
}

static json_t *operations(struct json_build *build)
{
    json_t *array = json_array();
    size_t i;
    for (i = 0; i < build->report->op_count; i++) {
        const struct report_op *op = &build->report->ops[i];
        json_t *object = json_object();
        json_put(build, object, "id", json_text(op->id));
        json_put(build, object, "label", json_text(op->label));
        json_put(build, object, "stream", json_stream_id(build->report, op->stream));
        json_put(build, object, "thread", json_number_or_null(op->thread));
        json_put(build, object, "seq", json_integer(op->seq));
        json_put(build, object, "kind", json_string(op_words[op->kind]));
        op_details(build, object, op);
        json_put(build, object, "at", json_place(build, &op->at));
        json_put(build, object, "stack", stack_frames(build, op));
        json_add(build, array, object);
    }
    return array;
}

static json_t *edges(struct json_build *build)
{
    json_t *array = json_array();
    size_t i;
    for (i = 0; i < build->report->edge_count; i++) {
        const struct report_edge *edge = &build->report->edges[i];
        json_t *object = json_object();
        json_put(build, object, "from", json_op_id(build->report, edge->from));
        json_put(build, object, "to", json_op_id(build->report, edge->to));
        json_put(build, object, "why", json_text(edge->why));
        json_add(build, array, object);
    }
    return array;
}

void json_tables(struct json_build *build, json_t *root)
{
    json_put(build, root, "streams", streams(build));
    json_put(build, root, "events", events(build));
    json_put(build, root, "buffers", buffers(build));
    json_put(build, root, "operations", operations(build));
    json_put(build, root, "edges", edges(build));
}
