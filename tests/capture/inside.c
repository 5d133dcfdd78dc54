/* The library's parts inside the program, so that the build's sanitizers see them at work: threads,
 * host functions, drains, exits and forks on the fake driver.
 *
 * Runs each named scenario of program/ in a process of its own, with a session that nobody reads
 * but this: the trace must have been written. What it holds is compared elsewhere (run_capture.py).
 */
#include "capture/program/program.h"

#include "trace/control_abi.h"
#include "trace/observe_plan.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool write_file(const char *folder, const char *name, const void *bytes, size_t size)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    bool is_written = out && fwrite(bytes, size, 1, out) == 1;
    return out && fclose(out) == 0 && is_written;
}

/* A session as the tool makes it; `folder` is a name for mkdtemp. Little memory of the device is
 * used, so that launches run out of it. */
static bool make_session(char *folder)
{
    static const struct control_page page = {.magic = CONTROL_MAGIC, .version = CONTROL_VERSION};
    static const char plan[] =
        OBSERVE_FIRST_LINE "\naccesses exact\ndevice-memory 4194304\ngate s1.1:s2.1\n";
    return mkdtemp(folder) && write_file(folder, CONTROL_FILE, &page, sizeof(page)) &&
           write_file(folder, OBSERVE_FILE, plan, sizeof(plan) - 1) &&
           !setenv(CONTROL_ENV, folder, 1);
}

/* Removes the session; the bytes of traces that it held. */
static long end_session(const char *folder)
{
    char pattern[512];
    long bytes = 0;
    glob_t found;
    snprintf(pattern, sizeof(pattern), "%s/*", folder);
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            struct stat about;
            bool is_trace = strstr(found.gl_pathv[i], CONTROL_SUFFIX) != NULL;
            if (is_trace && stat(found.gl_pathv[i], &about) == 0) {
                bytes += about.st_size;
            }
            unlink(found.gl_pathv[i]);
        }
        globfree(&found);
    }
    rmdir(folder);
    return bytes;
}

static int run(const char *self, const char *scenario)
{
    const char *below = getenv("TMPDIR");
    char folder[256];
    int status = -1;
    snprintf(folder, sizeof(folder), "%s/streamsan-inside-XXXXXX", below ? below : "/tmp");
    if (!make_session(folder)) {
        fprintf(stderr, "no session in %s\n", folder);
        return 1;
    }
    pid_t child = fork();
    if (child == 0) {
        execl(self, self, "--scenario", scenario, (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    long bytes = end_session(folder);
    bool is_well = WIFEXITED(status) && WEXITSTATUS(status) == 0 && bytes > 0;
    printf("%s: status %d, %ld bytes of trace%s\n", scenario, status, bytes,
           is_well ? "" : ": wrong");
    return is_well ? 0 : 1;
}

int main(int count, char **words)
{
    int wrong = 0;
    if (count == 3 && !strcmp(words[1], "--scenario")) {
        return program_run(words[2]);
    }
    for (int i = 1; i < count; i++) {
        wrong += run(words[0], words[i]);
    }
    printf("%d of %d as they should be\n", count - 1 - wrong, count - 1);
    return wrong || count < 2;
}
