/* Steps of runs, hashed along equal beginnings; see determinism.h. */
#include "explore/determinism.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <string.h>

/* "prog.cu:34: the statement [bytes or blocks: 7]"; what is known of a step. */
static char *words_of(const struct model *model, const struct model_step *step)
{
    struct strbuf words = {0};
    const struct model_line *line = model_line(model, step->site);
    if (line) {
        const char *name = memrchr(line->file.ptr, '/', line->file.length);
        name = name ? name + 1 : line->file.ptr;
        strbuf_add(&words, name, (size_t)(line->file.ptr + line->file.length - name));
        strbuf_printf(&words, ":%u", line->line);
        if (line->text.length > 0) {
            strbuf_puts(&words, ": ");
            strbuf_add(&words, line->text.ptr, line->text.length);
        }
    } else {
        strbuf_printf(&words, "a call at event %llu of its trace",
                      (unsigned long long)step->position);
    }
    if (step->amount > 0) {
        strbuf_printf(&words, " [bytes or blocks: %llu]", (unsigned long long)step->amount);
    }
    return strbuf_take(&words);
}

static bool keep_words(struct determinism *determinism, const struct model *model,
                       const struct model_step *step)
{
    if (map_find(&determinism->texts, step->hash)) {
        return true;
    }
    char *words = words_of(model, step);
    if (!words || !VEC_PUSH(&determinism->kept, words)) {
        mem_free(words);
        return false;
    }
    return map_set(&determinism->texts, step->hash, determinism->kept.count - 1);
}

static bool tell(struct determinism *determinism, uint64_t expected, const struct model *model,
                 const struct model_step *step)
{
    const uint64_t *text = map_find(&determinism->texts, expected);
    determinism->expected =
        mem_strdup(text ? determinism->kept.items[*text] : "the end of the program");
    determinism->found = words_of(model, step);
    return determinism->expected && determinism->found;
}

bool determinism_take(struct determinism *determinism, const struct model *model)
{
    uint64_t sofar = 0;
    for (size_t i = 0; i < model->steps.count && !determinism->found; i++) {
        const struct model_step *step = &model->steps.items[i];
        if (step->kind == MODEL_STEP_CALL) {
            const uint64_t *known = map_find(&determinism->next, sofar);
            if (known && *known != step->hash) {
                return tell(determinism, *known, model, step);
            }
            if (!known && (!map_set(&determinism->next, sofar, step->hash) ||
                           !keep_words(determinism, model, step))) {
                return false;
            }
        }
        sofar = hash_mix(hash_mix(sofar, (uint64_t)step->kind), step->hash);
    }
    return true;
}

void determinism_finish(struct determinism *determinism)
{
    for (size_t i = 0; i < determinism->kept.count; i++) {
        mem_free(determinism->kept.items[i]);
    }
    VEC_FREE(&determinism->kept);
    map_finish(&determinism->next);
    map_finish(&determinism->texts);
    mem_free(determinism->expected);
    mem_free(determinism->found);
    *determinism = (struct determinism){0};
}
