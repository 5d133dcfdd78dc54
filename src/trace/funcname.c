/* Looks a function up in the symbol table of its object's file, since static functions are in no
 * dynamic one. A file is mapped for the look-up only; names are kept by address, so that each
 * function is looked up once. A damaged file gives no name. */
#include "trace/funcname.h"

#include "base/arena.h"
#include "base/demangle.h"
#include "base/elf_file.h"
#include "base/map.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena names;
static struct map known; /* function to name */

/* The name of the function that begins at `value`, or, inside, whose code holds it, by the file's
 * own symbols; NULL: none. */
static const char *find_in_file(const void *bytes, size_t size, uint64_t value, bool inside)
{
    struct elf_file file;
    Elf64_Shdr table, strings;
    Elf64_Sym symbol;
    if (!elf_file_open(&file, bytes, size) || !elf_file_find_type(&file, SHT_SYMTAB, &table) ||
        !elf_file_section(&file, table.sh_link, &strings)) {
        return NULL;
    }
    for (uint64_t i = 0; elf_file_symbol(&file, &table, i, &symbol); i++) {
        bool is_it = symbol.st_value == value || (inside && symbol.st_value < value &&
                                                  value - symbol.st_value < symbol.st_size);
        if (is_it && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) {
            return elf_file_text(&file, &strings, symbol.st_name);
        }
    }
    return NULL;
}

static const char *look_up(const void *function, bool inside)
{
    Dl_info info;
    struct link_map *object = NULL;
    struct stat status;
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
            name = find_in_file(bytes, (size_t)status.st_size,
                                (uint64_t)(uintptr_t)function - object->l_addr, inside);
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
    const char *name = found ? (const char *)(uintptr_t)*found : look_up(function, false);
    if (!found) {
        (void)map_set(&known, (uint64_t)(uintptr_t)function, (uint64_t)(uintptr_t)name);
    }
    return name;
}

/* A return address may stand behind the last instruction of a function that does not come back. */
const char *funcname_holding(uint64_t address)
{
    return address ? look_up((const void *)(uintptr_t)(address - 1), true) : "";
}
