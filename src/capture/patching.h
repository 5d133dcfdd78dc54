/* The calls of the sanitizer library that patch code, one at a time in the process.
 *
 * The library's manual asks that sanitizerAddPatchesFromFile, sanitizerPatchInstructions and
 * sanitizerPatchModule are never called at once; it asks that of no other function. All are called
 * in callbacks of contexts and modules. Any thread. */
#ifndef SSAN_CAPTURE_PATCHING_H
#define SSAN_CAPTURE_PATCHING_H

#include "capture/sanitizer_abi.h"

#include <stddef.h>

/* Device functions of the file at `path` become known in the context. */
uint32_t patching_add_file(const struct sanitizer_api *api, const char *path, CUcontext context);

/* Which instructions (enum sanitizer_instruction) call which device function. */
struct patching_place {
    uint32_t instruction;
    const char *function;
};

/* Chooses `count` places of a module, in their order; results[i] is what the library answers. */
void patching_choose(const struct sanitizer_api *api, CUmodule module,
                     const struct patching_place *places, uint32_t *results, size_t count);
/* Puts all patches that were chosen for the module into its code. */
uint32_t patching_apply(const struct sanitizer_api *api, CUmodule module);

/* In a forked child: nobody holds the lock. */
void patching_detach(void);

#endif
