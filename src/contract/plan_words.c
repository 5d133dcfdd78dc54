/* Words of a command, with the values of a run in the place of names. */
#include "contract/plan_parts.h"

#include "contract/expand.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *find_value(const void *self, const char *name, size_t length)
{
    const struct making *making = self;
    const struct {
        const char *name, *value;
    } own[] = {{"repeat", making->repeat},
               {"program", making->program},
               {"sources", making->sources},
               {"folder", making->options->folder}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (strlen(own[i].name) == length && memcmp(own[i].name, name, length) == 0) {
            return own[i].value;
        }
    }
    return matrix_value(&making->plan->matrices.items[making->run->matrix], making->run->row, name,
                        length);
}

enum ssan_status plan_expand(struct strbuf *out, const struct making *making, const char *text,
                             struct ssan_error *err)
{
    const struct expand_names names = {find_value, making};
    return expand(out, text, &names, err);
}

enum ssan_status contract_plan_expand(struct strbuf *out, const struct contract_plan *plan,
                                      const struct plan_options *options,
                                      const struct plan_run *run, const char *text,
                                      struct ssan_error *err)
{
    struct making making = {.plan = (struct contract_plan *)plan,
                            .options = options,
                            .run = run,
                            .sources = RUN_SOURCES,
                            .err = err};
    snprintf(making.repeat, sizeof making.repeat, "%u", run->repeat);
    return plan_expand(out, &making, text, err);
}

void plan_words_add(struct plan_words *words, const char *word)
{
    words->failed |= !word || !VEC_PUSH(&words->list, word);
}

void plan_words_print(struct plan_words *words, struct contract_plan *plan, const char *format, ...)
{
    struct strbuf text = {0};
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    plan_words_add(words, strbuf_keep(&text, &plan->arena));
}

enum ssan_status plan_words_list(struct plan_words *words, const struct making *making,
                                 const char *path, const struct spec_list *list, const char *option)
{
    for (unsigned i = 0; i < list->count; i++) {
        struct strbuf text = {0};
        struct ssan_error inner = {0};
        strbuf_puts(&text, option ? option : "");
        const enum ssan_status status = plan_expand(&text, making, list->items[i], &inner);
        if (status == SSAN_FORMAT) {
            strbuf_finish(&text);
            return spec_blame(making->err, making->spec, making->options->spec_name, path, "%s",
                              inner.text);
        }
        plan_words_add(words, strbuf_keep(&text, &making->plan->arena));
    }
    return SSAN_OK;
}

enum ssan_status plan_words_end(struct plan_words *words, struct contract_plan *plan,
                                struct command_line *command, struct ssan_error *err)
{
    const size_t count = words->list.count;
    const char **kept =
        words->failed ? NULL : arena_alloc(&plan->arena, (count + 1) * sizeof *kept);
    if (kept) {
        if (count) {
            memcpy(kept, words->list.items, count * sizeof *kept);
        }
        kept[count] = NULL;
        *command = (struct command_line){kept, count};
    }
    VEC_FREE(&words->list);
    return kept ? SSAN_OK : ssan_no_memory(err);
}
