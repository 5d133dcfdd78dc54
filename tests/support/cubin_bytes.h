/* A small cubin, made by hand: two functions in sections 1 and 2, a third inside section 2, and a
 * line table of two sequences. For tests and as a seed of the fuzzer. */
#ifndef SSAN_TESTS_SUPPORT_CUBIN_BYTES_H
#define SSAN_TESTS_SUPPORT_CUBIN_BYTES_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CUBIN_ROOM 4096

enum {
    SECTION_NONE,
    SECTION_ADD,
    SECTION_SCALE,
    SECTION_SYMBOLS,
    SECTION_STRINGS,
    SECTION_NAMES,
    SECTION_LINES,
    SECTION_RELA,
    SECTION_COUNT
};

/* The line program of a.cu in folder src: opcode base 10, line base -5, range 14. */
static inline size_t cubin_line_table(unsigned char *out, size_t places[2])
{
    static const unsigned char header[] = {
        2,   0,                              /* version */
        0,   0,   0,    0,                   /* length of the header, set below */
        1,   1,   0xfb, 14,  10,             /* least, is_stmt, base -5, range, opcode base */
        0,   1,   1,    1,   1,  0, 0, 0, 1, /* lengths of opcodes */
        's', 'r', 'c',  0,   0,              /* folders */
        'a', '.', 'c',  'u', 0,  1, 0, 0, 0, /* files */
    };
    static const unsigned char first[] = {3,
                                          4,
                                          1,                          /* line 5 at 0 */
                                          10 + 14 * 16 + 5 - 14 * 16, /* nothing moves: a copy */
                                          0,
                                          3,
                                          0x90,
                                          5,
                                          0, /* a word of NVIDIA's */
                                          2,
                                          32,
                                          3,
                                          2,
                                          1, /* line 7 at 32 */
                                          2,
                                          32,
                                          0,
                                          1,
                                          1};                    /* ends at 64 */
    static const unsigned char second[] = {3, 8,  1,             /* line 9 at 0 */
                                           9, 16, 0, 3, 0x7a, 1, /* line 3 at 16 */
                                           2, 48, 0, 1, 1};
    size_t at = 4;
    uint32_t length;
    memcpy(out + at, header, sizeof header);
    length = (uint32_t)sizeof header - 6;
    memcpy(out + at + 2, &length, sizeof length);
    at += sizeof header;
    for (int i = 0; i < 2; i++) {
        memcpy(out + at, "\0\x09\x02\0\0\0\0\0\0\0", 11);
        places[i] = at + 3;
        at += 11;
        memcpy(out + at, i ? second : first, i ? sizeof second : sizeof first);
        at += i ? sizeof second : sizeof first;
    }
    length = (uint32_t)at - 4;
    memcpy(out, &length, sizeof length);
    return at;
}

/* Into `out` of CUBIN_ROOM bytes, which are zeroed; returns its size. */
static inline size_t cubin_bytes(unsigned char *out)
{
    static const char names[] = "\0.text.add\0.text._Z5scalePf\0.symtab\0.strtab\0.shstrtab\0"
                                ".debug_line\0.rela.debug_line";
    static const char strings[] = "\0add\0_Z5scalePf\0$_Z5scalePf$_Z6helperPf";
    static const uint32_t name_at[] = {0, 1, 11, 28, 36, 44, 54, 66};
    Elf64_Shdr sections[SECTION_COUNT] = {{0}};
    Elf64_Sym symbols[4] = {{0},
                            {1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, SECTION_ADD, 0, 64},
                            {5, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, SECTION_SCALE, 0, 64},
                            {16, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 0, SECTION_SCALE, 16, 48}};
    Elf64_Rela relocations[2] = {{0, ELF64_R_INFO(1, 2), 0}, {0, ELF64_R_INFO(2, 2), 0}};
    Elf64_Ehdr header = {.e_machine = 190,
                         .e_type = ET_EXEC,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = SECTION_COUNT,
                         .e_shstrndx = SECTION_NAMES};
    unsigned char lines[512] = {0};
    size_t places[2], at = sizeof header, size = cubin_line_table(lines, places);
    const struct {
        const void *bytes;
        size_t size;
        uint32_t type;
    } parts[SECTION_COUNT] = {{NULL, 0, SHT_NULL},
                              {NULL, 64, SHT_PROGBITS},
                              {NULL, 64, SHT_PROGBITS},
                              {symbols, sizeof symbols, SHT_SYMTAB},
                              {strings, sizeof strings, SHT_STRTAB},
                              {names, sizeof names, SHT_STRTAB},
                              {lines, size, SHT_PROGBITS},
                              {relocations, sizeof relocations, SHT_RELA}};
    memset(out, 0, CUBIN_ROOM);
    relocations[0].r_offset = places[0];
    relocations[1].r_offset = places[1];
    for (int i = 1; i < SECTION_COUNT; i++) {
        sections[i] = (Elf64_Shdr){.sh_name = name_at[i],
                                   .sh_type = parts[i].type,
                                   .sh_offset = at,
                                   .sh_size = parts[i].size};
        if (parts[i].bytes) {
            memcpy(out + at, parts[i].bytes, parts[i].size);
        }
        at += (parts[i].size + 7) / 8 * 8;
    }
    sections[SECTION_SYMBOLS].sh_link = SECTION_STRINGS;
    sections[SECTION_RELA].sh_link = SECTION_SYMBOLS;
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_shoff = at;
    memcpy(out, &header, sizeof header);
    memcpy(out + at, sections, sizeof sections);
    return at + sizeof sections;
}

#endif
