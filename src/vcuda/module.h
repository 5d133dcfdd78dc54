/* The loaded objects of the process, by address. Guarded by the lock of site.c. */
#ifndef SSAN_VCUDA_MODULE_H
#define SSAN_VCUDA_MODULE_H

#include <stdbool.h>
#include <stdint.h>

/* The id of the object whose code holds `address`, and the distance from its base; 0 when none
 * does. With `may_list` objects that are new are listed and told to the trace; a signal handler
 * can't do that. */
uint32_t module_find(uint64_t address, bool may_list, uint64_t *offset);
/* The file name of a module, without its folders. */
const char *module_name(uint32_t module);
void module_forget(void);

#endif
