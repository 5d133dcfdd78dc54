/* The result of a comparison as text and as JSON (docs/compare.schema.json). */
#ifndef SSAN_CLI_COMPARE_PRINT_H
#define SSAN_CLI_COMPARE_PRINT_H

#include "base/strbuf.h"
#include "compare/array.h"

/* Mismatches, one a line under a heading (`quiet`: not), and one line that says how it ended. */
void compare_print_text(struct strbuf *out, const struct array *a, const struct array *b,
                        const struct ssan_compare_options *how,
                        const struct ssan_compare_result *result, bool quiet);

/* False when out of memory. */
bool compare_print_json(struct strbuf *out, const struct array *a, const struct array *b,
                        const struct ssan_compare_options *options,
                        const struct ssan_compare_result *result);

/* The one line without its newline: "equal: 4096 elements of float32; max abs 0, ...". */
void compare_print_summary(struct strbuf *out, const struct ssan_compare_result *result,
                           const struct ssan_compare_options *how, enum ssan_compare_type type);

#endif
