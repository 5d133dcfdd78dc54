/* Looks up lines in the debug info of the executable, where the calls are that the device leaves
 * out or waits behind. Calls of shared libraries have no such name here. */
#include "cli/plan_words.h"

#include "cli/program.h"
#include "symbol/object.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct adding {
    struct plan *plan;
    enum plan_use use;
    const char *module;
    bool failed;
};

static void add_range(void *self, uint64_t begin, uint64_t end)
{
    struct adding *adding = self;
    struct plan_place place = {adding->use, mem_strdup(adding->module), begin, end};
    if (!place.module || !VEC_PUSH(&adding->plan->places, place)) {
        mem_free(place.module);
        adding->failed = true;
    }
}

static const char *option_word(enum plan_use use)
{
    return use == PLAN_IGNORE ? "--ignore" : "--serialize";
}

static enum ssan_status nothing_there(enum plan_use use, const char *program, const char *file,
                                      uint32_t line, uint32_t nearest, struct ssan_error *err)
{
    char near[64] = "it has no line of that file";
    if (nearest > 0) {
        snprintf(near, sizeof near, "the nearest line with code is %" PRIu32, nearest);
    }
    return ssan_fail(err, SSAN_USAGE, 0, "%s %s:%" PRIu32 ": %s has no code there: %s",
                     option_word(use), file, line, program, near);
}

enum ssan_status plan_words_add_line(struct plan *plan, enum plan_use use, const char *program,
                                     const char *file, uint32_t line, struct ssan_error *err)
{
    char path[4096], real[4096], build_id[OBJECT_BUILD_ID_ROOM];
    struct adding adding = {plan, use, NULL, false};
    struct object *object;
    enum ssan_status status = SSAN_OK;
    uint32_t nearest = 0;
    size_t found;
    if (!program_find(program, path, sizeof path) || !realpath(path, real)) {
        return ssan_fail(err, SSAN_IO, 0, "%s can't be read", program);
    }
    adding.module = strrchr(real, '/') + 1;
    object_read_build_id(real, build_id, sizeof build_id);
    object = object_open(real, build_id);
    if (!object) {
        return ssan_no_memory(err);
    }
    found = object_find_line(object, file, line, add_range, &adding, &nearest);
    if (object_state(object) != OBJECT_GOOD) {
        status = ssan_fail(err, SSAN_USAGE, 0,
                           "%s %s:%" PRIu32 ": %s is no program with lines; give the program "
                           "itself, built by 'streamsan cc'",
                           option_word(use), file, line, program);
    } else if (adding.failed) {
        status = ssan_no_memory(err);
    } else if (found == 0) {
        status = nothing_there(use, program, file, line, nearest, err);
    }
    object_close(object);
    return status;
}

static enum ssan_status add_word(struct plan *plan, enum plan_use use, const char *program,
                                 const char *word, struct ssan_error *err)
{
    const char *colon = strrchr(word, ':');
    char *file, *end = NULL;
    unsigned long line;
    enum ssan_status status;
    if (!colon || colon == word || !isdigit((unsigned char)colon[1])) {
        return ssan_fail(err, SSAN_USAGE, 0, "%s takes %sFILE:LINE, not '%s'", option_word(use),
                         use == PLAN_SERIALIZE ? "all, a stream as s2, or " : "", word);
    }
    line = strtoul(colon + 1, &end, 10);
    if (*end != '\0' || line == 0 || line > UINT32_MAX) {
        return ssan_fail(err, SSAN_USAGE, 0, "%s %s: '%s' is no line", option_word(use), word,
                         colon + 1);
    }
    file = mem_strndup(word, (size_t)(colon - word));
    if (!file) {
        return ssan_no_memory(err);
    }
    status = plan_words_add_line(plan, use, program, file, (uint32_t)line, err);
    mem_free(file);
    return status;
}

static enum ssan_status add_serialize(struct plan *plan, const char *program, const char *word,
                                      struct ssan_error *err)
{
    uint32_t stream;
    if (strcmp(word, "all") == 0) {
        plan->serialize_all = true;
        return SSAN_OK;
    }
    if (plan_stream_read(word, &stream)) {
        return VEC_PUSH(&plan->serialize_streams, stream) ? SSAN_OK : ssan_no_memory(err);
    }
    return add_word(plan, PLAN_SERIALIZE, program, word, err);
}

static enum ssan_status note(struct plan *plan, const char *option, const char *word,
                             struct ssan_error *err)
{
    char text[600];
    snprintf(text, sizeof text, "%s %.500s", option, word);
    return plan_add_note(plan, text) ? SSAN_OK : ssan_no_memory(err);
}

static enum ssan_status add_fail(struct plan *plan, const char *word, struct ssan_error *err)
{
    struct ssan_error reason = {0};
    enum ssan_status status = plan_add_fail(plan, word, &reason);
    return status ? ssan_fail(err, status, 0, "--fail: %.480s", reason.text) : SSAN_OK;
}

enum ssan_status plan_words_apply(struct plan *plan, const char *program,
                                  struct plan_word_list ignore, struct plan_word_list serialize,
                                  struct plan_word_list fail, struct ssan_error *err)
{
    enum ssan_status status = SSAN_OK;
    for (size_t i = 0; status == SSAN_OK && i < ignore.count; i++) {
        status = add_word(plan, PLAN_IGNORE, program, ignore.items[i], err);
        status = status ? status : note(plan, "--ignore", ignore.items[i], err);
    }
    for (size_t i = 0; status == SSAN_OK && i < serialize.count; i++) {
        status = add_serialize(plan, program, serialize.items[i], err);
        status = status ? status : note(plan, "--serialize", serialize.items[i], err);
    }
    for (size_t i = 0; status == SSAN_OK && i < fail.count; i++) {
        status = add_fail(plan, fail.items[i], err);
        status = status ? status : note(plan, "--fail", fail.items[i], err);
    }
    return status;
}
