/* Variables of modules as blocks of memory: the driver tells of no allocation for them. */
#ifndef SSAN_CAPTURE_VARIABLES_H
#define SSAN_CAPTURE_VARIABLES_H

#include "capture/sanitizer_abi.h"

/* Looks for what asks the driver. Once, outside of callbacks. */
void variables_open(void);
/* The variables of a module that was loaded get their blocks and names. In its callback, on its
 * thread, under no lock of ours. */
void variables_add(const struct sanitizer_module_data *module);

#endif
