/* Looks a function up in the symbol table of its object's file, since static functions are in no
 * dynamic one. A file is mapped for the look-up only; names are kept by address, so that each
 * function is looked up once. A damaged file gives no name: every offset is checked. */
#include "trace/funcname.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/demangle.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena names;
static struct map known; /* function to name */

struct file {
    const unsigned char *bytes;
    uint64_t size;
};

static bool holds(const struct file *file, uint64_t offset, uint64_t length)
{
    return offset <= file->size && length <= file->size - offset;
}

/* The name in one symbol table, or NULL. */
static const char *find_in_table(const struct file *file, const ElfW(Shdr) * table,
                                 const ElfW(Shdr) * strings, uint64_t value)
{
    uint64_t count = table->sh_size / sizeof(ElfW(Sym));
    if (!holds(file, table->sh_offset, table->sh_size) ||
        !holds(file, strings->sh_offset, strings->sh_size)) {
        return NULL;
    }
    for (uint64_t i = 0; i < count; i++) {
        ElfW(Sym) symbol;
        memcpy(&symbol, file->bytes + table->sh_offset + i * sizeof symbol, sizeof symbol);
        if (symbol.st_value == value && (symbol.st_info & 0xf) == STT_FUNC &&
            symbol.st_name < strings->sh_size) {
            const char *name = (const char *)file->bytes + strings->sh_offset + symbol.st_name;
            return memchr(name, '\0', strings->sh_size - symbol.st_name) ? name : NULL;
        }
    }
    return NULL;
}

static const char *find_in_file(const struct file *file, uint64_t value)
{
    ElfW(Ehdr) header;
    ElfW(Shdr) table, strings;
    const char *name = NULL;
    if (!holds(file, 0, sizeof header)) {
        return NULL;
    }
    memcpy(&header, file->bytes, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shentsize != sizeof table ||
        !holds(file, header.e_shoff, (uint64_t)header.e_shnum * sizeof table)) {
        return NULL;
    }
    for (uint32_t i = 0; !name && i < header.e_shnum; i++) {
        memcpy(&table, file->bytes + header.e_shoff + i * sizeof table, sizeof table);
        if (table.sh_type == SHT_SYMTAB && table.sh_link < header.e_shnum) {
            memcpy(&strings, file->bytes + header.e_shoff + table.sh_link * sizeof strings,
                   sizeof strings);
            name = find_in_table(file, &table, &strings, value);
        }
    }
    return name;
}

static const char *look_up(const void *function)
{
    Dl_info info;
    struct link_map *object = NULL;
    struct stat status;
    struct file file;
    const char *name = NULL;
    int fd;
    if (!dladdr1(function, &info, (void **)&object, RTLD_DL_LINKMAP) || !object) {
        return "";
    }
    fd = open(*object->l_name ? object->l_name : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return "";
    }
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            file = (struct file){bytes, (uint64_t)status.st_size};
            name = find_in_file(&file, (uint64_t)(uintptr_t)function - object->l_addr);
            /* The name lies in the mapping, so it is copied before that goes. */
            name = name ? arena_strdup(&names, name) : NULL;
            name = name ? demangle_name(&names, name) : NULL;
            munmap(bytes, (size_t)status.st_size);
        }
    }
    close(fd);
    return name ? name : "";
}

const char *funcname_find(const void *function)
{
    uint64_t *found = map_find(&known, (uint64_t)(uintptr_t)function);
    const char *name = found ? (const char *)(uintptr_t)*found : look_up(function);
    if (!found) {
        (void)map_set(&known, (uint64_t)(uintptr_t)function, (uint64_t)(uintptr_t)name);
    }
    return name;
}
