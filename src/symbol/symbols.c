/* The modules of a trace and their objects; paths shortened, statements looked up, answers kept.
 *
 * A frame is asked for once a site but stacks share frames, so answers are cached by frame. Cost:
 * one map look-up, then libdw's on a miss. */
#include "symbol/symbols.h"

#include "symbol/cubin.h"
#include "symbol/members.h"
#include "symbol/object.h"
#include "symbol/source.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "trace/own_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MODULE_SHIFT  48
#define SECTION_SHIFT 32 /* in frames of device code */
#define DEVICE_MASK   ((UINT64_C(1) << SECTION_SHIFT) - 1)
#define OFFSET_MASK   ((UINT64_C(1) << MODULE_SHIFT) - 1)

struct module {
    uint32_t id;
    char *path, *build_id;
    struct cubin *cubin;   /* device code; opened at the first frame, so is `object` */
    struct object *object; /* code of the host */
};

struct answer {
    struct symbol_frame *frames;
    size_t count;
};

struct symbols {
    struct arena arena;
    char *directory;
    size_t directory_length;
    struct source_cache *sources;
    VEC(struct module) modules;
    struct map members; /* hash of a constructor and what it calls -> text, 0: none */
    struct map known;   /* frame -> index into answers */
    VEC(struct answer) answers;
};

struct symbols *symbols_create(const char *directory)
{
    struct symbols *symbols = mem_zalloc(1, sizeof *symbols);
    if (!symbols) {
        return NULL;
    }
    symbols->sources = source_create();
    symbols->directory = mem_strdup(directory);
    if (!symbols->sources || !symbols->directory) {
        symbols_destroy(symbols);
        return NULL;
    }
    symbols->directory_length = strlen(directory);
    return symbols;
}

static void finish_module(struct module *module)
{
    cubin_close(module->cubin);
    object_close(module->object);
    mem_free(module->path);
    mem_free(module->build_id);
}

static struct module *find_module(struct symbols *symbols, uint32_t id)
{
    size_t i = symbols->modules.count;
    while (i-- > 0) {
        if (symbols->modules.items[i].id == id) {
            return &symbols->modules.items[i];
        }
    }
    return NULL;
}

bool symbols_add_module(struct symbols *symbols, uint32_t id, const char *path,
                        const char *build_id)
{
    struct module module = {.id = id, .path = mem_strdup(path), .build_id = mem_strdup(build_id)};
    if (!module.path || !module.build_id || !VEC_PUSH(&symbols->modules, module)) {
        finish_module(&module);
        return false;
    }
    return true;
}

const char *symbols_shorten(const struct symbols *symbols, const char *path, size_t length,
                            size_t *left)
{
    size_t skip = symbols->directory_length;
    if (skip > 0 && length > skip && memcmp(path, symbols->directory, skip) == 0) {
        if (path[skip] == '/') {
            skip++;
        } else if (symbols->directory[skip - 1] != '/') {
            skip = 0;
        }
    } else {
        skip = 0;
    }
    *left = length - skip;
    return path + skip;
}

