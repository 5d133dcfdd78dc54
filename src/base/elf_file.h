/* A 64-bit little-endian ELF file in memory, read as such by its sections: cubins, objects of the
 * host. Nothing is trusted: whatever the tables say, no byte outside of the file is looked at, and
 * none need be aligned. Any thread. Source: System V ABI, chapters 4 and 5. */
#ifndef SSAN_BASE_ELF_FILE_H
#define SSAN_BASE_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Valid as long as the bytes; nothing is owned. */
struct elf_file {
    const unsigned char *bytes;
    size_t size;
    Elf64_Ehdr header;
    Elf64_Shdr names; /* of sections */
};

/* False: it is none, or has no table of sections with names. */
bool elf_file_open(struct elf_file *file, const void *bytes, size_t size);
/* Section `number` of [0, header.e_shnum); false where it or its bytes lie outside of the file.
 * Sections without bytes (SHT_NOBITS) are taken as they are. */
bool elf_file_section(const struct elf_file *file, uint32_t number, Elf64_Shdr *section);
/* The first section of this name that has bytes. */
bool elf_file_find(const struct elf_file *file, const char *name, Elf64_Shdr *section);
/* The first section of this type that has bytes. */
bool elf_file_find_type(const struct elf_file *file, uint32_t type, Elf64_Shdr *section);
/* The bytes of a section that elf_file_section gave. */
const unsigned char *elf_file_bytes(const struct elf_file *file, const Elf64_Shdr *section);
/* The NUL-terminated text at `at` in a section of strings; NULL where it has no end there. */
const char *elf_file_text(const struct elf_file *file, const Elf64_Shdr *strings, uint64_t at);
/* The name of a section; "" where it has none. */
const char *elf_file_name(const struct elf_file *file, const Elf64_Shdr *section);
/* Entry `number` of a table of symbols; false behind the last. */
bool elf_file_symbol(const struct elf_file *file, const Elf64_Shdr *table, uint64_t number,
                     Elf64_Sym *symbol);

#endif
