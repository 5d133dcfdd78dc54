/* Resolves the host stacks of one trace: modules and frames in, files, lines, functions and source
 * text out.
 *
 * Modules are opened when their first frame is asked for. Not thread-safe. */
#ifndef SSAN_SYMBOL_SYMBOLS_H
#define SSAN_SYMBOL_SYMBOLS_H

#include "base/strbuf.h"
#include "trace/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;

/* A resolved frame; strings are valid until symbols_destroy. */
struct symbol_frame {
    const char *file;     /* relative to `directory` when below it; NULL: unknown */
    const char *function; /* without debug info "name+0x12", else "object+0x1234"; or NULL */
    const char *text;     /* the statement on that line; NULL: unknown */
    const char *path;     /* of the file on this machine; NULL: unknown */
    const char *symbol;   /* the function's name as the linker knows it; NULL: unknown */
    uint32_t line;
    enum ssan_language language;
};

/* `directory`: where paths are shortened against and relative ones are read from, usually the
 * current one. NULL when out of memory. */
struct symbols *symbols_create(const char *directory);

/* Makes the module `id` known; the later of two wins. False when out of memory. */
bool symbols_add_module(struct symbols *symbols, uint32_t id, const char *path,
                        const char *build_id);

/* The frames of one return address (module << 48 | offset; of device code: see below), innermost
 * first, inlined calls included; the call itself is at the byte before. Returns how many there are;
 * `frames` holds `room` at least 16. An unknown module gives none. */
size_t symbols_resolve(struct symbols *symbols, uint64_t frame, struct symbol_frame *frames,
                       size_t room);

/* Puts the members that `frame` may initialise by a call of `callee` in the place of its text,
 * where that is the head of a constructor (members.h). */
void symbols_find_members(struct symbols *symbols, struct symbol_frame *frame, const char *callee);

/* Whether the frame is one of device code: module << 48 | section << 32 | offset in it, of the
 * instruction itself. It has one frame at most. */
bool symbols_is_device(struct symbols *symbols, uint64_t frame);

/* The part of a path behind `directory`, or the path. */
const char *symbols_shorten(const struct symbols *symbols, const char *path, size_t length,
                            size_t *left);

/* Appends what went wrong with modules ("prog has changed since the run: no lines"), one a line;
 * nothing when all is well. Only modules that frames were asked of. */
void symbols_explain(const struct symbols *symbols, struct strbuf *out);

/* Name and version of the library that reads debug info. */
const char *symbols_library(void);

void symbols_destroy(struct symbols *symbols);

#endif
