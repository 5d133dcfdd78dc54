/* Runs the line programs of a cubin.
 *
 * The naive model is the state machine of DWARF 4, section 6.2.2, with an address that is a place
 * in a section. Opcodes that are not known are skipped by the lengths that the header gives. Reads
 * past the end give zeros and end the unit. Cost: O(bytes), one sort of the rows. */
#include "symbol/cubin_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX (UINT32_C(1) << 26)

/* Bytes being read, and where in the table they stand. */
struct bytes {
    const unsigned char *begin, *at, *end; /* begin: of the table */
    bool over;                             /* something beyond the end was wanted */
};

/* One unit of the table. */
struct unit {
    unsigned version, least, range, opcode_base;
    int line_base;
    unsigned char lengths[256];
    size_t first_file; /* in files: number 1 */
    size_t file_count;
};

struct state {
    struct cubin_target place;
    bool placed; /* by a relocation */
    uint32_t file, line;
};

static uint64_t number(struct bytes *bytes, unsigned size)
{
    uint64_t value = 0;
    if ((size_t)(bytes->end - bytes->at) < size) {
        bytes->over = true;
        bytes->at = bytes->end;
        return 0;
    }
    for (unsigned i = 0; i < size; i++) {
        value |= (uint64_t)bytes->at[i] << (8 * i);
    }
    bytes->at += size;
    return value;
}

/* Seven bits a byte; of a signed number the last byte's upper bit is the sign. */
static uint64_t leb(struct bytes *bytes, bool is_signed)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = number(bytes, 1);
        if (shift < 64) {
            value |= (byte & 0x7f) << shift;
        }
        shift += 7;
    } while (byte & 0x80);
    if (is_signed && shift < 64 && byte & 0x40) {
        value |= ~UINT64_C(0) << shift;
    }
    return value;
}

static uint64_t unsigned_leb(struct bytes *bytes)
{
    return leb(bytes, false);
}

static int64_t signed_leb(struct bytes *bytes)
{
    return (int64_t)leb(bytes, true);
}

/* A NUL-terminated text; "" at the end. */
static const char *text(struct bytes *bytes)
{
    const unsigned char *from = bytes->at;
    const unsigned char *nul = memchr(from, '\0', (size_t)(bytes->end - from));
    if (!nul) {
        bytes->over = true;
        bytes->at = bytes->end;
        return "";
    }
    bytes->at = nul + 1;
    return (const char *)from;
}

bool cubin_lines_relocate(struct cubin_lines *lines, uint64_t at, uint32_t section, uint64_t offset)
{
    const struct cubin_target target = {section, offset};
    return VEC_PUSH(&lines->targets, target) &&
           map_set(&lines->relocated, at, lines->targets.count - 1);
}

static bool add_file(struct cubin_lines *lines, const char *folder, const char *name)
{
    struct cubin_file file = {arena_strdup(&lines->arena, folder),
                              arena_strdup(&lines->arena, name)};
    return file.folder && file.name && VEC_PUSH(&lines->files, file);
}

/* One entry of the file table behind its name. */
static bool read_file(struct cubin_lines *lines, struct bytes *bytes, const char *name,
                      const char *const *folders, size_t folder_count)
{
    const uint64_t folder = unsigned_leb(bytes);
    (void)unsigned_leb(bytes); /* time */
    (void)unsigned_leb(bytes); /* size */
    return add_file(lines, folder >= 1 && folder <= folder_count ? folders[folder - 1] : "", name);
}

/* The tables of folders and files. False when out of memory. */
static bool read_files(struct cubin_lines *lines, struct unit *unit, struct bytes *bytes)
{
    VEC(const char *) folders = {0};
    const char *name;
    bool fine = true;
    while (fine && *(name = text(bytes))) {
        fine = VEC_PUSH(&folders, name);
    }
    unit->first_file = lines->files.count;
    while (fine && *(name = text(bytes))) {
        fine = read_file(lines, bytes, name, folders.items, folders.count);
    }
    unit->file_count = lines->files.count - unit->first_file;
    VEC_FREE(&folders);
    return fine;
}

