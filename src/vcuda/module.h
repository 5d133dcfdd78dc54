/* The loaded objects of the process, by address. Guarded by the lock of site.c. */
#ifndef SSAN_VCUDA_MODULE_H
#define SSAN_VCUDA_MODULE_H

#include <stdint.h>

/* The id of the object whose code holds `address`, and the distance from its base; 0 when none
 * does. New ids are told to the trace. */
uint32_t module_find(uint64_t address, uint64_t *offset);
void module_forget(void);

#endif
