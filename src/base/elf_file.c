/* Headers are copied out before they are looked at; every range is checked once, where a section is
 * handed out. */
#include "base/elf_file.h"

#include <string.h>

static bool lies_inside(const struct elf_file *file, uint64_t offset, uint64_t size)
{
    return offset <= file->size && size <= file->size - offset;
}

bool elf_file_open(struct elf_file *file, const void *bytes, size_t size)
{
    memset(file, 0, sizeof *file);
    file->bytes = bytes;
    file->size = size;
    if (size < sizeof file->header) {
        return false;
    }
    memcpy(&file->header, bytes, sizeof file->header);
    return memcmp(file->header.e_ident, ELFMAG, SELFMAG) == 0 &&
           file->header.e_ident[EI_CLASS] == ELFCLASS64 &&
           file->header.e_ident[EI_DATA] == ELFDATA2LSB &&
           file->header.e_shentsize == sizeof(Elf64_Shdr) &&
           elf_file_section(file, file->header.e_shstrndx, &file->names);
}

bool elf_file_section(const struct elf_file *file, uint32_t number, Elf64_Shdr *section)
{
    const uint64_t offset = file->header.e_shoff + (uint64_t)number * sizeof *section;
    if (number >= file->header.e_shnum || offset < file->header.e_shoff ||
        !lies_inside(file, offset, sizeof *section)) {
        return false;
    }
    memcpy(section, file->bytes + offset, sizeof *section);
    return section->sh_type == SHT_NOBITS ||
           lies_inside(file, section->sh_offset, section->sh_size);
}

bool elf_file_find(const struct elf_file *file, const char *name, Elf64_Shdr *section)
{
    for (uint32_t i = 0; i < file->header.e_shnum; i++) {
        if (elf_file_section(file, i, section) && section->sh_type != SHT_NOBITS &&
            strcmp(elf_file_name(file, section), name) == 0) {
            return true;
        }
    }
    return false;
}

bool elf_file_find_type(const struct elf_file *file, uint32_t type, Elf64_Shdr *section)
{
    for (uint32_t i = 0; i < file->header.e_shnum; i++) {
        if (elf_file_section(file, i, section) && section->sh_type == type && type != SHT_NOBITS) {
            return true;
        }
    }
    return false;
}

const unsigned char *elf_file_bytes(const struct elf_file *file, const Elf64_Shdr *section)
{
    return file->bytes + section->sh_offset;
}

const char *elf_file_text(const struct elf_file *file, const Elf64_Shdr *strings, uint64_t at)
{
    const char *text;
    if (strings->sh_type == SHT_NOBITS || at >= strings->sh_size) {
        return NULL;
    }
    text = (const char *)elf_file_bytes(file, strings) + at;
    return memchr(text, '\0', strings->sh_size - at) ? text : NULL;
}

const char *elf_file_name(const struct elf_file *file, const Elf64_Shdr *section)
{
    const char *name = elf_file_text(file, &file->names, section->sh_name);
    return name ? name : "";
}

bool elf_file_symbol(const struct elf_file *file, const Elf64_Shdr *table, uint64_t number,
                     Elf64_Sym *symbol)
{
    if (table->sh_type == SHT_NOBITS || number >= table->sh_size / sizeof *symbol) {
        return false;
    }
    memcpy(symbol, elf_file_bytes(file, table) + number * sizeof *symbol, sizeof *symbol);
    return true;
}
