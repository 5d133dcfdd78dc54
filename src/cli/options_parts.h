/* What the reading of options and the taking of their values share; for options.c and option_*.c
 * only. */
#ifndef SSAN_CLI_OPTIONS_PARTS_H
#define SSAN_CLI_OPTIONS_PARTS_H

#include "cli/options.h"

#include <errno.h>

/* The number of an option: its place in options.def behind KEY_FIRST. */
enum option_key {
    KEY_FIRST = 0x1000, /* above all letters */
#define OPTION(key, name, letter, argument, verbs, help) KEY_##key,
#include "cli/options.def"
#undef OPTION
    KEY_HELP,
    KEY_END
};

#define INFO_COUNT ((size_t)(KEY_HELP - KEY_FIRST - 1))

/* One reading of words, those of the environment or those of the command line. */
struct reading {
    struct options *options;
    enum verb_mask verb;
    bool defaults; /* the words are those of the environment */
    struct ssan_error *err;
    enum ssan_status status;
};

/* The option of a key that is one of options.def. */
const struct option_info *options_info(int key);

/* Keeps the words of a wrong use, from a format with two %s; returns EINVAL. */
error_t options_refuse(struct reading *reading, const char *format, const char *name,
                       const char *word);

/* Takes an option of this verb; `word` is NULL for one without a value. EINVAL: reading->status
 * says why not. */
error_t options_take(struct reading *reading, int key, const char *word);

/* option_devices.c: whether the word says how many virtual devices there are, and its number. */
bool options_is_several(const char *word);
error_t options_take_several(struct reading *reading, int key, const char *word);

/* A file that is written: `word` with %p and %q{NAME} filled in, into `*file`. The second refuses
 * "-". */
error_t options_take_name(struct reading *reading, int key, const char *word, const char **file);
error_t options_take_file(struct reading *reading, int key, const char *word, const char **file);

/* Numbers, into the last argument; a word that is none, or out of range, is refused. `range`:
 * whole, from `least` to `most`; `number`: from 1 on; `whole`: any of 64 bits; `size`: with K, M, G
 * or T behind it, bytes; `tolerance`: finite, 0 or more. */
error_t options_take_range(struct reading *reading, int key, const char *word, unsigned least,
                           unsigned most, unsigned *number);
error_t options_take_number(struct reading *reading, int key, const char *word, unsigned most,
                            unsigned *number);
error_t options_take_seconds(struct reading *reading, const char *word);
error_t options_take_size(struct reading *reading, int key, const char *word, uint64_t *size);
error_t options_take_whole(struct reading *reading, int key, const char *word, uint64_t *number);
error_t options_take_tolerance(struct reading *reading, int key, const char *word, double *number);

#endif
