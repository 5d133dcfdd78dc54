/* Line tables, inlined calls and symbols of one ELF file, through libdwfl's offline interface.
 *
 * The file is taken only if its build id is the one that was loaded: lines of a rebuilt program
 * would be wrong lines. Cost: debug info is read lazily, once an object; a look-up is O(log n) in
 * libdw. */
#include "symbol/object.h"

#include "symbol/demangle.h"

#include "base/mem.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct object {
    enum object_state state;
    Dwfl *dwfl;
    Dwfl_Module *module;
    GElf_Addr bias; /* of the symbol table and headers */
};

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

static void build_id_of(Dwfl_Module *module, char *text, size_t room)
{
    const unsigned char *bits = NULL;
    GElf_Addr address;
    int i, length = dwfl_module_build_id(module, &bits, &address);
    text[0] = '\0';
    for (i = 0; i < length && 2 * (size_t)i + 3 <= room; i++) {
        snprintf(text + 2 * i, 3, "%02x", bits[i]);
    }
}

static bool is_same_build(Dwfl_Module *module, const char *build_id)
{
    char text[OBJECT_BUILD_ID_ROOM];
    build_id_of(module, text, sizeof text);
    return strcmp(text, build_id) == 0;
}

void object_read_build_id(const char *path, char *text, size_t room)
{
    struct object *object = object_open(path, "");
    text[0] = '\0';
    if (object && object->module) {
        build_id_of(object->module, text, room);
    }
    object_close(object);
}

struct object *object_open(const char *path, const char *build_id)
{
    struct object *object = mem_zalloc(1, sizeof *object);
    if (!object) {
        return NULL;
    }
    object->state = OBJECT_MISSING;
    object->dwfl = dwfl_begin(&callbacks);
    if (!object->dwfl) {
        return object;
    }
    object->module = dwfl_report_offline(object->dwfl, path, path, -1);
    dwfl_report_end(object->dwfl, NULL, NULL);
    if (!object->module || !dwfl_module_getelf(object->module, &object->bias)) {
        object->module = NULL;
        return object;
    }
    object->state = is_same_build(object->module, build_id) ? OBJECT_GOOD : OBJECT_CHANGED;
    return object;
}

enum object_state object_state(const struct object *object)
{
    return object->state;
}

/* Demangled copy in the arena; NULL when there is none. */
static const char *pretty(struct arena *arena, const char *name)
{
    char *text = name ? demangle(name) : NULL;
    const char *copy = text ? arena_strdup(arena, text) : NULL;
    mem_free(text);
    return copy;
}

static void set_function(struct object_frame *frame, struct arena *arena, const char *name)
{
    frame->function = pretty(arena, name);
    frame->symbol = name ? arena_strdup(arena, name) : NULL;
}

/* Whether columns are of the source: not in a unit that was compiled from what nvcc made of it,
 * where lines are told as they were, but macros are expanded and white space is gone. */
static bool has_own_columns(Dwarf_Die *cu)
{
    const char *name = dwarf_diename(cu);
    return !name || !strstr(name, ".cudafe1.");
}

/* Linkage name of a subprogram or inlined call, else its plain name. */
static const char *die_name(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute)) {
        name = dwarf_formstring(&attribute);
    }
    return name ? name : dwarf_diename(die);
}

/* The file and line an inlined call stands at; false when the debug info does not say. */
static bool call_place(Dwarf_Die *cu, Dwarf_Die *inlined, struct arena *arena,
                       struct object_frame *frame)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0, column = 0;
    Dwarf_Files *files;
    size_t count;
    const char *name;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) != 0 ||
        dwarf_getsrcfiles(cu, &files, &count) != 0) {
        return false;
    }
    name = dwarf_filesrc(files, file, NULL, NULL);
    frame->file = name ? arena_strdup(arena, name) : NULL;
    frame->line = (uint32_t)line;
    if (has_own_columns(cu) &&
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_column, &attribute), &column) == 0) {
        frame->column = (uint32_t)column;
    }
    return frame->file != NULL;
}

/* Names the functions around `address` and adds the places of inlined calls; frames[0] has file and
 * line already. */
static size_t add_scopes(Dwarf_Die *cu, Dwarf_Addr address, struct arena *arena,
                         struct object_frame frames[OBJECT_MAX_INLINED])
{
    Dwarf_Die *inner = NULL, *scopes = NULL;
    int count = dwarf_getscopes(cu, address, &inner), i;
    size_t used = 1;
    if (count > 0) {
        count = dwarf_getscopes_die(&inner[0], &scopes);
    }
    for (i = 0; i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_subprogram) {
            set_function(&frames[used - 1], arena, die_name(&scopes[i]));
            break;
        }
        if (tag == DW_TAG_inlined_subroutine) {
            set_function(&frames[used - 1], arena, die_name(&scopes[i]));
            if (used == OBJECT_MAX_INLINED || !call_place(cu, &scopes[i], arena, &frames[used])) {
                break;
            }
            used++;
        }
    }
    free(scopes);
    free(inner);
    return used;
}

/* "name+0x12" from the symbol table; NULL when there is no symbol. */
static const char *symbol_name(struct object *object, GElf_Addr address, bool with_offset,
                               struct arena *arena)
{
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char *name =
        dwfl_module_addrinfo(object->module, address, &offset, &symbol, NULL, NULL, NULL);
    char *plain = name ? demangle(name) : NULL;
    char text[512];
    const char *copy;
    if (!plain) {
        return NULL;
    }
    if (with_offset) {
        snprintf(text, sizeof text, "%.480s+0x%" PRIx64, plain, (uint64_t)offset);
    } else {
        snprintf(text, sizeof text, "%.510s", plain);
    }
    copy = arena_strdup(arena, text);
    mem_free(plain);
    return copy;
}