/* "./a.cu" and "a/./b.cu" as "a.cu" and "a/b.cu", in place. */
static void drop_dots(char *path)
{
    char *from = path, *to = path;
    while (*from) {
        if ((from == path || from[-1] == '/') && from[0] == '.' && from[1] == '/') {
            from += 2;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

static void fill(struct symbols *symbols, struct symbol_frame *frame,
                 const struct object_frame *from)
{
    size_t length;
    frame->function = from->function;
    frame->symbol = from->symbol;
    frame->line = from->line;
    if (from->file) {
        char *clean = arena_strdup(&symbols->arena, from->file);
        if (clean) {
            drop_dots(clean);
            frame->path = clean;
            frame->text = source_statement(symbols->sources, clean, from->line, from->column);
            frame->file = symbols_shorten(symbols, clean, strlen(clean), &length);
        }
    }
}

/* "prog+0x1234", for an object that tells nothing. NULL when out of memory. */
static const char *bare_name(struct symbols *symbols, const struct module *module, uint64_t offset)
{
    const char *slash = strrchr(module->path, '/');
    char text[320];
    snprintf(text, sizeof text, "%.280s+0x%" PRIx64, slash ? slash + 1 : module->path, offset);
    return arena_strdup(&symbols->arena, text);
}

/* False when out of memory. */
static bool open_module(struct module *module)
{
    if (!module->object && !module->cubin) {
        module->cubin = cubin_open(module->path);
        module->object = module->cubin ? NULL : object_open(module->path, module->build_id);
    }
    return module->object || module->cubin;
}

bool symbols_is_device(struct symbols *symbols, uint64_t frame)
{
    struct module *module = find_module(symbols, (uint32_t)(frame >> MODULE_SHIFT));
    return module && open_module(module) && module->cubin;
}

/* An installed library may have debug information, but its lines are no place of the user's, and
 * the paths in it are those of the machine that built it. */
static void hide_lines(struct object_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        frames[i].file = NULL;
        frames[i].line = frames[i].column = 0;
    }
}

/* Resolves a frame that is not known yet; false when out of memory. */
static bool look_up(struct symbols *symbols, uint64_t frame, struct answer *answer)
{
    struct module *module = find_module(symbols, (uint32_t)(frame >> MODULE_SHIFT));
    struct object_frame found[OBJECT_MAX_INLINED];
    uint64_t offset = frame & OFFSET_MASK;
    size_t i;
    answer->count = 0;
    if (!module || offset == 0) {
        return true;
    }
    if (!open_module(module)) {
        return false;
    }
    if (module->cubin) {
        answer->count = cubin_resolve(module->cubin, (uint32_t)(offset >> SECTION_SHIFT),
                                      offset & DEVICE_MASK, &symbols->arena, &found[0]);
    } else {
        answer->count = object_resolve(module->object, offset - 1, &symbols->arena, found);
    }
    if (answer->count == 0 && !module->cubin) {
        found[0] = (struct object_frame){.function = bare_name(symbols, module, offset - 1)};
        answer->count = found[0].function ? 1 : 0;
    }
    answer->frames = arena_alloc(&symbols->arena, (answer->count + 1) * sizeof *answer->frames);
    if (!answer->frames) {
        return false;
    }
    if (!module->cubin && is_library_file(module->path, strlen(module->path))) {
        hide_lines(found, answer->count);
    }
    for (i = 0; i < answer->count; i++) {
        fill(symbols, &answer->frames[i], &found[i]);
    }
    return true;
}

size_t symbols_resolve(struct symbols *symbols, uint64_t frame, struct symbol_frame *frames,
                       size_t room)
{
    const uint64_t *known = map_find(&symbols->known, frame);
    struct answer answer = {0};
    size_t i;
    if (known) {
        answer = symbols->answers.items[*known];
    } else {
        if (!look_up(symbols, frame, &answer)) {
            return 0;
        }
        if (VEC_PUSH(&symbols->answers, answer)) {
            map_set(&symbols->known, frame, symbols->answers.count - 1);
        }
    }
    for (i = 0; i < answer.count && i < room; i++) {
        frames[i] = answer.frames[i];
    }
    return i;
}

/* NULL: none, or out of memory. */
static const char *read_members(struct symbols *symbols, const struct symbol_frame *frame,
                                const char *callee)
{
    char members[SOURCE_MAX_BYTES + 1];
    size_t length;
    const char *source = source_text(symbols->sources, frame->path, &length);
    return source && members_find(source, length, frame->function, callee, members, sizeof members)
               ? arena_strdup(&symbols->arena, members)
               : NULL;
}

void symbols_find_members(struct symbols *symbols, struct symbol_frame *frame, const char *callee)
{
    if (!frame->path || !frame->text || !frame->function ||
        !members_are_meant(frame->function, frame->text, callee)) {
        return;
    }
    uint64_t key = hash_bytes(0, frame->path, strlen(frame->path));
    key = hash_bytes(key, frame->function, strlen(frame->function));
    key = hash_bytes(key, callee, strlen(callee));
    const uint64_t *known = map_find(&symbols->members, key);
    const char *text =
        known ? (const char *)(uintptr_t)*known : read_members(symbols, frame, callee);
    if (!known) {
        map_set(&symbols->members, key, (uint64_t)(uintptr_t)text);
    }
    frame->text = text ? text : frame->text;
}

void symbols_explain(const struct symbols *symbols, struct strbuf *out)
{
    size_t i;
    for (i = 0; i < symbols->modules.count; i++) {
        const struct module *module = &symbols->modules.items[i];
        enum object_state state = module->object ? object_state(module->object) : OBJECT_GOOD;
        if (state == OBJECT_CHANGED) {
            strbuf_printf(out, "%s has changed since it was loaded: its lines are not known\n",
                          module->path);
        } else if (state == OBJECT_MISSING) {
            strbuf_printf(out, "%s can't be read: its lines are not known\n", module->path);
        }
    }
}

const char *symbols_library(void)
{
    return object_library();
}

void symbols_destroy(struct symbols *symbols)
{
    size_t i;
    if (!symbols) {
        return;
    }
    for (i = 0; i < symbols->modules.count; i++) {
        finish_module(&symbols->modules.items[i]);
    }
    VEC_FREE(&symbols->modules);
    VEC_FREE(&symbols->answers);
    map_finish(&symbols->members);
    map_finish(&symbols->known);
    source_destroy(symbols->sources);
    mem_free(symbols->directory);
    arena_finish(&symbols->arena);
    mem_free(symbols);
}
