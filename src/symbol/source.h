/* Statements of source files, read from the disk and joined to one line. Not thread-safe. */
#ifndef SSAN_SYMBOL_SOURCE_H
#define SSAN_SYMBOL_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct source_cache;

#define SOURCE_MAX_LINES 8
#define SOURCE_MAX_BYTES 400

struct source_cache *source_create(void); /* NULL when out of memory */

/* The statement that begins on `line` (from 1) of the file: comments out, spaces joined, to the `;`
 * that closes it, at most SOURCE_MAX_LINES lines and SOURCE_MAX_BYTES bytes. Of several statements
 * on the line the one that the byte `column` (from 1) is in; 0: unknown, then the whole line. NULL
 * when the file or line is not there. Valid until destroy. */
const char *source_statement(struct source_cache *cache, const char *path, uint32_t line,
                             uint32_t column);

/* The text of the file, `*length` bytes; NULL when it can't be read. Valid until destroy. */
const char *source_text(struct source_cache *cache, const char *path, size_t *length);

/* source_statement on a text in memory: into `out` of SOURCE_MAX_BYTES + 1; returns its length. */
size_t source_join(const char *text, size_t length, uint32_t line, uint32_t column, char *out);

void source_destroy(struct source_cache *cache);

#endif
