/* Runs a fuzz target over the files of a corpus directory: the plain test of each target.
 *
 * Usage: PROGRAM DIRECTORY. Prints how many inputs ran; an empty corpus is a failure, so that a
 * wrong path is noticed.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 1;
    }
    long size = ftell(file);
    rewind(file);
    /* Exactly as large as the input, so that a sanitizer sees what reads behind it. */
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    int failed = !data || size < 0 || fread(data, 1, (size_t)size, file) != (size_t)size;
    fclose(file);
    if (failed) {
        fprintf(stderr, "%s: cannot be read\n", path);
    } else {
        LLVMFuzzerTestOneInput(data, (size_t)size);
    }
    free(data);
    return failed;
}

int main(int argc, char **argv)
{
    DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
    const struct dirent *entry;
    int inputs = 0, failed = 0;
    if (!directory) {
        fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    while ((entry = readdir(directory))) {
        char path[PATH_MAX];
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
            failed += run_file(path);
            inputs++;
        }
    }
    closedir(directory);
    printf("%d inputs ran\n", inputs);
    return inputs == 0 || failed ? 1 : 0;
}
