/* What the source text of a statement says: the arguments of a call, the variable in an argument.
 *
 * Pure text, no trace. A guess by design: what it can't read plainly it does not name. Any thread.
 */
#ifndef SSAN_CORE_EXPLAIN_NAMES_H
#define SSAN_CORE_EXPLAIN_NAMES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

#define NAMES_ARGS 24

/* A piece of the text it was found in; `length` 0: none. Lives as long as that text. */
struct names_span {
    const char *ptr;
    size_t length;
};

/* The arguments of one call, in order; those beyond NAMES_ARGS are left out. */
struct names_call {
    struct names_span args[NAMES_ARGS];
    size_t count;
};

/* What an argument of a CUDA call is. */
enum names_role {
    NAMES_CREATED, /* the stream, event or block that the call makes */
    NAMES_STREAM,
    NAMES_EVENT,
    NAMES_DST,
    NAMES_SRC,
};

/* Arguments of the `nth` (from 0; the last one if there are fewer) call of `function` in `text`;
 * `function` may stand with a namespace before and template arguments behind it. False: no such
 * call. */
bool names_find_call(const char *text, const char *function, size_t nth, struct names_call *call);

/* The launch configuration (between <<< and >>>) of `kernel` (its last name decides; any launch
 * when none has that name, then the `nth`). */
bool names_find_launch(const char *text, const char *kernel, size_t nth, struct names_call *config);

/* Index of the argument with that role in a runtime or driver call (suffixes such as _ptsz don't
 * matter), -1: none. */
int names_role_index(const char *call, enum names_role role);

/* The argument with that role, as spelled at the call of `function` in `text`: the `nth` such call.
 * For cudaLaunchKernel and NAMES_STREAM the launch of `kernel` counts too. */
struct names_span names_argument(const char *text, const char *function, const char *kernel,
                                 size_t nth, enum names_role role);

/* The variable that an argument such as `(void **)&p[i]` names: without casts, address-of,
 * parentheses and `this->`; indices and members stay. `length` 0: the text is more than a variable.
 */
struct names_span names_variable(struct names_span argument);

/* The variable whose memory a pointer expression such as `buf + i * n` or `&buf[i]` lies in. */
struct names_span names_pointer(struct names_span argument);

/* Whether a statement stands under an `else`, `for` or `while` without braces, or under an `if`
 * whose condition has no `call` (NULL: none): another statement before it would be elsewhere. */
bool names_is_body(const char *text, const char *call);

/* Whether a statement has some call that creates a stream, event or block. */
bool names_creates(const char *text);

/* The variable that is set to what the nth call of a function returns: `T *name = function(...)`,
 * `T names[] = {function(...), ...}`; empty where the statement can't hold a CUDA object. */
struct names_span names_assigned(const char *text, const char *function, size_t nth);

/* The one variable whose address a statement passes to some call (`make(&p, n)`), or that it sets
 * from a call (`float *p = make(n)`): for calls that hide behind a wrapper or a macro. */
struct names_span names_wrapped(const char *text);

/* As names_wrapped, for a text that calls `function`: what the nth such call is given or returns
 * first, and that alone where there are several. Empty when there is none. */
struct names_span names_wrapped_by(const char *text, const char *function, size_t nth);

/* A copy with runs of white space made one space; NULL when out of memory. */
const char *names_copy(struct arena *arena, struct names_span span);

#endif
