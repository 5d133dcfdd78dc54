/* The plain part of mangled names, for programs without a demangler of their own.
 *
 * No more is read than what patterns for names of kernels need: namespaces and the function's name;
 * template arguments are left out. Any thread; nothing is allocated. */
#ifndef SSAN_TRACE_MANGLED_H
#define SSAN_TRACE_MANGLED_H

#include <stdbool.h>
#include <stddef.h>

/* "ns::kern" for _ZN2ns4kernIiEEvPT_i; *is_template: arguments were left out. False when this is no
 * such name, it holds what isn't known here, or there is no room. */
bool mangled_plain(const char *mangled, char *plain, size_t room, bool *is_template);

#endif
