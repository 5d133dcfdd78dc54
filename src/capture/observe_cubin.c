/* Walks the sections of a cubin and the instructions of its functions.
 *
 * Every offset is checked against the size of the file. Naive model: disassemble, look for names of
 * operations. Cost: one load and a table look-up for each instruction, once per module. */
#include "capture/observe_cubin.h"

#include <elf.h>
#include <string.h>

#define INSTRUCTION_BYTES 16u
#define OPERATION_MASK    0x1ffu
#define TEXT              ".text."
#define GLOBAL            ".nv.global"             /* and .nv.global.init */
#define CONSTANT          ".nv.constant3"          /* the other banks are the compiler's own */
#define DEVICE_LAUNCH     "__cudaCDP2LaunchDevice" /* of the device runtime */

/* Operations by the lowest 9 bits, the same from 7.5 to 12.x: those that touch global memory in
 * ways without a patch, and calls. */
static const struct {
    uint16_t operation, flag;
} operations[] = {
    {0x1b4, CUBIN_TENSOR_READ},    /* UTMALDG */
    {0x1b5, CUBIN_TENSOR_WRITE},   /* UTMASTG */
    {0x1b6, CUBIN_TENSOR_WRITE},   /* UTMAREDG */
    {0x1bb, CUBIN_BULK_REDUCE},    /* UBLKRED */
    {0x160, CUBIN_TEXTURE},        /* TEX */
    {0x163, CUBIN_TEXTURE},        /* TLD4 */
    {0x166, CUBIN_TEXTURE},        /* TLD */
    {0x16c, CUBIN_TEXTURE},        /* TXD */
    {0x199, CUBIN_TEXTURE},        /* SULD */
    {0x19d, CUBIN_SURFACE_WRITE},  /* SUST */
    {0x19f, CUBIN_SURFACE_WRITE},  /* SURED */
    {0x1a5, CUBIN_MULTICAST_READ}, /* LDGMC */
    {0x143, CUBIN_CALLS},          /* CALL.ABS */
    {0x144, CUBIN_CALLS},          /* CALL.REL */
};

/* UBLKCP copies between shared memories, or to or from global memory: bits 9 and 10 of the second
 * half. */
#define OPERATION_BULK_COPY 0x1bau
static const uint16_t directions[] = {CUBIN_BULK_READ | CUBIN_BULK_WRITE, CUBIN_BULK_READ,
                                      CUBIN_BULK_WRITE, 0};

#define SYMBOL_IS_MANAGED 0x04u
#define SYMBOL_IS_ENTRY   0x10u /* in the last byte of a symbol's properties: of a kernel */

struct cubin {
    const unsigned char *bytes;
    size_t size;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    const char *names;
    uint64_t names_size;
};

static bool lies_inside(const struct cubin *cubin, uint64_t at, uint64_t size)
{
    return at <= cubin->size && size <= cubin->size - at;
}

/* The name of a section, "" where there is none. */
static const char *name_of(const struct cubin *cubin, const Elf64_Shdr *section)
{
    uint64_t at = section->sh_name;
    if (at >= cubin->names_size ||
        !memchr(cubin->names + at, '\0', (size_t)(cubin->names_size - at))) {
        return "";
    }
    return cubin->names + at;
}

static bool open_cubin(struct cubin *cubin, const void *bytes, size_t size)
{
    const Elf64_Ehdr *header = bytes;
    cubin->bytes = bytes;
    cubin->size = size;
    if ((uintptr_t)bytes % 8 != 0 || size < sizeof *header ||
        memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_shentsize != sizeof(Elf64_Shdr) ||
        header->e_shoff % 8 != 0 || header->e_shstrndx >= header->e_shnum ||
        !lies_inside(cubin, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr))) {
        return false;
    }
    cubin->header = header;
    cubin->sections = (const void *)(cubin->bytes + header->e_shoff);
    const Elf64_Shdr *names = &cubin->sections[header->e_shstrndx];
    if (!lies_inside(cubin, names->sh_offset, names->sh_size)) {
        return false;
    }
    cubin->names = (const char *)cubin->bytes + names->sh_offset;
    cubin->names_size = names->sh_size;
    return true;
}

static unsigned flags_of_code(const unsigned char *code, uint64_t size)
{
    uint16_t table[OPERATION_MASK + 1] = {0};
    unsigned flags = 0;
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        table[operations[i].operation] = operations[i].flag;
    }
    for (uint64_t at = 0; at + INSTRUCTION_BYTES <= size; at += INSTRUCTION_BYTES) {
        uint64_t low, high;
        memcpy(&low, code + at, sizeof low);
        unsigned operation = (unsigned)low & OPERATION_MASK;
        flags |= table[operation];
        if (operation == OPERATION_BULK_COPY) {
            memcpy(&high, code + at + 8, sizeof high);
            flags |= directions[high >> 9 & 3];
        }
    }
    return flags;
}

