/* C++ names for people: demangled, without argument list. */
#ifndef SSAN_SYMBOL_DEMANGLE_H
#define SSAN_SYMBOL_DEMANGLE_H

/* "ns::kern<int>" for "_ZN2ns4kernIiEEvPT_i"; other names are copied. mem_free; NULL when out of
 * memory. */
char *demangle(const char *name);

#endif
