/* Reads sections, symbols and relocations of a cubin, and asks cubin_lines.c for its line table.
 *
 * Invariant: base/elf_file.h looks at no byte outside of the file. Rows are sorted by
 * section and offset; a row holds up to the next one of its section. Cost: one pass over the line
 * table when a cubin is opened, O(log rows) a question and one pass over the symbols. */
#include "symbol/cubin.h"

#include "symbol/cubin_lines.h"
#include "symbol/demangle.h"

#include "base/elf_file.h"
#include "base/file.h"
#include "base/mem.h"

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

static bool add_symbols(struct cubin *cubin, const struct elf_file *file)
{
    Elf64_Shdr table, strings;
    Elf64_Sym symbol;
    if (!elf_file_find(file, ".symtab", &table) ||
        !elf_file_section(file, table.sh_link, &strings)) {
        return true;
    }
    for (uint64_t i = 0; elf_file_symbol(file, &table, i, &symbol); i++) {
        const char *name = elf_file_text(file, &strings, symbol.st_name);
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
static bool add_relocations(struct cubin *cubin, const struct elf_file *file, const char *name,
                            size_t entry)
{
    Elf64_Shdr relocations, table;
    if (!elf_file_find(file, name, &relocations) ||
        !elf_file_section(file, relocations.sh_link, &table)) {
        return true;
    }
    for (uint64_t i = 0; i < relocations.sh_size / entry; i++) {
        Elf64_Rela rela = {0};
        Elf64_Sym symbol;
        memcpy(&rela, elf_file_bytes(file, &relocations) + i * entry, entry);
        if (ELF64_R_TYPE(rela.r_info) == ADDRESS_64 &&
            elf_file_symbol(file, &table, ELF64_R_SYM(rela.r_info), &symbol) &&
            !cubin_lines_relocate(&cubin->lines, rela.r_offset, symbol.st_shndx,
                                  symbol.st_value + (uint64_t)rela.r_addend)) {
            return false;
        }
    }
    return true;
}

struct cubin *cubin_read(const void *bytes, size_t size)
{
    struct elf_file file;
    Elf64_Shdr lines;
    struct cubin *cubin;
    bool good;
    if (!elf_file_open(&file, bytes, size) || file.header.e_machine != CUBIN_MACHINE) {
        return NULL;
    }
    cubin = mem_zalloc(1, sizeof *cubin);
    if (!cubin) {
        return NULL;
    }
    good = add_symbols(cubin, &file) &&
           add_relocations(cubin, &file, ".rela.debug_line", sizeof(Elf64_Rela)) &&
           add_relocations(cubin, &file, ".rel.debug_line", sizeof(Elf64_Rel));
    if (good && elf_file_find(&file, ".debug_line", &lines)) {
        good = cubin_lines_read(&cubin->lines, elf_file_bytes(&file, &lines), lines.sh_size);
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
