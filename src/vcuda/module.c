/* Executable segments of all loaded objects, listed when an address is in none of those known.
 *
 * Invariant: a segment that is listed has a `module` event in the trace. Objects that were unloaded
 * stay listed; their addresses go to a new object only when that one is found first. Finding is
 * linear in segments, of which a process has a few dozen, and the last hit is tried first. */
#include "vcuda/module.h"

#include "base/vec.h"
#include "vcuda/emit.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

struct segment {
    uint64_t begin, end, base;
    uint32_t module;
};

static struct {
    struct {
        struct segment *items;
        size_t count, room;
    } segments;
    VEC(char *) names; /* by module - 1: file names; NULL where memory ran out */
    uint32_t count;    /* modules */
    size_t last;
} modules;

/* The build id in the notes of a segment, as hexadecimal; empty when there is none. */
static void read_build_id(const struct dl_phdr_info *info, char *text, size_t room)
{
    static const char digits[] = "0123456789abcdef";
    text[0] = '\0';
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const unsigned char *at = (const unsigned char *)(info->dlpi_addr + header->p_vaddr);
        const unsigned char *end = at + header->p_memsz;
        while (header->p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *note = (const void *)at;
            const unsigned char *name = at + sizeof *note;
            const unsigned char *bytes = name + ((note->n_namesz + 3u) & ~3u);
            if (bytes + note->n_descsz > end) {
                break;
            }
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
                memcmp(name, "GNU", 4) == 0 && note->n_descsz * 2 < room) {
                for (size_t byte = 0; byte < note->n_descsz; byte++) {
                    text[2 * byte] = digits[bytes[byte] >> 4];
                    text[2 * byte + 1] = digits[bytes[byte] & 15];
                }
                text[2 * note->n_descsz] = '\0';
                return;
            }
            at = bytes + ((note->n_descsz + 3u) & ~3u);
        }
    }
}

static void tell(const struct dl_phdr_info *info, uint32_t module)
{
    char self[4096], build_id[129];
    struct ssan_event event = {.kind = SSAN_EV_module};
    const char *path = info->dlpi_name, *slash;
    if (!path || !*path) {
        ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
        self[length > 0 ? length : 0] = '\0';
        path = self;
    }
    slash = strrchr(path, '/');
    if (VEC_RESERVE(&modules.names, module)) {
        while (modules.names.count < module) {
            modules.names.items[modules.names.count++] = NULL;
        }
        modules.names.items[module - 1] = mem_strdup(slash ? slash + 1 : path);
    }
    read_build_id(info, build_id, sizeof build_id);
    event.module =
        (struct ssan_ev_module){module, info->dlpi_addr, ssan_str(path), ssan_str(build_id)};
    emit_put(&event);
}

static bool is_listed(uint64_t begin, uint64_t end, uint64_t base)
{
    for (size_t i = 0; i < modules.segments.count; i++) {
        const struct segment *segment = &modules.segments.items[i];
        if (segment->begin == begin && segment->end == end && segment->base == base) {
            return true;
        }
    }
    return false;
}

static int list_object(struct dl_phdr_info *info, size_t size, void *self)
{
    bool told = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        struct segment made = {.begin = info->dlpi_addr + header->p_vaddr, .base = info->dlpi_addr};
        made.end = made.begin + header->p_memsz;
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) ||
            is_listed(made.begin, made.end, made.base)) {
            continue;
        }
        made.module = told ? modules.count : modules.count + 1;
        if (!VEC_PUSH(&modules.segments, made)) {
            return 1;
        }
        if (!told) {
            modules.count++;
            tell(info, modules.count);
            told = true;
        }
    }
    return 0;
}

static const struct segment *find(uint64_t address)
{
    if (modules.last < modules.segments.count) {
        const struct segment *segment = &modules.segments.items[modules.last];
        if (address >= segment->begin && address < segment->end) {
            return segment;
        }
    }
    for (size_t i = modules.segments.count; i > 0; i--) {
        const struct segment *segment = &modules.segments.items[i - 1];
        if (address >= segment->begin && address < segment->end) {
            modules.last = i - 1;
            return segment;
        }
    }
    return NULL;
}

uint32_t module_find(uint64_t address, bool may_list, uint64_t *offset)
{
    const struct segment *segment = find(address);
    if (!segment && may_list && address > 4096) {
        dl_iterate_phdr(list_object, NULL);
        segment = find(address);
    }
    if (!segment) {
        return 0;
    }
    *offset = address - segment->base;
    return segment->module;
}

const char *module_name(uint32_t module)
{
    const char *name =
        module > 0 && module <= modules.names.count ? modules.names.items[module - 1] : NULL;
    return name ? name : "";
}

void module_forget(void)
{
    while (modules.names.count > 0) {
        mem_free(modules.names.items[--modules.names.count]);
    }
    modules.segments.count = 0;
    modules.count = 0;
}
