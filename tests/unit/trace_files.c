/* Files of the trace tests. Failures here are faults of the machine and end the test by assert. */
#include "unit/trace_files.h"

#include "unit/trace_random.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef NDEBUG
#include <assert.h>

void files_init(struct files *files)
{
    const char *base = getenv("TMPDIR");
    if (!base || !*base) {
        base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : P_tmpdir; /* thousands of small files */
    }
    snprintf(files->directory, sizeof files->directory, "%s/ssan-trace-XXXXXX", base);
    assert(mkdtemp(files->directory));
}

void files_finish(struct files *files)
{
    DIR *directory = opendir(files->directory);
    assert(directory);
    const struct dirent *entry;
    while ((entry = readdir(directory))) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            unlinkat(dirfd(directory), entry->d_name, 0);
        }
    }
    closedir(directory);
    assert(rmdir(files->directory) == 0);
}

const char *files_path(const struct files *files, const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", files->directory, name);
    return path;
}

const char *files_live(const struct files *files, long pid)
{
    char name[40];
    snprintf(name, sizeof name, "%ld.live", pid);
    return files_path(files, name);
}

unsigned char *files_read(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    assert(file);
    assert(fseek(file, 0, SEEK_END) == 0);
    *length = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*length + 1);
    assert(bytes && fread(bytes, 1, *length, file) == *length);
    fclose(file);
    return bytes;
}

void files_write(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert(file && fwrite(bytes, 1, length, file) == length);
    assert(fclose(file) == 0);
}

void files_keep(const char *path, const struct ssan_event *events, size_t count, bool whole)
{
    struct keeper *keeper;
    assert(keeper_open(&keeper, path, NULL) == SSAN_OK);
    for (size_t i = 0; i < count; i++) {
        keeper_put(keeper, &events[i]);
    }
    assert(keeper_close(keeper, whole, NULL) == SSAN_OK);
}

struct outcome files_outcome(const char *path, const struct ssan_event *expected, size_t count)
{
    struct outcome outcome = {.end = SSAN_NEXT_EVENT};
    struct reader *reader;
    struct ssan_event event;
    outcome.opened = reader_open(&reader, path, &outcome.error);
    if (outcome.opened != SSAN_OK) {
        return outcome;
    }
    enum ssan_next got;
    while ((got = ssan_next(reader_source(reader), &event, &outcome.error)) == SSAN_NEXT_EVENT) {
        if (event.kind == SSAN_EV_lost && !(expected && outcome.events < count &&
                                            event_equal(&event, &expected[outcome.events]))) {
            outcome.lost += event.lost.count;
        } else if (expected &&
                   (outcome.events == count || !event_equal(&event, &expected[outcome.events]))) {
            break;
        } else {
            outcome.events++;
        }
    }
    outcome.end = got;
    reader_close(reader);
    return outcome;
}
