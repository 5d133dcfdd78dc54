/* See cubin_file.h. */
#include "support/cubin_file.h"

#include <string.h>

static unsigned add_section(struct cubin_file *file, const char *name, uint32_t type,
                            const void *bytes, size_t size)
{
    Elf64_Shdr *section = &file->sections[file->count];
    file->size = (file->size + 7) & ~(size_t)7;
    *section = (Elf64_Shdr){.sh_name = (uint32_t)file->names_size,
                            .sh_type = type,
                            .sh_offset = file->size,
                            .sh_size = size};
    memcpy(file->names + file->names_size, name, strlen(name) + 1);
    file->names_size += strlen(name) + 1;
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
    return file->count++;
}

void cubin_file_make(struct cubin_file *file, const uint64_t kernel[8], const uint64_t function[8],
                     const char *last)
{
    memset(file, 0, sizeof *file);
    file->size = sizeof(Elf64_Ehdr);
    add_section(file, "", SHT_NULL, "", 0);
    unsigned k = add_section(file, ".text.k", SHT_PROGBITS, kernel, 64);
    unsigned f = add_section(file, ".text.f", SHT_PROGBITS, function, 64);
    Elf64_Sym symbols[3] = {
        {0},
        {.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_other = 0x10, .st_shndx = (uint16_t)k},
        {.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC), .st_shndx = (uint16_t)f}};
    add_section(file, ".symtab", SHT_SYMTAB, symbols, sizeof symbols);
    add_section(file, last, SHT_PROGBITS, "", 0);
    char names[256];
    memcpy(names, file->names, sizeof names);
    unsigned strings = add_section(file, ".shstrtab", SHT_STRTAB, names, sizeof names);
    memcpy(file->bytes + file->sections[strings].sh_offset, file->names, sizeof file->names);
    file->size = (file->size + 7) & ~(size_t)7;
    Elf64_Ehdr header = {.e_shoff = file->size,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = (uint16_t)file->count,
                         .e_shstrndx = (uint16_t)strings};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    memcpy(file->bytes, &header, sizeof header);
    memcpy(file->bytes + file->size, file->sections, file->count * sizeof(Elf64_Shdr));
    file->size += file->count * sizeof(Elf64_Shdr);
}