static bool add_row(struct cubin_lines *lines, const struct unit *unit, const struct state *state,
                    bool ends)
{
    struct cubin_row row = {.offset = state->place.offset,
                            .section = state->place.section,
                            .order = (uint32_t)lines->rows.count};
    if (!state->placed || lines->rows.count >= ROWS_MAX) {
        return true;
    }
    if (!ends && state->file >= 1 && state->file <= unit->file_count) {
        row.file = (uint32_t)(unit->first_file + state->file - 1);
        row.line = state->line;
    }
    return VEC_PUSH(&lines->rows, row);
}

static void reset(struct state *state)
{
    *state = (struct state){.file = 1, .line = 1};
}

static void set_address(struct cubin_lines *lines, const struct bytes *bytes, struct state *state)
{
    const uint64_t *target = map_find(&lines->relocated, (uint64_t)(bytes->at - bytes->begin));
    state->placed = target != NULL;
    if (target) {
        state->place = lines->targets.items[*target];
    }
}

static bool run_extended(struct cubin_lines *lines, struct unit *unit, struct bytes *bytes,
                         struct state *state)
{
    const uint64_t length = unsigned_leb(bytes);
    const unsigned char *next;
    bool fine = true;
    if (length == 0 || length > (size_t)(bytes->end - bytes->at)) {
        bytes->over = true;
        return true;
    }
    next = bytes->at + length;
    switch (number(bytes, 1)) {
    case 1: /* DW_LNE_end_sequence */
        fine = add_row(lines, unit, state, true);
        reset(state);
        break;
    case 2: /* DW_LNE_set_address */
        set_address(lines, bytes, state);
        break;
    default: /* others, NVIDIA's own word on inlined calls among them */
        break;
    }
    bytes->at = next;
    return fine;
}

static bool run_standard(struct cubin_lines *lines, struct unit *unit, struct bytes *bytes,
                         struct state *state, unsigned opcode)
{
    switch (opcode) {
    case 1: /* DW_LNS_copy */
        return add_row(lines, unit, state, false);
    case 2: /* DW_LNS_advance_pc */
        state->place.offset += unsigned_leb(bytes) * unit->least;
        return true;
    case 3: /* DW_LNS_advance_line */
        state->line += (uint32_t)signed_leb(bytes);
        return true;
    case 4: /* DW_LNS_set_file */
        state->file = (uint32_t)unsigned_leb(bytes);
        return true;
    case 8: /* DW_LNS_const_add_pc */
        state->place.offset += (255 - unit->opcode_base) / unit->range * unit->least;
        return true;
    case 9: /* DW_LNS_fixed_advance_pc: its argument is no LEB, whatever the header says */
        state->place.offset += number(bytes, 2);
        return true;
    default:
        for (unsigned i = 0; i < unit->lengths[opcode]; i++) {
            (void)unsigned_leb(bytes);
        }
        return true;
    }
}

static bool run_special(struct cubin_lines *lines, struct unit *unit, struct state *state,
                        unsigned opcode)
{
    const unsigned step = opcode - unit->opcode_base;
    state->place.offset += (uint64_t)(step / unit->range) * unit->least;
    state->line += (uint32_t)(unit->line_base + (int)(step % unit->range));
    return add_row(lines, unit, state, false);
}

static bool run_program(struct cubin_lines *lines, struct unit *unit, struct bytes *bytes)
{
    struct state state;
    bool fine = true;
    reset(&state);
    while (fine && !bytes->over && bytes->at < bytes->end) {
        const unsigned opcode = (unsigned)number(bytes, 1);
        fine = opcode == 0                  ? run_extended(lines, unit, bytes, &state)
               : opcode < unit->opcode_base ? run_standard(lines, unit, bytes, &state, opcode)
                                            : run_special(lines, unit, &state, opcode);
    }
    return fine;
}

