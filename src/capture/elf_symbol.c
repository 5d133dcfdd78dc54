/* Looks a name up in the hash table that the dynamic loader itself uses.
 *
 * Invariant: only the object's own tables are read, as its dynamic section names them. Naive model:
 * compare the name with each symbol. Cost: for a name that is not there mostly one word of the
 * filter. Objects with the older kind of table only have no symbols here. */
#include "capture/elf_symbol.h"

#include <elf.h>
#include <string.h>

struct tables {
    const uint32_t *hash;
    const ElfW(Sym) * symbols;
    const char *names;
};

/* The loader has relocated the pointers of most objects in place, but not of all. */
static const void *pointer(const struct dl_phdr_info *info, uint64_t value)
{
    return (const void *)(uintptr_t)(value < info->dlpi_addr ? value + info->dlpi_addr : value);
}

static struct tables find_tables(const struct dl_phdr_info *info)
{
    struct tables tables = {0};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const ElfW(Dyn) * entry;
        if (header->p_type != PT_DYNAMIC) {
            continue;
        }
        entry = (const void *)(uintptr_t)(info->dlpi_addr + header->p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_GNU_HASH) {
                tables.hash = pointer(info, entry->d_un.d_ptr);
            } else if (entry->d_tag == DT_SYMTAB) {
                tables.symbols = pointer(info, entry->d_un.d_ptr);
            } else if (entry->d_tag == DT_STRTAB) {
                tables.names = pointer(info, entry->d_un.d_ptr);
            }
        }
    }
    return tables;
}

static uint32_t hash_name(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++) {
        hash = hash * 33 + (unsigned char)*name;
    }
    return hash;
}

uint64_t elf_symbol(const struct dl_phdr_info *info, const char *name)
{
    struct tables tables = find_tables(info);
    uint32_t hash = hash_name(name), bucket_count, first, filter_words, shift, index;
    const uint64_t *filter;
    const uint32_t *buckets, *chain;
    uint64_t word;
    if (!tables.hash || !tables.symbols || !tables.names) {
        return 0;
    }
    bucket_count = tables.hash[0];
    first = tables.hash[1];
    filter_words = tables.hash[2];
    shift = tables.hash[3];
    if (bucket_count == 0 || filter_words == 0) {
        return 0;
    }
    filter = (const uint64_t *)(const void *)(tables.hash + 4);
    word = filter[hash / 64 % filter_words];
    if (!(word >> (hash % 64) & word >> ((hash >> shift) % 64) & 1)) {
        return 0;
    }
    buckets = (const uint32_t *)(const void *)(filter + filter_words);
    chain = buckets + bucket_count;
    index = buckets[hash % bucket_count];
    if (index < first) {
        return 0;
    }
    for (;; index++) {
        const ElfW(Sym) *symbol = &tables.symbols[index];
        uint32_t entry = chain[index - first];
        if ((entry | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
            strcmp(tables.names + symbol->st_name, name) == 0) {
            return info->dlpi_addr + symbol->st_value;
        }
        if (entry & 1) {
            return 0;
        }
    }
}
