/* Functions that PTX calls and that no module defines: CUDA's device library, printf, assert, the
 * device heap. */
#ifndef SSAN_PTX_EXTERNS_H
#define SSAN_PTX_EXTERNS_H

#include "ptx/ir.h"

#define EXTERN_MOST_PARAMS 8 /* more than any of them has */

struct frame;

/* Index of a function by its PTX name if its parameters have these sizes, -1: not known. */
int extern_find(const char *name, const uint32_t *param_bytes, uint32_t param_count,
                uint32_t result_bytes);
/* Runs it for the lanes in `mask`; arguments and result are variables of the caller's frame. */
void extern_call(struct warp *w, const struct op *op, uint32_t mask, int index,
                 struct frame *caller, const struct call_site *site);

#endif
