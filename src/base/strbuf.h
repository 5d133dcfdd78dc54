/* Text that grows. Zeroed is empty; after a failed append `failed` stays true and the text is kept
 * as it was, so that callers check once at the end. Not thread-safe. */
#ifndef SSAN_BASE_STRBUF_H
#define SSAN_BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena;

struct strbuf {
    char *text; /* NUL-terminated once anything was added; NULL before */
    size_t length, room;
    bool failed; /* an append ran out of memory */
};

void strbuf_add(struct strbuf *buf, const char *bytes, size_t length);
void strbuf_puts(struct strbuf *buf, const char *text);
void strbuf_printf(struct strbuf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void strbuf_vprintf(struct strbuf *buf, const char *format, va_list args);
/* At most `most` bytes, what does not print as '?', and "..." for the rest. */
void strbuf_add_printable(struct strbuf *buf, const char *bytes, size_t length, size_t most);
/* Spaces until the current line has `column` columns (base/columns.h). */
void strbuf_pad_to(struct strbuf *buf, size_t column);
/* The text, "" when empty; valid until the next change. */
const char *strbuf_text(const struct strbuf *buf);
/* Hands the text over to the caller (mem_free) and empties the buffer; NULL when an append failed.
 */
char *strbuf_take(struct strbuf *buf);
/* The same, with the text in an arena. */
char *strbuf_keep(struct strbuf *buf, struct arena *arena);
void strbuf_clear(struct strbuf *buf);
void strbuf_finish(struct strbuf *buf);

#endif
