/* `streamsan doctor`: what works on this machine, and what to install. */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/place.h"
#include "cli/program.h"

#include "cc/clang.h"

#include "symbol/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void row(const char *what, const char *state, const char *detail)
{
    printf("%-16s %-8s %s\n", what, state, detail);
}

static bool check_clang(void)
{
    struct session session;
    struct clang found;
    struct ssan_error err = {0};
    char detail[320];
    bool good;
    session_open(&session, false);
    good = clang_find(&session, &found, &err) == SSAN_OK;
    session_close(&session);
    if (good) {
        snprintf(detail, sizeof detail, "%s, version %d, with the NVPTX back end", found.path,
                 found.version);
    }
    row("compiler", good ? "ok" : "missing", good ? detail : err.text);
    return good;
}

static bool check_part(const char *what, const char *name)
{
    char folder[4200], path[4400];
    bool good = place_library(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/%s", good ? folder : "?", name);
    good = good && access(path, R_OK) == 0;
    row(what, good ? "ok" : "missing", good ? path : "build or install streamsan again");
    return good;
}

static bool check_folder(void)
{
    const char *base = getenv("TMPDIR");
    char path[4200];
    bool good;
    snprintf(path, sizeof path, "%s", base && *base ? base : "/tmp");
    good = access(path, W_OK | X_OK) == 0;
    row("live traces", good ? "ok" : "missing",
        good ? path : "set TMPDIR to a folder that can be written");
    return good;
}

static int doctor(const struct options *options)
{
    bool good;
    row("streamsan", "ok", STREAMSAN_VERSION);
    good = check_clang();
    good &= check_part("virtual device", "device.o");
    good &= check_part("CUDA headers", "include/cuda_runtime.h");
    good &= check_folder();
    row("source lines", "ok", symbols_library());
    row("GPU", program_gpu_is_there() ? "there" : "none",
        "not needed: kernels run on the virtual device; checking on a GPU is not there yet");
    return good ? 0 : ssan_status_exit_code(SSAN_MISSING);
}

int cmd_doctor(int argc, char **argv)
{
    const struct command command = {
        .verb = "doctor",
        .mask = VERB_NONE,
        .wants = WANTS_NOTHING,
        .act = doctor,
    };
    return command_run(&command, argc, argv);
}
