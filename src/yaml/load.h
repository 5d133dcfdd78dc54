/* Reads a YAML document by a schema of libcyaml, and says in plain facts what does not fit. */
#ifndef SSAN_YAML_LOAD_H
#define SSAN_YAML_LOAD_H

#include "base/status.h"
#include "yaml/lines.h"

#include <cyaml/cyaml.h>

enum yaml_fault_kind {
    YAML_FAULT_UNKNOWN_KEY, /* `word` is no key there */
    YAML_FAULT_MISSING_KEY, /* `word` is needed there */
    YAML_FAULT_TWICE,       /* `word` stands there twice */
    YAML_FAULT_EMPTY,       /* a text or a list is shorter than it may be */
    YAML_FAULT_LONG,        /* a text or a list is longer than it may be */
    YAML_FAULT_WORD,        /* `word` is none of those that are taken */
    YAML_FAULT_NUMBER,      /* `word` is no number, or not one as it is wanted */
    YAML_FAULT_FORM         /* a text, a list or a mapping is wanted, and another stands there */
};

/* What the schema refuses. */
struct yaml_fault {
    enum yaml_fault_kind kind;
    char path[256]; /* of the mapping, list or value; "" is the document */
    char word[128];
    uint32_t line;
    const cyaml_schema_value_t *wanted; /* what belongs there, of a list that is too long the list
                                           itself; NULL: not known */
    enum yaml_form form;                /* YAML_FAULT_FORM: what stands there, if that is known */
};

/* Loads `text` into `*data` (and `*count`, for a list; else NULL); free with yaml_unload. Nothing
 * is loaded from an empty document: *data is NULL. `lines` is filled, and needs yaml_lines_finish
 * in any case. SSAN_FORMAT: no YAML (`position` of the error is the line), or, with an empty text
 * of the error, what `fault` says; SSAN_NO_MEMORY. */
enum ssan_status yaml_load(void **data, unsigned *count, const cyaml_schema_value_t *schema,
                           const char *text, size_t length, struct yaml_lines *lines,
                           struct yaml_fault *fault, struct ssan_error *err);

/* NULL is fine. */
void yaml_unload(const cyaml_schema_value_t *schema, void *data, unsigned count);

#endif