/* One unit behind its length, `bytes` ending with it. */
static bool read_unit(struct cubin_lines *lines, struct bytes *bytes, unsigned offset_size)
{
    struct unit unit = {.version = (unsigned)number(bytes, 2)};
    const uint64_t length = number(bytes, offset_size);
    const unsigned char *program = bytes->at;
    if (unit.version < 2 || unit.version > 4 || length > (size_t)(bytes->end - bytes->at)) {
        return true;
    }
    program += length;
    unit.least = (unsigned)number(bytes, 1);
    if (unit.version >= 4) {
        (void)number(bytes, 1); /* operations in an instruction: one */
    }
    (void)number(bytes, 1); /* is_stmt */
    unit.line_base = (signed char)number(bytes, 1);
    unit.range = (unsigned)number(bytes, 1);
    unit.opcode_base = (unsigned)number(bytes, 1);
    for (unsigned i = 1; i < unit.opcode_base; i++) {
        unit.lengths[i] = (unsigned char)number(bytes, 1);
    }
    if (unit.range == 0 || unit.opcode_base == 0 || bytes->over) {
        return true;
    }
    if (!read_files(lines, &unit, bytes)) {
        return false;
    }
    bytes->at = program;
    bytes->over = false;
    return run_program(lines, &unit, bytes);
}

static int compare_rows(const void *a, const void *b)
{
    const struct cubin_row *one = a, *other = b;
    if (one->section != other->section) {
        return one->section < other->section ? -1 : 1;
    }
    if (one->offset != other->offset) {
        return one->offset < other->offset ? -1 : 1;
    }
    if ((one->line == 0) != (other->line == 0)) {
        return one->line == 0 ? -1 : 1; /* what ends here says nothing of what begins here */
    }
    return one->order < other->order ? -1 : one->order > other->order;
}

bool cubin_lines_read(struct cubin_lines *lines, const unsigned char *bytes, size_t size)
{
    struct bytes table = {bytes, bytes, bytes + size, false};
    bool fine = true;
    while (fine && table.at < table.end) {
        unsigned offset_size = 4;
        uint64_t length = number(&table, 4);
        if (length == UINT32_MAX) {
            length = number(&table, 8);
            offset_size = 8;
        }
        if (table.over || length > (size_t)(table.end - table.at)) {
            break;
        }
        struct bytes unit = {bytes, table.at, table.at + length, false};
        fine = read_unit(lines, &unit, offset_size);
        table.at += length;
    }
    if (lines->rows.count > 1) {
        qsort(lines->rows.items, lines->rows.count, sizeof *lines->rows.items, compare_rows);
    }
    return fine;
}

const struct cubin_row *cubin_lines_find(const struct cubin_lines *lines, uint32_t section,
                                         uint64_t offset)
{
    size_t low = 0, high = lines->rows.count;
    while (low < high) { /* the first row behind the place */
        const size_t middle = low + (high - low) / 2;
        const struct cubin_row *row = &lines->rows.items[middle];
        if (row->section < section || (row->section == section && row->offset <= offset)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const struct cubin_row *row = low > 0 ? &lines->rows.items[low - 1] : NULL;
    return row && row->section == section && row->line > 0 ? row : NULL;
}

const char *cubin_lines_file(const struct cubin_lines *lines, const struct cubin_row *row,
                             struct arena *arena)
{
    const struct cubin_file *file = &lines->files.items[row->file];
    const size_t folder = strlen(file->folder), name = strlen(file->name);
    char *path;
    if (file->name[0] == '/' || folder == 0) {
        return arena_strdup(arena, file->name);
    }
    path = arena_alloc(arena, folder + name + 2);
    if (path) {
        snprintf(path, folder + name + 2, "%s/%s", file->folder, file->name);
    }
    return path;
}

void cubin_lines_finish(struct cubin_lines *lines)
{
    VEC_FREE(&lines->targets);
    VEC_FREE(&lines->files);
    VEC_FREE(&lines->rows);
    map_finish(&lines->relocated);
    arena_finish(&lines->arena);
}
