/* Loaded objects, listed when the unwinder misses.
 *
 * Invariant: an id that was given out has its `module` event in the trace, and names one object for
 * good: one that is loaded later, even at the same place, gets another. Naive model: a list of all
 * objects ever seen. Tables of an object are read only inside dl_iterate_phdr, whose lock keeps it
 * mapped; that lock is the C library's own and is held by nobody across calls of the program. Cost:
 * linear in loaded objects, on a miss only. */
#include "capture/objects.h"

#include "capture/stack_python.h"

#include "base/hash.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct object {
    uint64_t base, begin, end; /* of all its segments */
    uint64_t identity;         /* of name and build id */
    unsigned flags;
};

static struct {
    struct ssan_sink *sink;
    struct object *items; /* id - 1; mapped, OBJECTS_MAX of them */
    uint32_t count;
} objects;

struct search {
    uint64_t address;
    void (*use)(void *self, uint32_t module, const struct cfi_object *tables);
    void *self;
};

bool objects_open(struct ssan_sink *sink)
{
    if (!objects.items) {
        void *memory = mmap(NULL, OBJECTS_MAX * sizeof(struct object), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            return false;
        }
        objects.items = memory;
    }
    objects.sink = sink;
    return true;
}

void objects_close(void)
{
    if (objects.items) {
        munmap(objects.items, OBJECTS_MAX * sizeof(struct object));
    }
    memset(&objects, 0, sizeof objects);
}

uint64_t object_base(uint32_t module)
{
    return objects.items[module - 1].base;
}

unsigned object_flags(uint32_t module)
{
    return objects.items[module - 1].flags;
}

/* The build id in the notes of an object, as hexadecimal; empty when there is none. */
static void read_build_id(const struct dl_phdr_info *info, char *text, size_t room)
{
    static const char digits[] = "0123456789abcdef";
    text[0] = '\0';
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t at = info->dlpi_addr + header->p_vaddr, end = at + header->p_memsz;
        while (header->p_type == PT_NOTE && at < end && end - at >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *note = (const void *)(uintptr_t)at;
            uint64_t name = at + sizeof *note, bytes = name + ((note->n_namesz + 3u) & ~3u);
            if (bytes + note->n_descsz > end) {
                break;
            }
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
                memcmp((const void *)(uintptr_t)name, "GNU", 4) == 0 &&
                note->n_descsz * 2u < room) {
                const unsigned char *id = (const void *)(uintptr_t)bytes;
                for (size_t byte = 0; byte < note->n_descsz; byte++) {
                    text[2 * byte] = digits[id[byte] >> 4];
                    text[2 * byte + 1] = digits[id[byte] & 15];
                }
                text[2 * note->n_descsz] = '\0';
                return;
            }
            at = bytes + ((note->n_descsz + 3u) & ~3u);
        }
    }
}

static bool begins_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

static unsigned flags_of(const struct dl_phdr_info *info, const char *name)
{
    uint64_t own = (uint64_t)(uintptr_t)&objects;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD &&
            own - info->dlpi_addr - header->p_vaddr < header->p_memsz) {
            return OBJECT_OWN;
        }
    }
    if (begins_with(name, "libcuda.so") || begins_with(name, "libcudart.so") ||
        begins_with(name, "libsanitizer-public") || begins_with(name, "libcudadebugger.so")) {
        return OBJECT_DRIVER;
    }
    if (stack_python_recognise(info)) {
        return OBJECT_PYTHON;
    }
    return 0;
}

/* Where its segments begin and end. */
static void set_extent(const struct dl_phdr_info *info, struct object *object)
{
    object->base = info->dlpi_addr;
    object->begin = UINT64_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t begin = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD) {
            object->begin = begin < object->begin ? begin : object->begin;
            object->end =
                begin + header->p_memsz > object->end ? begin + header->p_memsz : object->end;
        }
    }
}

/* The id of a loaded object, told to the trace when it is new; 0: too many. */
static uint32_t identify(const struct dl_phdr_info *info)
{
    char self[4096], build_id[129];
    struct ssan_event event = {.kind = SSAN_EV_module};
    struct object made = {0};
    const char *path = info->dlpi_name, *slash;
    set_extent(info, &made);
    read_build_id(info, build_id, sizeof build_id);
    made.identity = hash_bytes(hash_bytes(0, build_id, strlen(build_id)), path ? path : "",
                               path ? strlen(path) : 0);
    for (uint32_t i = objects.count; i > 0; i--) {
        const struct object *known = &objects.items[i - 1];
        if (known->base == made.base && known->begin == made.begin && known->end == made.end &&
            known->identity == made.identity) {
            return i;
        }
    }
    if (objects.count == OBJECTS_MAX) {
        return 0;
    }
    if (!path || !*path) {
        ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
        self[length > 0 ? length : 0] = '\0';
        path = self;
    }
    slash = strrchr(path, '/');
    made.flags = flags_of(info, slash ? slash + 1 : path);
    objects.items[objects.count++] = made;
    event.module =
        (struct ssan_ev_module){objects.count, info->dlpi_addr, ssan_str(path), ssan_str(build_id)};
    ssan_put(objects.sink, &event);
    return objects.count;
}

/* The segment of an object that holds an address; *end 0: none. */
static void find_segment(const struct dl_phdr_info *info, uint64_t address, uint64_t *begin,
                         uint64_t *end)
{
    *begin = *end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && (header->p_flags & PF_R) &&
            address - start < header->p_memsz) {
            *begin = start;
            *end = start + header->p_memsz;
            return;
        }
    }
}

static bool find_tables(const struct dl_phdr_info *info, struct cfi_object *object)
{
    uint64_t begin, tables;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_GNU_EH_FRAME) {
            object->header = info->dlpi_addr + header->p_vaddr;
            find_segment(info, object->header, &begin, &object->header_end);
            tables = object->header_end ? cfi_tables(object) : 0;
            find_segment(info, tables, &object->tables_begin, &object->tables_end);
            return tables && object->tables_end;
        }
    }
    return false;
}

static int visit(struct dl_phdr_info *info, size_t size, void *self)
{
    struct search *search = self;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && (header->p_flags & PF_X) && (header->p_flags & PF_R) &&
            search->address - info->dlpi_addr - header->p_vaddr < header->p_memsz) {
            struct cfi_object tables = {0};
            uint32_t module = identify(info);
            if (!module) {
                return 2;
            }
            search->use(search->self, module, find_tables(info, &tables) ? &tables : NULL);
            return 1;
        }
    }
    return 0;
}

bool objects_visit(uint64_t address,
                   void (*use)(void *self, uint32_t module, const struct cfi_object *tables),
                   void *self)
{
    struct search search = {address, use, self};
    return dl_iterate_phdr(visit, &search) == 1;
}

static int read_counts(struct dl_phdr_info *info, size_t size, void *self)
{
    uint64_t *generation = self;
    *generation = (uint64_t)info->dlpi_adds + (uint64_t)info->dlpi_subs;
    return 1;
}

uint64_t objects_generation(void)
{
    uint64_t generation = 0;
    (void)dl_iterate_phdr(read_counts, &generation);
    return generation;
}
