/* The JSON of a finding's witness and of the diagnosis of --bisect. */
#include "report/json_parts.h"

/* A value that is no number in JSON (nan, inf, hexadecimal) stays text. */
static json_t *value(const char *text)
{
    json_t *number = json_loads(text, JSON_DECODE_ANY, NULL);
    if (number && json_is_number(number)) {
        return number;
    }
    json_decref(number);
    return json_text(text);
}

static json_t *effect(struct json_build *build, const struct witness_memory *memory)
{
    json_t *object;
    if (memory->buffer < 0) {
        return json_null();
    }
    object = json_object();
    json_put(build, object, "buffer", json_buffer_id(memory->buffer));
    json_put(build, object, "index", json_number(memory->index));
    json_put(build, object, "type", json_text(memory->type));
    json_put(build, object, "got", value(memory->got));
    json_put(build, object, "expected", value(memory->expected));
    json_put(build, object, "bytes_differ", json_number(memory->bytes_differ));
    return object;
}

static json_t *end(struct json_build *build, int code, int end_signal)
{
    json_t *object = json_object();
    json_put(build, object, "code", end_signal ? json_null() : json_integer(code));
    json_put(build, object, "signal", end_signal ? json_integer(end_signal) : json_null());
    return object;
}

static json_t *exit_value(struct json_build *build, const struct witness_exit *exit)
{
    json_t *object;
    if (!exit->differs && !exit->timed_out) {
        return json_null();
    }
    object = json_object();
    json_put(build, object, "got",
             exit->timed_out ? json_null() : end(build, exit->code, exit->signal));
    json_put(build, object, "expected", end(build, exit->expected_code, exit->expected_signal));
    return object;
}

static json_t *output_value(struct json_build *build, const struct witness_output *output)
{
    json_t *object;
    if (!output->differs) {
        return json_null();
    }
    object = json_object();
    json_put(build, object, "line", json_number(output->line));
    json_put(build, object, "got", json_text(output->got));
    json_put(build, object, "expected", json_text(output->expected));
    return object;
}

static json_t *gate_value(struct json_build *build, const struct witness *witness)
{
    json_t *object;
    if (!witness->held) {
        return json_null();
    }
    object = json_object();
    json_put(build, object, "held", json_text(witness->held));
    json_put(build, object, "kernel", json_text(witness->held_name));
    json_put(build, object, "until", json_text(witness->until));
    return object;
}

json_t *json_witness(struct json_build *build, const struct witness *witness)
{
    json_t *object;
    if (!witness) {
        return json_null();
    }
    object = json_object();
    json_put(build, object, "kind", json_text(witness_word(witness->kind)));
    json_put(build, object, "detail", json_text(witness->detail));
    json_put(build, object, "order", json_texts(witness->order, witness->order_count));
    json_put(build, object, "gate", gate_value(build, witness));
    json_put(build, object, "interleaved", json_boolean(witness->interleaved));
    json_put(build, object, "effect", effect(build, &witness->memory));
    json_put(build, object, "output", output_value(build, &witness->output));
    json_put(build, object, "exit", exit_value(build, &witness->exit));
    json_put(build, object, "replay", witness->replay ? json_words(witness->replay) : json_null());
    json_put(build, object, "reproduced", json_number(witness->reproduced));
    json_put(build, object, "repeats", json_number(witness->repeats));
    return object;
}

json_t *json_diagnosis(struct json_build *build, const struct diagnosis *diagnosis)
{
    json_t *object, *waits;
    size_t i;
    if (!diagnosis) {
        return json_null();
    }
    waits = json_array();
    for (i = 0; i < diagnosis->wait_count; i++) {
        const struct diagnosis_wait *wait = &diagnosis->waits[i];
        json_t *one = json_object();
        json_put(build, one, "at", json_place(build, &wait->at));
        json_put(build, one, "operation", json_text(wait->what));
        json_put(build, one, "stream", json_text(wait->stream));
        json_add(build, waits, one);
    }
    object = json_object();
    json_put(build, object, "wrong", json_boolean(diagnosis->wrong));
    json_put(build, object, "cured", json_boolean(diagnosis->cured));
    json_put(build, object, "smallest", json_boolean(diagnosis->smallest));
    json_put(build, object, "limit", json_text(diagnosis_limit_word(diagnosis->limit)));
    json_put(build, object, "waits", waits);
    json_put(build, object, "tried", json_number(diagnosis->tried));
    return object;
}
