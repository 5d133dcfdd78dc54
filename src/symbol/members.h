/* Which members of a class a constructor's call may initialise: gcc gives the calls in default
 * member initialisers (`int *data = make(n);`) the line of the constructor's head, or of the class
 * where it wrote the constructor itself. Pure text. */
#ifndef SSAN_SYMBOL_MEMBERS_H
#define SSAN_SYMBOL_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a frame is of a constructor (`function`, demangled) at its head (`text`: the statement
 * of its line), which calls no `callee`: the call is of an initialiser then. */
bool members_are_meant(const char *function, const char *text, const char *callee);

/* The declarations in the class of the constructor `function` whose initialisers call `callee`, in
 * order, joined to one line of at most `room` - 1 bytes. `source`: the text of the file. Returns
 * the length; 0: none. */
size_t members_find(const char *source, size_t length, const char *function, const char *callee,
                    char *out, size_t room);

#endif