/* Whether the code of section `text` is a kernel: a symbol says so. */
static bool is_entry(const struct cubin *cubin, const Elf64_Shdr *symbols, unsigned text)
{
    const Elf64_Sym *all = (const void *)(cubin->bytes + symbols->sh_offset);
    for (uint64_t i = 0; i < symbols->sh_size / sizeof *all; i++) {
        if (all[i].st_shndx == text && ELF64_ST_TYPE(all[i].st_info) == STT_FUNC &&
            all[i].st_other & SYMBOL_IS_ENTRY) {
            return true;
        }
    }
    return false;
}

static const Elf64_Shdr *find_symbols(const struct cubin *cubin)
{
    for (unsigned i = 0; i < cubin->header->e_shnum; i++) {
        const Elf64_Shdr *section = &cubin->sections[i];
        if (section->sh_type == SHT_SYMTAB && section->sh_offset % 8 == 0 &&
            lies_inside(cubin, section->sh_offset, section->sh_size)) {
            return section;
        }
    }
    return NULL;
}

bool cubin_read(const void *bytes, size_t size, struct cubin_facts *facts,
                bool (*take)(void *self, const struct cubin_function *function), void *self)
{
    struct cubin cubin;
    memset(facts, 0, sizeof *facts);
    if (!open_cubin(&cubin, bytes, size)) {
        return false;
    }
    const Elf64_Shdr *symbols = find_symbols(&cubin);
    for (unsigned i = 0; i < cubin.header->e_shnum; i++) {
        const Elf64_Shdr *section = &cubin.sections[i];
        const char *name = name_of(&cubin, section);
        facts->has_lines = facts->has_lines || strcmp(name, ".debug_line") == 0;
        if (strncmp(name, TEXT, sizeof TEXT - 1) != 0 || section->sh_type != SHT_PROGBITS ||
            !lies_inside(&cubin, section->sh_offset, section->sh_size)) {
            continue;
        }
        struct cubin_function function = {
            .name = name + sizeof TEXT - 1, .section = i, .size = section->sh_size};
        function.flags = flags_of_code(cubin.bytes + section->sh_offset, section->sh_size);
        function.is_kernel = !symbols || is_entry(&cubin, symbols, i);
        if (strncmp(function.name, DEVICE_LAUNCH, sizeof DEVICE_LAUNCH - 1) == 0) {
            function.flags |= CUBIN_LAUNCHES;
        }
        if (!function.is_kernel) {
            facts->called_flags |= function.flags;
        }
        if (!take(self, &function)) {
            return false;
        }
    }
    return true;
}

/* The name of a symbol, NULL where it has none. */
static const char *symbol_name(const struct cubin *cubin, const Elf64_Shdr *symbols, uint32_t at)
{
    const Elf64_Shdr *strings;
    if (symbols->sh_link >= cubin->header->e_shnum) {
        return NULL;
    }
    strings = &cubin->sections[symbols->sh_link];
    if (!lies_inside(cubin, strings->sh_offset, strings->sh_size) || at >= strings->sh_size) {
        return NULL;
    }
    const char *name = (const char *)cubin->bytes + strings->sh_offset + at;
    return *name && memchr(name, '\0', (size_t)(strings->sh_size - at)) ? name : NULL;
}

/* What a variable of this section is declared as; NULL: the section holds none. */
static const char *space_of(const char *section, unsigned other)
{
    if (strncmp(section, GLOBAL, sizeof GLOBAL - 1) == 0) {
        return other & SYMBOL_IS_MANAGED ? "__managed__" : "__device__";
    }
    return strcmp(section, CONSTANT) == 0 ? "__constant__" : NULL;
}

bool cubin_read_variables(const void *bytes, size_t size,
                          bool (*take)(void *self, const struct cubin_variable *variable),
                          void *self)
{
    struct cubin cubin;
    const Elf64_Shdr *symbols;
    if (!open_cubin(&cubin, bytes, size) || !(symbols = find_symbols(&cubin))) {
        return false;
    }
    const Elf64_Sym *all = (const void *)(cubin.bytes + symbols->sh_offset);
    for (uint64_t i = 0; i < symbols->sh_size / sizeof *all; i++) {
        const char *section = all[i].st_shndx < cubin.header->e_shnum
                                  ? name_of(&cubin, &cubin.sections[all[i].st_shndx])
                                  : "";
        const struct cubin_variable variable = {.name =
                                                    symbol_name(&cubin, symbols, all[i].st_name),
                                                .space = space_of(section, all[i].st_other),
                                                .size = all[i].st_size};
        if (ELF64_ST_TYPE(all[i].st_info) == STT_OBJECT && variable.size > 0 && variable.name &&
            variable.space && !take(self, &variable)) {
            break;
        }
    }
    return true;
}
