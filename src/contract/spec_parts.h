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

#endif
