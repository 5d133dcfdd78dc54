/* printf of kernels, and strings in device memory. */
#ifndef SSAN_PTX_PRINT_H
#define SSAN_PTX_PRINT_H

#include "ptx/warp.h"

/* Formats as printf does; arguments lie at their natural alignment (4 or 8 bytes) from `arguments`
 * on. Returns the number of arguments, -1 when the format can't be read. */
int print_lane(struct warp *w, const struct op *op, uint32_t lane, uint64_t format,
               uint64_t arguments);
/* Copies a string of device memory, cut at `size` with its NUL; false after a fault. */
bool print_string(struct warp *w, const struct op *op, uint32_t lane, uint64_t address, char *text,
                  size_t size);

#endif