/* The unit that holds `address`, or NULL. The index of addresses (.debug_aranges) is asked first;
 * what it answers is checked, and units that their compiler left out of it, as clang does, are
 * asked one by one. */
static Dwarf_Die *unit_of(struct object *object, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(object->module, address, bias);
    if (unit && dwarf_haspc(unit, address - *bias) == 1) {
        return unit;
    }
    unit = NULL;
    while ((unit = dwfl_module_nextcu(object->module, unit, bias)) &&
           dwarf_haspc(unit, address - *bias) != 1) {
    }
    return unit;
}

size_t object_resolve(struct object *object, uint64_t address, struct arena *arena,
                      struct object_frame frames[OBJECT_MAX_INLINED])
{
    GElf_Addr at = address + object->bias;
    Dwarf_Addr bias = 0;
    Dwarf_Die *cu;
    Dwarf_Line *line;
    const char *file = NULL, *name;
    int number = 0, column = 0;
    GElf_Off offset;
    GElf_Sym symbol;
    size_t count;
    if (object->state != OBJECT_GOOD) {
        return 0;
    }
    memset(frames, 0, OBJECT_MAX_INLINED * sizeof *frames);
    cu = unit_of(object, at, &bias);
    line = cu ? dwarf_getsrc_die(cu, at - bias) : NULL;
    if (line && dwarf_lineno(line, &number) == 0) {
        file = dwarf_linesrc(line, NULL, NULL);
    }
    if (!file || number <= 0) {
        frames[0].function = symbol_name(object, at, true, arena);
        return frames[0].function ? 1 : 0;
    }
    frames[0].file = arena_strdup(arena, file);
    frames[0].line = (uint32_t)number;
    if (has_own_columns(cu) && dwarf_linecol(line, &column) == 0 && column > 0) {
        frames[0].column = (uint32_t)column;
    }
    count = add_scopes(cu, at - bias, arena, frames);
    if (!frames[count - 1].function) {
        frames[count - 1].function = symbol_name(object, at, false, arena);
    }
    name = dwfl_module_addrinfo(object->module, at, &offset, &symbol, NULL, NULL, NULL);
    if (name) { /* a function of internal linkage has no other in its debug information */
        frames[count - 1].symbol = arena_strdup(arena, name);
    }
    return count;
}

/* Whether `path` is `file`, or ends in it at a folder's border. */
static bool path_ends_in(const char *path, const char *file)
{
    size_t length = strlen(path), tail;
    while (strncmp(file, "./", 2) == 0) {
        file += 2;
    }
    tail = strlen(file);
    return length >= tail && strcmp(path + length - tail, file) == 0 &&
           (length == tail || path[length - tail - 1] == '/');
}

struct line_search {
    const char *file;
    uint32_t line;
    void (*give)(void *self, uint64_t begin, uint64_t end);
    void *self;
    uint32_t *nearest;
    size_t found;
    uint64_t bias;
};

/* Whether `number` stands for `line` better than `best` (0: none yet): the first line at or behind
 * it, else the last one before it. */
static bool is_nearer(uint32_t number, uint32_t best, uint32_t line)
{
    if (best == 0) {
        return true;
    }
    return number >= line ? best < line || number < best : best < line && number > best;
}

static void search_unit(struct line_search *search, Dwarf_Die *unit)
{
    Dwarf_Lines *lines;
    size_t count, i;
    if (dwarf_getsrclines(unit, &lines, &count) != 0) {
        return;
    }
    for (i = 0; i + 1 < count; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i), *next = dwarf_onesrcline(lines, i + 1);
        Dwarf_Addr begin, end;
        bool ends = false;
        int number = 0;
        const char *path = dwarf_linesrc(line, NULL, NULL);
        if (!path || dwarf_lineno(line, &number) != 0 || dwarf_lineendsequence(line, &ends) != 0 ||
            ends || number <= 0 || !path_ends_in(path, search->file)) {
            continue;
        }
        if (is_nearer((uint32_t)number, *search->nearest, search->line)) {
            *search->nearest = (uint32_t)number;
        }
        if ((uint32_t)number == search->line && dwarf_lineaddr(line, &begin) == 0 &&
            dwarf_lineaddr(next, &end) == 0 && begin < end) {
            search->give(search->self, begin + search->bias, end + search->bias);
            search->found++;
        }
    }
}

size_t object_find_line(struct object *object, const char *file, uint32_t line,
                        void (*give)(void *self, uint64_t begin, uint64_t end), void *self,
                        uint32_t *nearest)
{
    struct line_search search = {file, line, give, self, nearest, 0, 0};
    Dwarf_Die *unit = NULL;
    Dwarf_Addr bias = 0;
    *nearest = 0;
    if (object->state != OBJECT_GOOD) {
        return 0;
    }
    while ((unit = dwfl_module_nextcu(object->module, unit, &bias))) {
        search.bias = bias - object->bias; /* addresses as in the file */
        search_unit(&search, unit);
    }
    return search.found;
}

const char *object_library(void)
{
    static char text[64];
    snprintf(text, sizeof text, "elfutils %s", dwfl_version(NULL));
    return text;
}

void object_close(struct object *object)
{
    if (object) {
        if (object->dwfl) {
            dwfl_end(object->dwfl);
        }
        mem_free(object);
    }
}
