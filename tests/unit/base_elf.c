/* Sections, names and symbols of an ELF file that the compiler made: this program; and of the same
 * bytes damaged at random, where nothing outside of them may be looked at. */
#include "base/elf_file.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define MOST_BYTES (UINT64_C(64) << 20)

int base_elf_landmark(int value); /* found by its name */
int base_elf_landmark(int value)
{
    return value + 1;
}

static void own_file(void **state)
{
    struct strbuf text = {0};
    struct elf_file file;
    Elf64_Shdr section, table, strings;
    Elf64_Sym symbol;
    bool found = false;
    assert_int_equal(file_read(&text, "/proc/self/exe", MOST_BYTES, NULL), SSAN_OK);
    assert_true(elf_file_open(&file, strbuf_text(&text), text.length));
    assert_true(elf_file_find(&file, ".text", &section));
    assert_string_equal(elf_file_name(&file, &section), ".text");
    assert_true(section.sh_size > 0);
    assert_false(elf_file_find(&file, ".nowhere", &section));
    assert_false(elf_file_section(&file, file.header.e_shnum, &section));
    assert_true(elf_file_find_type(&file, SHT_SYMTAB, &table));
    assert_true(elf_file_section(&file, table.sh_link, &strings));
    for (uint64_t i = 0; elf_file_symbol(&file, &table, i, &symbol); i++) {
        const char *name = elf_file_text(&file, &strings, symbol.st_name);
        found |= name && strcmp(name, "base_elf_landmark") == 0;
    }
    assert_true(found);
    strbuf_finish(&text);
    assert_int_equal(base_elf_landmark(1), 2);
}

/* A file of a name section, symbols and their names, at odd addresses. */
static size_t make(unsigned char *bytes)
{
    static const char names[] = "\0.names\0.symtab\0.text.k";
    Elf64_Sym symbols[2] = {{0}, {.st_name = 1, .st_size = 64}};
    Elf64_Shdr sections[3] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_STRTAB, .sh_size = sizeof names},
        {.sh_name = 8, .sh_type = SHT_SYMTAB, .sh_link = 1, .sh_size = sizeof symbols}};
    Elf64_Ehdr header = {.e_shentsize = sizeof sections[0], .e_shnum = 3, .e_shstrndx = 1};
    size_t at = sizeof header;
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    sections[1].sh_offset = at;
    memcpy(bytes + at, names, sizeof names);
    sections[2].sh_offset = at += sizeof names;
    memcpy(bytes + at, symbols, sizeof symbols);
    header.e_shoff = at += sizeof symbols;
    memcpy(bytes + at, sections, sizeof sections);
    memcpy(bytes, &header, sizeof header);
    return at + sizeof sections;
}

/* Everything that can be asked of it; under a sanitizer, what lies outside is noticed. */
static unsigned read_all(const unsigned char *bytes, size_t size)
{
    struct elf_file file;
    Elf64_Shdr section;
    Elf64_Sym symbol;
    unsigned seen = 0;
    if (!elf_file_open(&file, bytes, size)) {
        return 0;
    }
    for (uint32_t i = 0; i < file.header.e_shnum; i++) {
        if (!elf_file_section(&file, i, &section)) {
            continue;
        }
        seen += 1 + (unsigned)strlen(elf_file_name(&file, &section));
        for (uint64_t s = 0; s < 4 && elf_file_symbol(&file, &section, s, &symbol); s++) {
            const char *name = elf_file_text(&file, &file.names, symbol.st_name);
            seen += name ? (unsigned)strlen(name) : 0;
        }
    }
    return seen;
}

static void damaged(void **state)
{
    unsigned char whole[1024];
    size_t size = make(whole);
    uint64_t seed = 20261201;
    struct rng rng = {seed};
    unsigned opened = 0;
    printf("seed %llu\n", (unsigned long long)seed);
    assert_true(read_all(whole, size) > 3);
    for (unsigned round = 0; round < 20000; round++) {
        size_t length = round % 2 ? size : (size_t)(rng_next(&rng) % (size + 1));
        unsigned char *bytes = mem_alloc(length); /* its end is watched */
        assert_non_null(bytes);
        memcpy(bytes, whole, length);
        for (unsigned i = 0; length > 0 && i < 1 + round % 4; i++) {
            bytes[rng_next(&rng) % length] = (unsigned char)rng_next(&rng);
        }
        opened += read_all(bytes, length) > 0;
        mem_free(bytes);
    }
    printf("%u of 20000 could be read in part\n", opened);
    assert_true(opened > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(own_file), cmocka_unit_test(damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
