/* Statements of fixes in C and in Python. Cost: the text. */
#include "core/explain_words.h"

#include <string.h>

static bool is_python(const struct place *place)
{
    return place->language == SSAN_language_PYTHON;
}

const char *words_stream(const struct place *place, const char *stream)
{
    bool is_default = strcmp(stream, "0") == 0 || strncmp(stream, "cudaStream", 10) == 0;
    return is_python(place) && is_default ? "torch.cuda.default_stream()" : stream;
}

void words_wait(struct strbuf *out, const struct place *place, const char *stream,
                const char *event)
{
    if (is_python(place)) {
        strbuf_printf(out, "%s.wait_event(%s)", words_stream(place, stream), event);
    } else {
        strbuf_printf(out, "cudaStreamWaitEvent(%s, %s, 0);", stream, event);
    }
}

void words_record(struct strbuf *out, const struct place *place, const char *stream,
                  const char *event)
{
    if (is_python(place)) {
        strbuf_printf(out, "%s.record(%s)", event, words_stream(place, stream));
    } else {
        strbuf_printf(out, "cudaEventRecord(%s, %s);", event, stream);
    }
}

void words_declare(struct strbuf *out, const struct place *place, const char *event)
{
    strbuf_printf(out, is_python(place) ? "%s = torch.cuda.Event()" : "cudaEvent_t %s;", event);
}

void words_create(struct strbuf *out, const struct place *place, const char *event)
{
    if (!is_python(place)) {
        strbuf_printf(out, "cudaEventCreateWithFlags(&%s, cudaEventDisableTiming);", event);
    }
}

void words_join_event(struct strbuf *out, const struct place *place, const char *event)
{
    strbuf_printf(out, is_python(place) ? "%s.synchronize()" : "cudaEventSynchronize(%s);", event);
}

void words_join_stream(struct strbuf *out, const struct place *place, const char *stream)
{
    strbuf_printf(out, is_python(place) ? "%s.synchronize()" : "cudaStreamSynchronize(%s);",
                  words_stream(place, stream));
}

void words_set_device(struct strbuf *out, const struct place *place, int device)
{
    if (!is_python(place)) {
        strbuf_printf(out, "cudaSetDevice(%d);", device);
    }
}

void words_declare_device(struct strbuf *out, const struct place *place, const char *variable)
{
    if (!is_python(place)) {
        strbuf_printf(out, "int %s;", variable);
    }
}

void words_get_device(struct strbuf *out, const struct place *place, const char *variable)
{
    if (!is_python(place)) {
        strbuf_printf(out, "cudaGetDevice(&%s);", variable);
    }
}

void words_restore_device(struct strbuf *out, const struct place *place, const char *variable)
{
    if (!is_python(place)) {
        strbuf_printf(out, "cudaSetDevice(%s);", variable);
    }
}

void words_join_device(struct strbuf *out, const struct place *place)
{
    strbuf_puts(out, is_python(place) ? "torch.cuda.synchronize()" : "cudaDeviceSynchronize();");
}
