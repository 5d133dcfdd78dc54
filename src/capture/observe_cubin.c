/* Walks the sections of a cubin and the instructions of its functions. Naive model: disassemble,
 * look for names of operations. Cost: one load and a table look-up for each instruction, once per
 * module. */
#include "capture/observe_cubin.h"

#include "capture/patch_abi.h"

#include "base/elf_file.h"

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

/* Accesses to global memory that patches see: PATCH_KIND's access, and for loads and stores a width
 * in bits 9 to 11 of the second half, of which those below 4 are less than 4 bytes. */
static const struct {
    uint16_t operation;
    uint8_t access;
    bool has_width;
} accesses[] = {
    {0x180, 0, true},  /* LD */
    {0x181, 0, true},  /* LDG */
    {0x1ae, 0, false}, /* LDGSTS, cp.async */
    {0x185, 1, true},  /* ST */
    {0x186, 1, true},  /* STG */
    {0x18a, 2, false}, /* ATOM */
    {0x18b, 2, false}, /* ATOM.CAS */
    {0x18e, 2, false}, /* RED */
    {0x1a2, 2, false}, /* ATOM of floats */
    {0x1a3, 2, false}, /* ATOMG of floats */
    {0x1a6, 2, false}, /* RED of floats */
    {0x1a8, 2, false}, /* ATOMG */
    {0x1a9, 2, false}, /* ATOMG.CAS */
};
#define WIDTH(high)   ((high) >> 9 & 7)
#define WIDTH_OF_WORD 4u

#define SYMBOL_IS_MANAGED 0x04u
#define SYMBOL_IS_ENTRY   0x10u /* in the last byte of a symbol's properties: of a kernel */

/* What each operation means, by its number. */
struct meanings {
    uint16_t flags[OPERATION_MASK + 1];
    uint8_t accesses[OPERATION_MASK + 1]; /* index in `accesses` + 1 */
};

static void list_meanings(struct meanings *meanings)
{
    memset(meanings, 0, sizeof *meanings);
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        meanings->flags[operations[i].operation] = operations[i].flag;
    }
    for (size_t i = 0; i < sizeof accesses / sizeof accesses[0]; i++) {
        meanings->accesses[accesses[i].operation] = (uint8_t)(i + 1);
    }
}

static void read_code(struct cubin_function *function, const unsigned char *code, uint64_t size)
{
    struct meanings meanings;
    list_meanings(&meanings);
    for (uint64_t at = 0; at + INSTRUCTION_BYTES <= size; at += INSTRUCTION_BYTES) {
        uint64_t low, high;
        memcpy(&low, code + at, sizeof low);
        memcpy(&high, code + at + 8, sizeof high);
        unsigned operation = (unsigned)low & OPERATION_MASK;
        function->flags |= meanings.flags[operation];
        if (operation == OPERATION_BULK_COPY) {
            function->flags |= directions[high >> 9 & 3];
        }
        unsigned index = meanings.accesses[operation];
        if (index) {
            bool is_small = accesses[index - 1].has_width && WIDTH(high) < WIDTH_OF_WORD;
            function->kinds |= 1u << PATCH_KIND(accesses[index - 1].access, is_small);
        }
    }
    function->kinds |= function->flags & CUBIN_BULK_READ ? 1u << PATCH_KIND(0, 0) : 0;
    function->kinds |= function->flags & CUBIN_BULK_WRITE ? 1u << PATCH_KIND(1, 0) : 0;
    function->kinds |= function->flags & CUBIN_BULK_REDUCE ? 1u << PATCH_KIND(2, 0) : 0;
}

/* Operations that neither access memory but constants, nor branch, nor end: what compilers put
 * before the wait. Their numbers are those that nvdisasm of CUDA 13.0 shows for 9.0 and 10.0. */
static const uint16_t harmless[] = {
    /* MOV P2R R2P CS2R VOTE SEL FSEL FMNMX */
    0x002, 0x003, 0x004, 0x005, 0x006, 0x007, 0x008, 0x009,
    /* FSETP ISETP IADD3 LEA LOP3 IABS PRMT IMNMX */
    0x00b, 0x00c, 0x010, 0x011, 0x012, 0x013, 0x016, 0x017,
    /* SHF SGXT BMSK PLOP3 FMUL FADD FFMA IMAD IMAD.WIDE IMAD.HI */
    0x019, 0x01a, 0x01b, 0x01c, 0x020, 0x021, 0x023, 0x024, 0x025, 0x027,
    /* PREEXIT ELECT I2FP UMOV UPLOP3 ULDC FLO I2F */
    0x02d, 0x02f, 0x045, 0x082, 0x09c, 0x0b9, 0x100, 0x106,
    /* MUFU POPC NOP S2R BSSY WARPSYNC LDC LDCU S2UR REDUX */
    0x108, 0x109, 0x118, 0x119, 0x145, 0x148, 0x182, 0x1ac, 0x1c3, 0x1c4};
