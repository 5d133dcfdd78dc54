/* `streamsan doctor`: what works on this machine, and what to install. */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/gpu.h"
#include "cli/options.h"
#include "cli/place.h"

#include "cc/clang.h"

#include "symbol/symbols.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* A folder made by `make carry` holds nothing for the virtual device, by design. */
static bool is_carried(void)
{
    char folder[4200], path[4400];
    bool found = place_library(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/device.o", found ? folder : "?");
    found = found && access(path, F_OK) != 0;
    snprintf(path, sizeof path, "%s/include", folder);
    return found && access(path, F_OK) != 0 && gpu_is_there();
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
    const char *folder = file_temporary_folder();
    const bool good = access(folder, W_OK | X_OK) == 0;
    row("live traces", good ? "ok" : "missing",
        good ? folder : "set TMPDIR to a folder that can be written");
    return good;
}

/* Only where a GPU is there does it matter whether the rest is. */
static const char *state_of(bool good, bool needed)
{
    return good ? "ok" : needed ? "missing" : "none";
}

/* A message of several lines in the rows that it takes. */
static void detail_rows(const char *what, const char *state, const char *text)
{
    while (*text) {
        char line[600];
        size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        row(what, state, line);
        what = state = "";
        text += length + (text[length] == '\n');
    }
}

/* What in the environment stands in the way of the injected library. */
static bool check_clashes(void)
{
    static const char *const clashes[][2] = {
        {"CUDA_LAUNCH_BLOCKING", "is set: it orders all launches, and hides what is looked for"},
        {"CUDA_INJECTION64_PATH", "is set: another tool's library; streamsan sets its own instead"},
        {"NVTX_INJECTION64_PATH", "is set: another tool's library; streamsan sets its own instead"},
    };
    bool good = true;
    size_t i;
    for (i = 0; i < sizeof clashes / sizeof *clashes; i++) {
        const char *value = getenv(clashes[i][0]);
        if (value && *value) {
            char detail[200];
            snprintf(detail, sizeof detail, "%s %s", clashes[i][0], clashes[i][1]);
            row("environment", "clash", detail);
            good = false;
        }
    }
    return good;
}

static bool check_gpu_parts(bool needed)
{
    char path[GPU_PATH_ROOM];
    struct ssan_error err = {0};
    bool good = true, found;
    found = gpu_find_capture(path, &err) == SSAN_OK;
    row("GPU library", state_of(found, needed), found ? path : err.text);
    good &= found;
    found = gpu_find_patches(path);
    row("device patches", state_of(found, needed),
        found ? path : "'make capture' builds them with nvcc: without them accesses are not seen");
    good &= found;
    found = gpu_find_gate(path);
    row("device gate", state_of(found, needed),
        found ? path : "'make capture' builds it: --gate and witness --device gpu need it");
    good &= found;
    found = gpu_find_sanitizer(path, &err) == SSAN_OK;
    detail_rows("Sanitizer", state_of(found, needed), found ? path : err.text);
    return good && found;
}

static bool check_gpu(void)
{
    struct strbuf models = {0};
    struct ssan_error err = {0};
    char version[64], detail[400];
    bool there = gpu_is_there(), good = true;
    gpu_models(&models);
    row("GPU", there ? "ok" : "none",
        models.length > 0 ? strbuf_text(&models)
        : there           ? "its model can't be told"
                          : "not needed: programs of 'streamsan cc' run on the virtual device");
    strbuf_finish(&models);
    if (there) {
        good = gpu_check_driver(version, &err) == SSAN_OK;
        snprintf(detail, sizeof detail, "%s", version[0] ? version : "its version can't be told");
        row("driver", good ? "ok" : "old", good ? detail : err.text);
    }
    good &= check_gpu_parts(there) || !there;
    return check_clashes() && good;
}

static int doctor(const struct options *options)
{
    bool good = true;
    row("streamsan", "ok", STREAMSAN_VERSION);
    if (is_carried()) {
        row("virtual device", "none", "not in this folder, which was made for a GPU");
    } else {
        good = check_clang();
        good &= check_part("virtual device", "device.o");
        good &= check_part("CUDA headers", "include/cuda_runtime.h");
    }
    good &= check_folder();
    row("source lines", "ok", symbols_library());
    good &= check_gpu();
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
