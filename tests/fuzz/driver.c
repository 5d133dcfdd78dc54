/* Runs a fuzz target over the files of corpus directories: the plain test of each target.
 *
 * Usage: PROGRAM DIRECTORY... Prints how many inputs ran; an empty corpus is a failure, so that a
 * wrong path is noticed.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* False when the directory can't be read or holds nothing. */
static bool run_directory(const char *path, int *inputs)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    int here = 0, failed = 0;
    while (directory && (entry = readdir(directory))) {
        char file[PATH_MAX];
        struct stat stat_of;
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (stat(file, &stat_of) == 0 && S_ISREG(stat_of.st_mode)) {
            failed += run_file(file);
            here++;
        }
    }
    if (directory) {
        closedir(directory);
    }
    if (here == 0) {
        fprintf(stderr, "%s: no inputs\n", path);
    }
    *inputs += here;
    return here > 0 && failed == 0;
}

int main(int argc, char **argv)
{
    int inputs = 0;
    bool good = argc > 1;
    for (int i = 1; i < argc; i++) {
        good = run_directory(argv[i], &inputs) && good;
    }
    printf("%d inputs ran\n", inputs);
    return good ? 0 : 1;
}
