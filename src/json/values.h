/* What every JSON document of the tool is made of: each function returns a new reference
 * (jansson's), NULL when out of memory. Any thread. */
#ifndef SSAN_JSON_VALUES_H
#define SSAN_JSON_VALUES_H

#include "base/strbuf.h"

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text of any bytes: what is no UTF-8 is made so, byte by byte, with '?'. NULL gives null. */
json_t *json_text(const char *text);
/* A list of texts, and of one whose end a NULL is; NULL itself gives an empty list. */
json_t *json_texts(const char *const *texts, size_t count);
json_t *json_words(const char *const *words);
/* Of what JSON has no room for, the largest number that it has. */
json_t *json_number(uint64_t number);
json_t *json_number_or_null(uint64_t number); /* 0 gives null */

/* Appends a document and a newline; takes it. False for NULL, a document for which there was no
 * memory, and when out of memory. */
bool json_print(struct strbuf *out, json_t *take_root);

#endif