#define OPERATION_WAIT 0x02eu /* ACQBULK */
#define PREDICATE_TRUE 7u     /* bits 12 to 15 */

static bool is_harmless(unsigned operation)
{
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) {
        if (harmless[i] == operation) {
            return true;
        }
    }
    return false;
}

bool cubin_waits_first(const unsigned char *code, uint64_t size)
{
    for (uint64_t at = 0; at + INSTRUCTION_BYTES <= size; at += INSTRUCTION_BYTES) {
        uint64_t low;
        memcpy(&low, code + at, sizeof low);
        unsigned operation = (unsigned)low & OPERATION_MASK;
        if (operation == OPERATION_WAIT) {
            return (low >> 12 & 15) == PREDICATE_TRUE;
        }
        if (!is_harmless(operation)) {
            return false;
        }
    }
    return false;
}

/* Whether the code of section `text` is a kernel: a symbol says so. */
static bool is_entry(const struct elf_file *file, const Elf64_Shdr *symbols, unsigned text)
{
    Elf64_Sym symbol;
    for (uint64_t i = 0; elf_file_symbol(file, symbols, i, &symbol); i++) {
        if (symbol.st_shndx == text && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
            symbol.st_other & SYMBOL_IS_ENTRY) {
            return true;
        }
    }
    return false;
}

bool cubin_read(const void *bytes, size_t size, struct cubin_facts *facts,
                bool (*take)(void *self, const struct cubin_function *function), void *self)
{
    struct elf_file file;
    Elf64_Shdr symbols, section;
    memset(facts, 0, sizeof *facts);
    if (!elf_file_open(&file, bytes, size)) {
        return false;
    }
    const bool has_symbols = elf_file_find_type(&file, SHT_SYMTAB, &symbols);
    for (unsigned i = 0; i < file.header.e_shnum; i++) {
        if (!elf_file_section(&file, i, &section)) {
            return false;
        }
        const char *name = elf_file_name(&file, &section);
        facts->has_lines = facts->has_lines || strcmp(name, ".debug_line") == 0;
        if (strncmp(name, TEXT, sizeof TEXT - 1) != 0 || section.sh_type != SHT_PROGBITS) {
            continue;
        }
        struct cubin_function function = {
            .name = name + sizeof TEXT - 1, .section = i, .size = section.sh_size};
        read_code(&function, elf_file_bytes(&file, &section), section.sh_size);
        function.waits_first = cubin_waits_first(elf_file_bytes(&file, &section), section.sh_size);
        function.is_kernel = !has_symbols || is_entry(&file, &symbols, i);
        if (strncmp(function.name, DEVICE_LAUNCH, sizeof DEVICE_LAUNCH - 1) == 0) {
            function.flags |= CUBIN_LAUNCHES;
        }
        if (!function.is_kernel) {
            facts->called_flags |= function.flags;
            facts->called_kinds |= function.kinds;
        }
        if (!take(self, &function)) {
            return false;
        }
    }
    return true;
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
    struct elf_file file;
    Elf64_Shdr symbols, names, section;
    Elf64_Sym symbol;
    if (!elf_file_open(&file, bytes, size) || !elf_file_find_type(&file, SHT_SYMTAB, &symbols) ||
        !elf_file_section(&file, symbols.sh_link, &names)) {
        return false;
    }
    for (uint64_t i = 0; elf_file_symbol(&file, &symbols, i, &symbol); i++) {
        if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size == 0 ||
            !elf_file_section(&file, symbol.st_shndx, &section)) {
            continue;
        }
        const struct cubin_variable variable = {
            .name = elf_file_text(&file, &names, symbol.st_name),
            .space = space_of(elf_file_name(&file, &section), symbol.st_other),
            .size = symbol.st_size};
        if (variable.name && *variable.name && variable.space && !take(self, &variable)) {
            break;
        }
    }
    return true;
}
