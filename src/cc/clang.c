/* Finds a clang that can compile for the virtual device. */
#include "cc/clang.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"clang-19", "clang-18", "clang-17", "clang-16",
                                    "clang-15", "clang-14", "clang"};

/* The major version in "... clang version 14.0.6 ..."; 0 when there is none. */
static int parse_version(const char *text)
{
    static const char mark[] = "clang version ";
    const char *at = strstr(text, mark);
    return at ? atoi(at + sizeof mark - 1) : 0;
}

static bool is_usable(struct session *session, const char *name, int *version, bool *has_nvptx)
{
    /* With -v the version is told first, on standard error: one start of clang answers both. */
    const char *const command[] = {name, "-v", "--print-targets", NULL};
    char answer[16384];
    answer[0] = '\0';
    bool good = session_ask(session, command, answer, sizeof answer);
    *version = parse_version(answer);
    *has_nvptx = good && *version >= CLANG_OLDEST && strstr(answer, "nvptx64") != NULL;
    return *has_nvptx;
}

static enum ssan_status find_named(struct session *session, const char *name, struct clang *found,
                                   struct ssan_error *err)
{
    bool has_nvptx;
    if (strlen(name) >= sizeof found->path) {
        return ssan_fail(err, SSAN_MISSING, 0, "STREAMSAN_CLANG is too long");
    }
    if (is_usable(session, name, &found->version, &has_nvptx)) {
        snprintf(found->path, sizeof found->path, "%s", name);
        return SSAN_OK;
    }
    if (found->version == 0) {
        return ssan_fail(err, SSAN_MISSING, 0, "STREAMSAN_CLANG=%s is not a clang that runs", name);
    }
    if (found->version < CLANG_OLDEST) {
        return ssan_fail(err, SSAN_MISSING, 0,
                         "STREAMSAN_CLANG=%s is clang %d; %d or newer is needed", name,
                         found->version, CLANG_OLDEST);
    }
    return ssan_fail(err, SSAN_MISSING, 0,
                     "STREAMSAN_CLANG=%s has no NVPTX back end (see `%s --print-targets`)", name,
                     name);
}

enum ssan_status clang_find(struct session *session, struct clang *found, struct ssan_error *err)
{
    const char *named = getenv("STREAMSAN_CLANG");
    if (named && *named) {
        return find_named(session, named, found, err);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool has_nvptx;
        if (is_usable(session, names[i], &found->version, &has_nvptx)) {
            snprintf(found->path, sizeof found->path, "%s", names[i]);
            return SSAN_OK;
        }
    }
    return ssan_fail(err, SSAN_MISSING, 0,
                     "no clang of version %d or newer with the NVPTX back end was found; "
                     "install one: apt install clang (STREAMSAN_CLANG names another)",
                     CLANG_OLDEST);
}
