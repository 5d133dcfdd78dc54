/* Reads sections, symbols and relocations of a cubin, and asks cubin_lines.c for its line table.
 *
 * Invariant: no byte outside the file is looked at, whatever its tables say. Rows are sorted by
 * section and offset; a row holds up to the next one of its section. Cost: one pass over the line
 * table when a cubin is opened, O(log rows) a question and one pass over the symbols. */
#include "symbol/cubin.h"

#include "symbol/cubin_lines.h"
#include "symbol/demangle.h"

#include "base/file.h"
#include "base/mem.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUBIN_MACHINE   190 /* EM_CUDA */
#define CUBIN_BYTES_MAX (UINT64_C(1) << 30)
#define ADDRESS_64      2 /* type of a relocation: the 64 bits of an address */

struct symbol {
    uint32_t section;
    uint64_t begin, end;
    char *name; /* demangled, owned */
};

struct cubin {
    struct cubin_lines lines;
    VEC(struct symbol) symbols; /* functions */
};

/* The file while it is read. */
struct image {
    const unsigned char *bytes;
    size_t size;
    Elf64_Ehdr header;
    Elf64_Shdr names; /* section of section names */
};

static bool lies_inside(const struct image *image, uint64_t offset, uint64_t size)
{
    return offset <= image->size && size <= image->size - offset;
}

static bool section_at(const struct image *image, uint32_t number, Elf64_Shdr *section)
{
    const uint64_t offset = image->header.e_shoff + (uint64_t)number * sizeof *section;
    if (number >= image->header.e_shnum || offset < image->header.e_shoff ||
        !lies_inside(image, offset, sizeof *section)) {
        return false;
    }
    memcpy(section, image->bytes + offset, sizeof *section);
    return section->sh_type == SHT_NOBITS ||
           lies_inside(image, section->sh_offset, section->sh_size);
}

/* The NUL-terminated text at `at` in a section of strings; NULL when it has no end there. */
static const char *text_at(const struct image *image, const Elf64_Shdr *strings, uint64_t at)
{
    const char *text;
    if (strings->sh_type == SHT_NOBITS || at >= strings->sh_size) {
        return NULL;
    }
    text = (const char *)image->bytes + strings->sh_offset + at;
    return memchr(text, '\0', strings->sh_size - at) ? text : NULL;
}

/* Finds a section by name; false when there is none. */
static bool find_section(const struct image *image, const char *name, Elf64_Shdr *section)
{
    for (uint32_t i = 0; i < image->header.e_shnum; i++) {
        const char *text;
        if (section_at(image, i, section) &&
            (text = text_at(image, &image->names, section->sh_name)) && strcmp(text, name) == 0 &&
            section->sh_type != SHT_NOBITS) {
            return true;
        }
    }
    return false;
}

static bool open_image(struct image *image, const void *bytes, size_t size)
{
    image->bytes = bytes;
    image->size = size;
    if (size < sizeof image->header) {
        return false;
    }
    memcpy(&image->header, bytes, sizeof image->header);
    return memcmp(image->header.e_ident, ELFMAG, SELFMAG) == 0 &&
           image->header.e_ident[EI_CLASS] == ELFCLASS64 &&
           image->header.e_ident[EI_DATA] == ELFDATA2LSB &&
           image->header.e_machine == CUBIN_MACHINE &&
           image->header.e_shentsize == sizeof(Elf64_Shdr) &&
           section_at(image, image->header.e_shstrndx, &image->names);
}

static bool symbol_at(const struct image *image, const Elf64_Shdr *table, uint64_t number,
                      Elf64_Sym *symbol)
{
    if (number >= table->sh_size / sizeof *symbol) {
        return false;
    }
    memcpy(symbol, image->bytes + table->sh_offset + number * sizeof *symbol, sizeof *symbol);
    return true;
}

/* "$kernel$function" is a function that stands in the section of a kernel, "function$1" one with a
 * section of its own. The plain name, demangled; NULL when out of memory. */
static char *own_name(const char *name)
{
    const char *last = name[0] == '$' ? strrchr(name, '$') + 1 : name;
    char *plain = mem_strndup(last, strcspn(last, "$"));
    char *text = plain ? demangle(plain) : NULL;
    mem_free(plain);
    return text;
}

