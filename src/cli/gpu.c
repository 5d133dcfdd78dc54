/* Looks for the parts of a run on a GPU in the file system.
 *
 * A toolkit and a wheel of Python hold the Sanitizer library in different folders, and so do their
 * versions; `inside` lists all of them. Roots are tried from what the user named to what is usual.
 * Cost: some tens of look-ups. */
#include "cli/gpu.h"

#include "cli/place.h"
#include "cli/program.h"

#include <ctype.h>
#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_ROOM 4096

/* Below a root: a toolkit, or a folder of an unpacked wheel. */
static const char *const inside[] = {
    "",
    "compute-sanitizer/",
    "lib/",
    "lib64/",
    "nvidia/cu13/lib/",
    "nvidia/cu13/compute-sanitizer/",
    "nvidia/cuda_sanitizer_api/lib/",
    "nvidia/cuda_sanitizer_api/compute-sanitizer/",
};

/* Roots that the environment names, in order; the second of a pair stands behind it. */
static const char *const named_roots[][2] = {
    {"SANITIZER_API", ""},
    {"CUDA_HOME", ""},
    {"CUDA_PATH", ""},
    {"VIRTUAL_ENV", "/lib/python3*/site-packages"},
    {"CONDA_PREFIX", ""},
    {"CONDA_PREFIX", "/lib/python3*/site-packages"},
    {"HOME", "/.local/lib/python3*/site-packages"},
};

static const char *const usual_roots[] = {
    "/usr/local/cuda",
    "/usr/local/cuda-*",
    "/opt/cuda",
    "/usr/local/lib/python3*/*-packages",
    "/usr/lib/python3*/*-packages",
    "/usr/lib/nvidia-cuda-toolkit",
};

/* The beginning of a file that stands in /proc or is short. */
static bool read_text(const char *path, char text[TEXT_ROOM])
{
    FILE *file = fopen(path, "re");
    size_t length;
    if (!file) {
        return false;
    }
    length = fread(text, 1, TEXT_ROOM - 1, file);
    text[length] = '\0';
    fclose(file);
    return length > 0;
}

