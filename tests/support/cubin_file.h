/* Cubins made by hand, for tests of what reads them. */
#ifndef SSAN_TESTS_SUPPORT_CUBIN_H
#define SSAN_TESTS_SUPPORT_CUBIN_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#define CUBIN_FILE_ROOM 8192

struct cubin_file {
    _Alignas(8) unsigned char bytes[CUBIN_FILE_ROOM];
    size_t size;
    Elf64_Shdr sections[8];
    unsigned count;
    char names[256];
    size_t names_size;
};

/* A kernel `k` in section 1 and a function `f` in section 2, each of four instructions; `last`
 * names one more, empty section. */
void cubin_file_make(struct cubin_file *file, const uint64_t kernel[8], const uint64_t function[8],
                     const char *last);

#endif
