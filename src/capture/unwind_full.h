/* One step of unwinding by a whole row: every register, every kind of rule. */
#ifndef SSAN_CAPTURE_UNWIND_FULL_H
#define SSAN_CAPTURE_UNWIND_FULL_H

#include "capture/unwind.h"

/* Replaces the registers by those of the caller. Words are read from [low, end) only. False: the
 * row gives no caller (it is the outermost frame) or none that can be. */
bool unwind_apply(const struct cfi_row *row, struct unwind_registers *registers, uint64_t low,
                  uint64_t end);

#endif
