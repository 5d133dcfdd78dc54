/* Looks into ELF files for our note, for CUDA libraries and for device code.
 *
 * Nothing is executed. A file that is no ELF file is OTHER. Cost: headers and the dynamic section.
 */
#include "cli/program.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTE_NAME "streamsan"
#define NOTE_TYPE 1

bool program_find(const char *name, char *path, size_t room)
{
    const char *list = getenv("PATH");
    if (strchr(name, '/')) {
        snprintf(path, room, "%s", name);
        return access(path, F_OK) == 0;
    }
    if (!list) {
        list = "/bin:/usr/bin";
    }
    while (*list) {
        size_t length = strcspn(list, ":");
        snprintf(path, room, "%.*s%s%s", (int)length, list, length ? "/" : "./", name);
        if (access(path, X_OK) == 0) {
            return true;
        }
        list += length + (list[length] == ':');
    }
    return false;
}

static bool is_our_note(Elf_Data *data)
{
    size_t offset = 0, name, description;
    GElf_Nhdr note;
    while (data && (offset = gelf_getnote(data, offset, &note, &name, &description)) > 0) {
        if (note.n_type == NOTE_TYPE && note.n_namesz == sizeof NOTE_NAME &&
            memcmp((const char *)data->d_buf + name, NOTE_NAME, sizeof NOTE_NAME) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_note(Elf *elf)
{
    size_t count = 0, i;
    if (elf_getphdrnum(elf, &count) != 0) {
        return false;
    }
    for (i = 0; i < count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_NOTE &&
            is_our_note(elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz,
                                             header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR))) {
            return true;
        }
    }
    return false;
}

static bool is_cuda_library(const char *name)
{
    return name && (strncmp(name, "libcuda.so", 10) == 0 || strncmp(name, "libcudart.so", 12) == 0);
}

static bool needs_cuda(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count, i;
    if (!data || header->sh_entsize == 0) {
        return false;
    }
    count = header->sh_size / header->sh_entsize;
    for (i = 0; i < count; i++) {
        GElf_Dyn entry;
        if (gelf_getdyn(data, (int)i, &entry) && entry.d_tag == DT_NEEDED &&
            is_cuda_library(elf_strptr(elf, header->sh_link, entry.d_un.d_val))) {
            return true;
        }
    }
    return false;
}

static bool is_cuda(Elf *elf)
{
    Elf_Scn *section = NULL;
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0) {
        return false;
    }
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name;
        if (!gelf_getshdr(section, &header)) {
            continue;
        }
        name = elf_strptr(elf, names, header.sh_name);
        if ((name && strcmp(name, ".nv_fatbin") == 0) ||
            (header.sh_type == SHT_DYNAMIC && needs_cuda(elf, section, &header))) {
            return true;
        }
    }
    return false;
}

enum program_kind program_kind(const char *path)
{
    enum program_kind kind = PROGRAM_OTHER;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf;
    if (fd < 0) {
        return PROGRAM_OTHER;
    }
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        kind = has_note(elf) ? PROGRAM_OURS : is_cuda(elf) ? PROGRAM_CUDA : PROGRAM_OTHER;
    }
    elf_end(elf);
    close(fd);
    return kind;
}

void program_tell_input(const char *verb)
{
    struct stat info;
    int waiting = 0;
    if (fstat(STDIN_FILENO, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)) &&
        ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting > 0) {
        fprintf(stderr,
                "streamsan %s: standard input is a pipe, of which the program gets nothing; use "
                "`< FILE`\n",
                verb);
    }
}
