/* Names of kernels and functions in few columns.
 *
 * C++ names say least in their template arguments and most in their last component, so that is what
 * stays. One thread. */
#ifndef SSAN_REPORT_NAMES_H
#define SSAN_REPORT_NAMES_H

#include "base/strbuf.h"

/* Appends a name, in at most so many columns where that is 8 or more. What does not fit is left out
 * in this order, with "..." in its place each time: parameters, template arguments, enclosing
 * namespaces and classes, the middle of the name itself: "...::scatter<...>", "scat...ter". A last
 * component that just fits stands without a mark. */
void names_shorten(struct strbuf *out, const char *name, size_t columns);

#endif
