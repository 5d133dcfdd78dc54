/* Variables as paths: a name with scopes, members, indices and calls without arguments, out of the
 * casts, brackets and wrappers around it.
 *
 * Pure text. What is more than a path it does not name. Any thread. */
#ifndef SSAN_CORE_EXPLAIN_PATH_H
#define SSAN_CORE_EXPLAIN_PATH_H

#include "core/explain_names.h"

/* One layer of casts, brackets or wrappers off; false when there is none. */
bool path_peel(struct names_span *span);
/* The path that a span is, without `this->`; `length` 0: it is none. */
struct names_span path_checked(struct names_span span);

#endif
