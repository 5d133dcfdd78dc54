/* Dynamic symbols of one loaded object, without the loader's lock, which dlsym takes. */
#ifndef SSAN_CAPTURE_ELF_SYMBOL_H
#define SSAN_CAPTURE_ELF_SYMBOL_H

#include <link.h>
#include <stdint.h>

/* The address of a symbol that the object defines; 0: it has none of that name. Call it while the
 * object can't be unloaded, as in dl_iterate_phdr. */
uint64_t elf_symbol(const struct dl_phdr_info *info, const char *name);

#endif