static bool add_symbols(struct cubin *cubin, const struct image *image)
{
    Elf64_Shdr table, strings;
    Elf64_Sym symbol;
    if (!find_section(image, ".symtab", &table) || !section_at(image, table.sh_link, &strings)) {
        return true;
    }
    for (uint64_t i = 0; symbol_at(image, &table, i, &symbol); i++) {
        const char *name = text_at(image, &strings, symbol.st_name);
        struct symbol function = {symbol.st_shndx, symbol.st_value,
                                  symbol.st_value + symbol.st_size, NULL};
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !name || function.end <= function.begin) {
            continue;
        }
        function.name = own_name(name);
        if (!function.name || !VEC_PUSH(&cubin->symbols, function)) {
            mem_free(function.name);
            return false;
        }
    }
    return true;
}

/* Tells the line table which functions the addresses in it are of, by one section of relocations
 * of `entry` bytes each. */
static bool add_relocations(struct cubin *cubin, const struct image *image, const char *name,
                            size_t entry)
{
    Elf64_Shdr relocations, table;
    if (!find_section(image, name, &relocations) ||
        !section_at(image, relocations.sh_link, &table) || table.sh_type == SHT_NOBITS) {
        return true;
    }
    for (uint64_t i = 0; i < relocations.sh_size / entry; i++) {
        Elf64_Rela rela = {0};
        Elf64_Sym symbol;
        memcpy(&rela, image->bytes + relocations.sh_offset + i * entry, entry);
        if (ELF64_R_TYPE(rela.r_info) == ADDRESS_64 &&
            symbol_at(image, &table, ELF64_R_SYM(rela.r_info), &symbol) &&
            !cubin_lines_relocate(&cubin->lines, rela.r_offset, symbol.st_shndx,
                                  symbol.st_value + (uint64_t)rela.r_addend)) {
            return false;
        }
    }
    return true;
}

struct cubin *cubin_read(const void *bytes, size_t size)
{
    struct image image = {0};
    Elf64_Shdr lines;
    struct cubin *cubin;
    bool good;
    if (!open_image(&image, bytes, size)) {
        return NULL;
    }
    cubin = mem_zalloc(1, sizeof *cubin);
    if (!cubin) {
        return NULL;
    }
    good = add_symbols(cubin, &image) &&
           add_relocations(cubin, &image, ".rela.debug_line", sizeof(Elf64_Rela)) &&
           add_relocations(cubin, &image, ".rel.debug_line", sizeof(Elf64_Rel));
    if (good && find_section(&image, ".debug_line", &lines)) {
        good = cubin_lines_read(&cubin->lines, image.bytes + lines.sh_offset, lines.sh_size);
    }
    if (!good) {
        cubin_close(cubin);
        return NULL;
    }
    return cubin;
}

struct cubin *cubin_open(const char *path)
{
    unsigned char begin[sizeof(Elf64_Ehdr)];
    struct strbuf text = {0};
    struct cubin *cubin = NULL;
    FILE *file = fopen(path, "re");
    Elf64_Ehdr header;
    bool is_cubin = file && fread(begin, sizeof begin, 1, file) == 1;
    if (file) {
        fclose(file);
    }
    if (is_cubin) {
        memcpy(&header, begin, sizeof header);
        is_cubin = header.e_machine == CUBIN_MACHINE;
    }
    if (is_cubin && file_read(&text, path, CUBIN_BYTES_MAX, NULL) == SSAN_OK) {
        cubin = cubin_read(strbuf_text(&text), text.length);
    }
    strbuf_finish(&text);
    return cubin;
}

bool cubin_resolve(const struct cubin *cubin, uint32_t section, uint64_t offset,
                   struct arena *arena, struct object_frame *frame)
{
    const struct symbol *inner = NULL;
    memset(frame, 0, sizeof *frame);
    for (size_t i = 0; i < cubin->symbols.count; i++) {
        const struct symbol *symbol = &cubin->symbols.items[i];
        if (symbol->section == section && symbol->begin <= offset && offset < symbol->end &&
            (!inner || symbol->begin >= inner->begin)) {
            inner = symbol;
        }
    }
    if (inner) {
        frame->function = arena_strdup(arena, inner->name);
    }
    const struct cubin_row *row = cubin_lines_find(&cubin->lines, section, offset);
    if (row) {
        frame->file = cubin_lines_file(&cubin->lines, row, arena);
        frame->line = frame->file ? row->line : 0;
    }
    return frame->file || frame->function;
}

void cubin_close(struct cubin *cubin)
{
    if (!cubin) {
        return;
    }
    for (size_t i = 0; i < cubin->symbols.count; i++) {
        mem_free(cubin->symbols.items[i].name);
    }
    VEC_FREE(&cubin->symbols);
    cubin_lines_finish(&cubin->lines);
    mem_free(cubin);
}