bool gpu_is_there(void)
{
    static const char *const folders[] = {
        "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
        "/usr/lib/wsl/lib",          "/usr/local/nvidia/lib64",    "/usr/lib",
        "/usr/local/cuda/compat",
    };
    size_t i;
    if (getenv("STREAMSAN_TEST_GPU")) {
        return true;
    }
    if (access("/dev/nvidiactl", R_OK | W_OK) != 0 && access("/dev/dxg", R_OK | W_OK) != 0) {
        return false;
    }
    if (access("/proc/driver/nvidia/version", R_OK) == 0) {
        return true;
    }
    for (i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/libcuda.so.1", folders[i]);
        if (access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

/* The version in the name of a toolkit's folder, /usr/local/cuda-12.2/...: false when it has none
 * or it is new enough. */
static bool is_too_old(const char *path)
{
    const char *name = strstr(path, "/cuda-");
    int major, minor, least_major, least_minor;
    if (!name || sscanf(name, "/cuda-%d.%d", &major, &minor) != 2 ||
        sscanf(GPU_LEAST_TOOLKIT, "%d.%d", &least_major, &least_minor) != 2) {
        return false;
    }
    return major < least_major || (major == least_major && minor < least_minor);
}

/* The library below one root; `old` takes one that is too old. */
static bool look_below(const char *root, char path[GPU_PATH_ROOM], char old[GPU_PATH_ROOM])
{
    size_t i;
    for (i = 0; i < sizeof inside / sizeof *inside; i++) {
        char name[GPU_PATH_ROOM], *whole;
        if ((size_t)snprintf(name, sizeof name, "%s/%s" GPU_SANITIZER_LIBRARY, root, inside[i]) >=
            sizeof name) {
            continue;
        }
        whole = access(name, R_OK) == 0 ? realpath(name, NULL) : NULL;
        if (whole && strlen(whole) < GPU_PATH_ROOM) {
            bool good = !is_too_old(whole);
            strcpy(good ? path : old, whole);
            free(whole);
            if (good) {
                return true;
            }
        } else {
            free(whole);
        }
    }
    return false;
}

/* The same below all that fit `pattern`, the last by name first: the newest. */
static bool look_in(const char *pattern, char path[GPU_PATH_ROOM], char old[GPU_PATH_ROOM])
{
    glob_t found;
    size_t i;
    bool good = false;
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (i = found.gl_pathc; i > 0 && !good; i--) {
            good = look_below(found.gl_pathv[i - 1], path, old);
        }
        globfree(&found);
    }
    return good;
}

static bool look_in_named(char path[GPU_PATH_ROOM], char old[GPU_PATH_ROOM])
{
    size_t i;
    for (i = 0; i < sizeof named_roots / sizeof *named_roots; i++) {
        const char *root = getenv(named_roots[i][0]);
        char pattern[GPU_PATH_ROOM];
        if (root && *root &&
            (size_t)snprintf(pattern, sizeof pattern, "%s%s", root, named_roots[i][1]) <
                sizeof pattern &&
            look_in(pattern, path, old)) {
            return true;
        }
    }
    return false;
}

/* Below the folder that holds bin/<program>, as PATH finds it; `resolve`: behind links. */
static bool look_beside(const char *program, bool resolve, const char *behind,
                        char path[GPU_PATH_ROOM], char old[GPU_PATH_ROOM])
{
    char name[GPU_PATH_ROOM], root[GPU_PATH_ROOM + 64], *whole = NULL, *slash;
    bool good = false;
    if (!program_find(program, name, sizeof name)) {
        return false;
    }
    if (resolve && !(whole = realpath(name, NULL))) {
        return false;
    }
    snprintf(root, sizeof root, "%s", whole ? whole : name);
    free(whole);
    slash = strrchr(root, '/');
    if (slash) {
        *slash = '\0';
        slash = strrchr(root, '/');
    }
    if (slash) {
        snprintf(slash, (size_t)(root + sizeof root - slash), "%s", behind);
        good = look_in(root, path, old);
    }
    return good;
}

static bool look_in_usual(char path[GPU_PATH_ROOM], char old[GPU_PATH_ROOM])
{
    size_t i;
    for (i = 0; i < sizeof usual_roots / sizeof *usual_roots; i++) {
        if (look_in(usual_roots[i], path, old)) {
            return true;
        }
    }
    return false;
}

enum ssan_status gpu_find_sanitizer(char path[GPU_PATH_ROOM], struct ssan_error *err)
{
    const char *named = getenv(GPU_SANITIZER_ENV);
    char ours[4200], old[GPU_PATH_ROOM] = "", *whole;
    if (named && *named) {
        whole = access(named, R_OK) == 0 ? realpath(named, NULL) : NULL;
        if (!whole || strlen(whole) >= GPU_PATH_ROOM) {
            free(whole);
            return ssan_fail(err, SSAN_MISSING, 0,
                             GPU_SANITIZER_ENV " names '%.300s', which can't be read", named);
        }
        strcpy(path, whole);
        free(whole);
        return SSAN_OK;
    }
    if (look_in_named(path, old) ||
        (place_library(ours, sizeof ours) && look_below(ours, path, old)) ||
        look_beside("nvcc", true, "", path, old) ||
        look_beside("python3", false, "/lib/python3*/site-packages", path, old) ||
        look_in_usual(path, old)) {
        return SSAN_OK;
    }
    if (old[0]) {
        return ssan_fail(err, SSAN_MISSING, 0,
                         "'%.200s' is older than CUDA " GPU_LEAST_TOOLKIT
                         ", the oldest that works.\n"
                         "Install a newer toolkit, or 'pip install nvidia-cuda-sanitizer-api'.",
                         old);
    }
    return ssan_fail(err, SSAN_MISSING, 0,
                     "NVIDIA's " GPU_SANITIZER_LIBRARY " was not found, which checking on a GPU "
                     "needs.\nIt comes with the CUDA toolkit (" GPU_LEAST_TOOLKIT
                     " or newer) and with 'pip install nvidia-cuda-sanitizer-api'; 'make capture' "
                     "fetches it.\nCUDA_HOME names the folder of a toolkit, " GPU_SANITIZER_ENV
                     " the library itself.");
}

enum ssan_status gpu_find_capture(char path[GPU_PATH_ROOM], struct ssan_error *err)
{
    char folder[4000];
    if (place_library(folder, sizeof folder)) {
        snprintf(path, GPU_PATH_ROOM, "%s/capture.so", folder);
        if (access(path, R_OK) == 0) {
            return SSAN_OK;
        }
    }
    return ssan_fail(err, SSAN_MISSING, 0,
                     "streamsan's own library for GPUs (capture.so) is missing: build or install "
                     "streamsan again");
}

static bool find_code(const char *name, char path[GPU_PATH_ROOM])
{
    char folder[4000];
    if (!place_library(folder, sizeof folder)) {
        path[0] = '\0';
        return false;
    }
    snprintf(path, GPU_PATH_ROOM, "%s/%s", folder, name);
    return access(path, R_OK) == 0;
}

bool gpu_find_patches(char path[GPU_PATH_ROOM])
{
    return find_code("patches.fatbin", path);
}

bool gpu_find_gate(char path[GPU_PATH_ROOM])
{
    return find_code("gate.fatbin", path);
}

enum ssan_status gpu_check_driver(char version[64], struct ssan_error *err)
{
    char text[TEXT_ROOM], *at;
    version[0] = '\0';
    if (!read_text("/proc/driver/nvidia/version", text)) {
        return SSAN_OK;
    }
    /* "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build ..." */
    for (at = text; *at && *at != '\n'; at++) {
        if (isdigit((unsigned char)*at) && (at == text || isspace((unsigned char)at[-1])) &&
            at[strspn(at, "0123456789")] == '.') {
            snprintf(version, 64, "%.*s", (int)strspn(at, "0123456789."), at);
            break;
        }
    }
    if (version[0] && atoi(version) < GPU_LEAST_DRIVER) {
        return ssan_fail(err, SSAN_MISSING, 0,
                         "the driver %s is older than that of CUDA " GPU_LEAST_TOOLKIT
                         ", the oldest that works: install %d or newer",
                         version, GPU_LEAST_DRIVER);
    }
    return SSAN_OK;
}

enum ssan_status gpu_find(struct gpu_parts *parts, struct ssan_error *err)
{
    char version[64];
    enum ssan_status status = gpu_find_capture(parts->capture, err);
    if (!status) {
        status = gpu_check_driver(version, err);
    }
    if (!status) {
        status = gpu_find_sanitizer(parts->sanitizer, err);
    }
    return status;
}

void gpu_models(struct strbuf *out)
{
    glob_t found;
    size_t i;
    if (glob("/proc/driver/nvidia/gpus/*/information", 0, NULL, &found) != 0) {
        return;
    }
    for (i = 0; i < found.gl_pathc; i++) {
        char text[TEXT_ROOM];
        const char *model;
        if (read_text(found.gl_pathv[i], text) && (model = strstr(text, "Model:"))) {
            model += sizeof "Model:" - 1;
            model += strspn(model, " \t");
            strbuf_printf(out, "%s%.*s", out->length > 0 ? ", " : "", (int)strcspn(model, "\n"),
                          model);
        }
    }
    globfree(&found);
}
