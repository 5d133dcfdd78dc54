/* What the files of a plan share: plan.c (which builds and runs there are), plan_commands.c (their
 * commands), plan_words.c (the words of these). */
#ifndef SSAN_CONTRACT_PLAN_PARTS_H
#define SSAN_CONTRACT_PLAN_PARTS_H

#include "contract/plan.h"

#define RUN_SOURCES "../../sources"

/* A run while its commands are written. */
struct making {
    struct contract_plan *plan;
    const struct spec *spec;
    const struct plan_options *options;
    const struct plan_run *run;
    const char *program; /* NULL: none yet */
    const char *sources; /* from where the command runs */
    char repeat[16];
    struct ssan_error *err;
};

/* Words of a command; `failed` when out of memory. */
struct plan_words {
    VEC(const char *) list;
    bool failed;
};

void plan_words_add(struct plan_words *words, const char *word);
void plan_words_print(struct plan_words *words, struct contract_plan *plan, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The words of a list with their values; `option` (may be NULL) and the word are one, `path` is
 * that of the list in the document. */
enum ssan_status plan_words_list(struct plan_words *words, const struct making *making,
                                 const char *path, const struct spec_list *list,
                                 const char *option);
/* Moves the words into the arena, with the NULL behind them. */
enum ssan_status plan_words_end(struct plan_words *words, struct contract_plan *plan,
                                struct command_line *command, struct ssan_error *err);
/* A text with the values of a run. */
enum ssan_status plan_expand(struct strbuf *out, const struct making *making, const char *text,
                             struct ssan_error *err);

/* The command that makes the program; `output` is where. */
enum ssan_status plan_write_build(const struct making *making, bool gpu, const char *output,
                                  struct command_line *command);
/* The command of a run; its program is that of its build. */
enum ssan_status plan_write_run(struct making *making, const char *device, const char *schedule,
                                struct command_line *command);

#endif
