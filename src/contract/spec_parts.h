/* What the reading of a contract is made of; for spec*.c only. */
#ifndef SSAN_CONTRACT_SPEC_PARTS_H
#define SSAN_CONTRACT_SPEC_PARTS_H

#include "contract/spec.h"

#include <cyaml/cyaml.h>

extern const cyaml_schema_value_t spec_schema;

/* The keys of the mapping at a path such as "faults[1].caught", NULL behind the last; NULL where
 * there is none. The array is the caller's. */
#define SPEC_KEYS_MOST 16
bool spec_keys(const char *path, const char *keys[SPEC_KEYS_MOST + 1]);

/* What no schema says: words, references, places in texts. */
struct spec_checking {
    const struct spec *spec;
    const char *name; /* of the file */
    const char *const *checks;
    size_t check_count;
    struct ssan_error *err;
};
enum ssan_status spec_check(const struct spec_checking *checking);

/* Room for a path of the document. */
#define SPEC_PATH_ROOM 256

/* Fails with the line of a path in the document. */
#define SPEC_FAIL(checking, path, ...)                                                             \
    spec_blame((checking)->err, (checking)->spec, (checking)->name, path, __VA_ARGS__)

/* Names in braces that a text may hold: the axes of a matrix, with those that a fault adds (NULL:
 * none), and others. */
struct spec_known {
    const struct spec_over *over, *fault;
    bool program;
};

/* Whether no parameter may have that name, as all texts may hold it already. */
bool spec_text_is_own_name(const char *name);

/* spec_text.c: whether a text is what its key wants; `path` is its place in the document, `known`
 * the names that it may hold. SSAN_FORMAT: it is not, told with its line; SSAN_NO_MEMORY. */
typedef enum ssan_status spec_text_check(const struct spec_checking *checking, const char *path,
                                         const char *text, const struct spec_known *known);
spec_text_check spec_text_any;         /* any text */
spec_text_check spec_text_command;     /* any text, or "{macros}" */
spec_text_check spec_text_pattern;     /* an extended regular expression */
spec_text_check spec_text_number;      /* a finite number */
spec_text_check spec_text_below;       /* a file below the folder of the contract */
spec_text_check spec_text_macro;       /* NAME or NAME=VALUE */
spec_text_check spec_text_environment; /* NAME=VALUE */
spec_text_check spec_text_device;      /* a device */
spec_text_check spec_text_schedule;    /* a schedule; `run` knows more of its form */
spec_text_check spec_text_place;       /* FILE:LINE or FILE:/text/ */
spec_text_check spec_text_failing;     /* CALL[:N]=ERROR */
spec_text_check spec_text_rule;        /* the id of a check */
/* The same of each text of a list; `path` is the list's. */
enum ssan_status spec_text_list(const struct spec_checking *checking, const char *path,
                                const struct spec_list *list, const struct spec_known *known,
                                spec_text_check *check);

#endif
