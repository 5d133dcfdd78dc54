/* Text building on one heap block that doubles. */
#include "base/strbuf.h"

#include "base/arena.h"
#include "base/columns.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

static bool make_room(struct strbuf *buf, size_t more)
{
    size_t wanted = buf->room ? buf->room : 64;
    while (wanted < buf->length + more + 1) {
        wanted *= 2;
    }
    if (wanted != buf->room) {
        char *moved = mem_resize(buf->text, wanted, 1);
        if (!moved) {
            buf->failed = true;
            return false;
        }
        buf->text = moved;
        buf->room = wanted;
    }
    return true;
}

void strbuf_add(struct strbuf *buf, const char *bytes, size_t length)
{
    if (make_room(buf, length)) {
        if (length > 0) { /* of an empty buffer there is no text */
            memcpy(buf->text + buf->length, bytes, length);
        }
        buf->length += length;
        buf->text[buf->length] = '\0';
    }
}

void strbuf_puts(struct strbuf *buf, const char *text)
{
    strbuf_add(buf, text, strlen(text));
}

void strbuf_vprintf(struct strbuf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length >= 0 && make_room(buf, (size_t)length)) {
        vsnprintf(buf->text + buf->length, (size_t)length + 1, format, again);
        buf->length += (size_t)length;
    }
    va_end(again);
}

void strbuf_printf(struct strbuf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_vprintf(buf, format, args);
    va_end(args);
}

void strbuf_add_printable(struct strbuf *buf, const char *bytes, size_t length, size_t most)
{
    for (size_t i = 0; i < length && i < most; i++) {
        unsigned char c = (unsigned char)bytes[i];
        strbuf_add(buf, c < ' ' || c == 0x7f ? "?" : &bytes[i], 1);
    }
    strbuf_puts(buf, length > most ? "..." : "");
}

void strbuf_pad_to(struct strbuf *buf, size_t column)
{
    size_t start = buf->length;
    while (start > 0 && buf->text[start - 1] != '\n') {
        start--;
    }
    size_t at = buf->text ? columns_of(buf->text + start, buf->length - start) : 0;
    for (; at < column && !buf->failed; at++) {
        strbuf_add(buf, " ", 1);
    }
}

const char *strbuf_text(const struct strbuf *buf)
{
    return buf->text ? buf->text : "";
}

char *strbuf_take(struct strbuf *buf)
{
    char *text = NULL;
    if (make_room(buf, 0) && !buf->failed) {
        buf->text[buf->length] = '\0';
        text = buf->text;
        buf->text = NULL;
    }
    strbuf_finish(buf);
    return text;
}

char *strbuf_keep(struct strbuf *buf, struct arena *arena)
{
    char *text = buf->failed ? NULL : arena_strndup(arena, strbuf_text(buf), buf->length);
    strbuf_finish(buf);
    return text;
}

void strbuf_clear(struct strbuf *buf)
{
    buf->length = 0;
    if (buf->text) {
        buf->text[0] = '\0';
    }
}

void strbuf_finish(struct strbuf *buf)
{
    mem_free(buf->text);
    *buf = (struct strbuf){0};
}
