/* Prints events as lines. What it prints, listing_parse.c reads back to the same event. */
#include "trace/listing.h"

#include <inttypes.h>
#include <string.h>

/* C escapes; three octal digits always, so that a digit may follow. Bytes from 0x80 on (UTF-8)
 * stand as they are. */
static void print_string(struct strbuf *out, struct ssan_str text)
{
    static const char plain[] = "abtnvfr";
    strbuf_puts(out, "\"");
    for (uint32_t i = 0, from = 0; i <= text.length; i++) {
        unsigned char c = i < text.length ? (unsigned char)text.ptr[i] : 0;
        if (i < text.length && c >= ' ' && c != '"' && c != '\\' && c != 0x7f) {
            continue;
        }
        strbuf_add(out, text.ptr ? text.ptr + from : "", i - from);
        from = i + 1;
        if (i == text.length) {
            break;
        }
        if (c == '"' || c == '\\') {
            strbuf_printf(out, "\\%c", c);
        } else if (c >= '\a' && c <= '\r') {
            strbuf_printf(out, "\\%c", plain[c - '\a']);
        } else {
            strbuf_printf(out, "\\%03o", c);
        }
    }
    strbuf_puts(out, "\"");
}

static void print_runs(struct strbuf *out, struct ssan_runs runs)
{
    for (uint32_t i = 0; i < runs.count; i++) {
        struct ssan_run run = runs.ptr[i];
        strbuf_printf(out, "%s0x%" PRIx64 "+%" PRIu64, i ? ", " : "[", run.address, run.length);
        if (run.count != 1) {
            strbuf_printf(out, "*%" PRIu64 "x%" PRIu64, run.stride, run.count);
        }
    }
    strbuf_puts(out, "]");
}

static void print_words(struct strbuf *out, struct ssan_u64s words)
{
    for (uint32_t i = 0; i < words.count; i++) {
        strbuf_printf(out, words.ptr[i] ? "%s0x%" PRIx64 : "%s%" PRIu64, i ? ", " : "[",
                      words.ptr[i]);
    }
    strbuf_puts(out, "]");
}

static void print_field(struct strbuf *out, const struct ssan_field *field, const void *at)
{
    uint32_t narrow = 0;
    uint64_t wide = 0;
    struct ssan_str text = {0};
    struct ssan_runs runs = {0};
    struct ssan_u64s words = {0};
    bool is_empty = false;
    switch (field->type) {
    case SSAN_FIELD_U32:
        memcpy(&narrow, at, sizeof narrow);
        wide = narrow;
        is_empty = wide == 0;
        break;
    case SSAN_FIELD_ENUM:
        memcpy(&narrow, at, sizeof narrow);
        break;
    case SSAN_FIELD_U64:
    case SSAN_FIELD_X64:
        memcpy(&wide, at, sizeof wide);
        is_empty = wide == 0;
        break;
    case SSAN_FIELD_STR:
        memcpy(&text, at, sizeof text);
        is_empty = text.length == 0;
        break;
    case SSAN_FIELD_RUNS:
        memcpy(&runs, at, sizeof runs);
        is_empty = runs.count == 0;
        break;
    case SSAN_FIELD_U64S:
        memcpy(&words, at, sizeof words);
        is_empty = words.count == 0;
        break;
    }
    if (is_empty) {
        return;
    }
    strbuf_printf(out, " %s=", field->name);
    if (field->type == SSAN_FIELD_ENUM) {
        const char *word = ssan_enum_word(field->table, narrow);
        strbuf_puts(out, word ? word : "?");
    } else if (field->type == SSAN_FIELD_STR) {
        print_string(out, text);
    } else if (field->type == SSAN_FIELD_RUNS) {
        print_runs(out, runs);
    } else if (field->type == SSAN_FIELD_U64S) {
        print_words(out, words);
    } else {
        strbuf_printf(out, field->type == SSAN_FIELD_X64 ? "0x%" PRIx64 : "%" PRIu64, wide);
    }
}

void listing_print(struct strbuf *out, const struct ssan_event *event)
{
    const struct ssan_event_info *info = ssan_event_info((uint32_t)event->kind);
    if (!info) {
        return;
    }
    strbuf_puts(out, info->name);
    for (size_t i = 0; i < info->field_count; i++) {
        print_field(out, &info->fields[i], (const char *)event + info->fields[i].offset);
    }
    strbuf_puts(out, "\n");
}
