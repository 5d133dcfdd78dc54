/* A cubin for the kernels that a program has registered: an ELF file with a section of code for
 * each, as a module of the driver has one. The code is accesses of all kinds, and one instruction
 * that does what the kernel says it does (struct fake_kernel, `operation`). */
#include "capture/fake/fake.h"

#include <elf.h>
#include <string.h>

enum { KERNELS = 16, CODE = 16 * 16, ROOM = 32768 };

static const struct fake_kernel *kernels[KERNELS];
static size_t kernel_count;
static _Alignas(8) char image[ROOM];
static size_t image_size;

size_t fake_index(const struct fake_kernel *kernel)
{
    size_t i = 0;
    while (i < kernel_count && kernels[i] != kernel) {
        i++;
    }
    return i;
}

size_t fake_index_of_name(const char *name)
{
    size_t i = 0;
    while (i < kernel_count && strcmp(kernels[i]->name, name) != 0) {
        i++;
    }
    return i;
}

static size_t append(const void *bytes, size_t size)
{
    size_t at = image_size;
    memcpy(image + at, bytes, size);
    image_size += size;
    return at;
}

static void align(void)
{
    image_size = (image_size + 15) / 16 * 16;
}

/* Loads, stores and atomics of words and of bytes, as in any kernel: what the kernel's body does.
 */
static const uint64_t accesses[] = {0x7981, 4 << 9, 0x7986, 4 << 9, 0x7981,
                                    0,      0x7986, 0,      0x79a8, 0};

/* Sections: 0 nothing, 1 section names, 2 symbols, 3 their names, then one for each kernel. */
static void build(void)
{
    Elf64_Shdr sections[4 + KERNELS] = {{0}};
    Elf64_Sym symbols[1 + KERNELS] = {{0}};
    char names[4096] = "\0.shstrtab\0.symtab\0.strtab";
    char symbol_names[4096] = "";
    size_t names_size = sizeof("\0.shstrtab\0.symtab\0.strtab"), symbol_size = 1;
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 51},
        .e_type = ET_EXEC,
        .e_machine = 190,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof(header),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shstrndx = 1};
    image_size = sizeof(header);
    for (size_t i = 0; i < kernel_count; i++) {
        uint64_t code[CODE / 8] = {0};
        for (size_t at = 0; at < CODE / 8; at += 2) {
            code[at] = 0x7918; /* NOP */
        }
        code[2] = kernels[i]->operation ? kernels[i]->operation : code[2];
        memcpy(&code[4], accesses, sizeof(accesses));
        size_t length = strlen(kernels[i]->name) + 1;
        align();
        sections[4 + i] = (Elf64_Shdr){.sh_name = (Elf64_Word)names_size,
                                       .sh_type = SHT_PROGBITS,
                                       .sh_offset = append(code, CODE),
                                       .sh_size = CODE};
        memcpy(names + names_size, ".text.", 6);
        memcpy(names + names_size + 6, kernels[i]->name, length);
        names_size += 6 + length;
        symbols[1 + i] = (Elf64_Sym){.st_name = (Elf64_Word)symbol_size,
                                     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                     .st_other = 0x10, /* a kernel */
                                     .st_shndx = (Elf64_Half)(4 + i),
                                     .st_size = CODE};
        memcpy(symbol_names + symbol_size, kernels[i]->name, length);
        symbol_size += length;
    }
    sections[1] = (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_STRTAB, .sh_size = names_size};
    sections[2] = (Elf64_Shdr){.sh_name = 11,
                               .sh_type = SHT_SYMTAB,
                               .sh_size = (1 + kernel_count) * sizeof(Elf64_Sym),
                               .sh_link = 3,
                               .sh_entsize = sizeof(Elf64_Sym)};
    sections[3] = (Elf64_Shdr){.sh_name = 19, .sh_type = SHT_STRTAB, .sh_size = symbol_size};
    sections[1].sh_offset = append(names, names_size);
    align();
    sections[2].sh_offset = append(symbols, sections[2].sh_size);
    sections[3].sh_offset = append(symbol_names, symbol_size);
    align();
    header.e_shnum = (Elf64_Half)(4 + kernel_count);
    header.e_shoff = append(sections, header.e_shnum * sizeof(Elf64_Shdr));
    memcpy(image, &header, sizeof(header));
}

void fake_register(const struct fake_kernel *const *list)
{
    while (*list && kernel_count < KERNELS) {
        kernels[kernel_count++] = *list++;
    }
    build();
}

const char *fake_cubin(size_t *size)
{
    static _Alignas(8) char none[] = "not a cubin";
    *size = kernel_count ? image_size : sizeof(none);
    return kernel_count ? image : none;
}
