/* One object file on the disk: offsets to lines and functions, by libdw. Not thread-safe. */
#ifndef SSAN_SYMBOL_OBJECT_H
#define SSAN_SYMBOL_OBJECT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object;

enum object_state {
    OBJECT_GOOD,
    OBJECT_MISSING, /* the file can't be opened or is no ELF file */
    OBJECT_CHANGED, /* its build id is not the one that was loaded */
};

/* A place in the code; strings live in the arena given to object_resolve. */
struct object_frame {
    const char *file; /* NULL: no debug info; then function is "name+0x12", or NULL */
    const char *function;
    const char *symbol; /* the function's name as the linker knows it, where lines are known */
    uint32_t line;
    uint32_t column; /* in bytes, of the call or of the macro that makes it; 0: unknown */
};

#define OBJECT_MAX_INLINED 16

#define OBJECT_BUILD_ID_ROOM 129 /* 64 bytes in hexadecimal */

/* The build id of the ELF file at `path` in hexadecimal, "" when it has none. */
void object_read_build_id(const char *path, char *text, size_t room);
/* Opens the object at `path`; `build_id` in hexadecimal, "" when unknown. NULL when out of memory;
 * never fails otherwise: see object_state. */
struct object *object_open(const char *path, const char *build_id);
enum object_state object_state(const struct object *object);

/* Frames of the virtual address `address` of the file (as its program headers have it), innermost
 * first, inlined ones included. Returns how many were set: 0 when nothing is known about the
 * address. */
size_t object_resolve(struct object *object, uint64_t address, struct arena *arena,
                      struct object_frame frames[OBJECT_MAX_INLINED]);
/* Calls give(self, begin, end) for each range of virtual addresses whose code is of `line` of
 * `file`; a relative file matches the end of a path. Returns how many there were; *nearest: the
 * next line of that file with code, else the last one; 0 when there is no such file. */
size_t object_find_line(struct object *object, const char *file, uint32_t line,
                        void (*give)(void *self, uint64_t begin, uint64_t end), void *self,
                        uint32_t *nearest);
/* "elfutils 0.188" */
const char *object_library(void);
void object_close(struct object *object);

#endif
