/* Small forms in the texts of a contract. Pure; any thread. */
#ifndef SSAN_CONTRACT_FORMS_H
#define SSAN_CONTRACT_FORMS_H

#include <stdbool.h>
#include <stddef.h>

/* All of the text as a finite number, as strtod reads it. */
bool forms_number(const char *text, double *number);

/* N of "virtual:N" at most, as `run` takes it (cmd_contract.c compares the two). */
#define FORMS_DEVICES_MOST 16

/* "virtual", "virtual:N" with N from 1 to FORMS_DEVICES_MOST, "gpu". */
bool forms_is_device(const char *text);

/* A relative path that stays below where it begins: no '..', no empty part, no '/' in front. */
bool forms_is_below(const char *path);

/* A name of letters, digits, '-', '_' and '.', 60 at most, that neither '.' nor '-' begins: it
 * becomes part of file names. */
bool forms_is_name(const char *text);

/* A file that streamsan writes into the folder of a run: what a program writes there under that
 * name is lost. */
bool forms_is_own_file(const char *path);

/* A key of KEY=VALUE in a program's output: letters, digits, '_', '-', '.'. */
bool forms_is_key(const char *text);

/* FILE:LINE, or FILE:/text/; both point into the text. */
struct forms_place {
    size_t file_length;
    const char *text; /* NULL: a line */
    size_t text_length;
    unsigned line;
};
bool forms_place(struct forms_place *place, const char *text);

/* The only line of a text, from 1, that holds `length` bytes of `wanted`; 0: none or several, and
 * `*count` says how many. */
unsigned forms_line_with(const char *text, const char *wanted, size_t length, unsigned *count);

#endif
