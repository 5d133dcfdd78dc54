/* The link command, and the note that marks a program as built here. */
#include "cc/link.h"

#include "cc/include/ssan/blob_abi.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Elf64_Nhdr with the name padded to 4 bytes, then one 32-bit version. */
static enum ssan_status write_note(const char *path, struct ssan_error *err)
{
    FILE *file = fopen(path, "wxe");
    if (file) {
        fprintf(file,
                "\t.section %s,\"a\",@note\n\t.balign 4\n"
                "\t.long %zu\n\t.long 4\n\t.long %d\n\t.asciz \"%s\"\n\t.balign 4\n\t.long %d\n"
                "\t.section .note.GNU-stack,\"\",@progbits\n",
                SSAN_NOTE_SECTION, sizeof SSAN_NOTE_NAME, SSAN_NOTE_TYPE, SSAN_NOTE_NAME,
                SSAN_NOTE_VERSION);
    }
    if (!file || fclose(file) != 0) {
        return ssan_fail(err, SSAN_IO, 0, "%s: %s", path, strerror(errno));
    }
    return SSAN_OK;
}

/* A library of ours (-lstreamsan-...) as the archive beside lib_dir, so that the program finds it
 * wherever it is run; NULL for other words. */
static const char *own_archive(struct cc_job *job, const char *lib_dir, const char *word)
{
    static const char prefix[] = "-lstreamsan-";
    const char *path;
    if (strncmp(word, prefix, sizeof prefix - 1) != 0) {
        return NULL;
    }
    path = words_text(&job->arena, "%s/../lib%s.a", lib_dir, word + 2);
    return path && access(path, R_OK) == 0 ? path : NULL;
}

static void add_items(struct cc_job *job, const char *lib_dir, struct words *command)
{
    for (size_t i = 0; i < job->items.count; i++) {
        const struct cc_item *item = &job->items.items[i];
        const char *own = item->is_word ? own_archive(job, lib_dir, item->text) : NULL;
        words_add(command, own ? own : item->is_word ? item->text : item->object);
    }
}

enum ssan_status link_program(const struct compiler *compiler, const char *lib_dir, int *exit_code,
                              struct ssan_error *err)
{
    static const char *const libraries[] = {"-lstdc++", "-lm", "-lpthread", "-ldl"};
    struct cc_job *job = compiler->job;
    const char *device = words_text(&job->arena, "%s/device.o", lib_dir);
    const char *note = session_file(compiler->session, &job->arena, "note", ".s", err);
    if (!device || !note) {
        return err && err->status != SSAN_OK ? err->status : SSAN_NO_MEMORY;
    }
    if (!job->shared && access(device, R_OK) != 0) {
        return ssan_fail(err, SSAN_MISSING, 0,
                         "%s: %s; the installation of streamsan is incomplete", device,
                         strerror(errno));
    }
    enum ssan_status status = write_note(note, err);
    if (status != SSAN_OK) {
        return status;
    }
    struct words command;
    words_init(&command, &job->arena);
    words_add(&command, compiler->clang->path);
    words_add(&command, "-Wno-unused-command-line-argument");
    add_items(job, lib_dir, &command);
    words_add(&command, note);
    if (!job->shared) {
        words_add(&command, device);
    }
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        words_add(&command, libraries[i]);
    }
    words_add(&command, "-o");
    words_add(&command, job->output ? job->output : "a.out");
    status = session_run(compiler->session, &command, exit_code, err);
    words_finish(&command);
    return status;
}
