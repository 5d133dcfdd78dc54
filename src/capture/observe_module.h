/* Modules and kernels as far as their accesses are concerned. */
#ifndef SSAN_CAPTURE_OBSERVE_MODULE_H
#define SSAN_CAPTURE_OBSERVE_MODULE_H

#include "capture/observe_cubin.h"
#include "capture/sanitizer_abi.h"
#include "trace/observe_plan.h"
#include "trace/sink.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct observe_module;
struct kernel_hints;

/* A function of the driver that was launched; never freed, as launches in flight refer to it. */
struct observed_kernel {
    char name[96]; /* the beginning of it */
    struct observe_module *module;
    uint64_t pc; /* of its first instruction; 0: unknown */
    uint64_t size;
    bool is_known;  /* its code was read: `flags` say what patches do not see */
    unsigned flags; /* enum cubin_flag, with what it may call; 0 for unknown code */
    unsigned kinds; /* of accesses that it can make, as in struct cubin_function; the same */
    _Atomic uint32_t reach; /* bytes behind an operand that a thread stands for; 0: not known yet */
    _Atomic uint32_t growths;           /* of that; 0: it never went far beyond its windows */
    _Atomic uint32_t claims;            /* pages of a launch beside its windows */
    _Atomic uint32_t touched;           /* all that hold a bit, + 1; 0: none has ended yet */
    struct kernel_hints *_Atomic hints; /* observe_hints.c */
    _Atomic uint32_t hinted;            /* launches that were given what they say */
    atomic_bool has_strayed;            /* into memory of ours, and that was told */
    bool waits_first;                   /* observe_cubin.h */
    bool is_listed;                     /* the plan's `kernel` lines let it be observed */
    uint32_t parameter_count;
    const struct observe_parameter *parameters; /* NULL: not asked for yet, or unknown */
    struct observed_kernel *next_retired;       /* of a module that is gone */
};

struct observe_parameter {
    size_t offset, size;
};

/* Once. `sink` gets `module` events for cubins with line tables, which are saved in the folder
 * `session`. */
void observe_modules_start(const struct sanitizer_api *api, const struct observe_plan *plan,
                           const char *session, struct ssan_sink *sink);

/* A module is loaded, goes. In callbacks, any thread. */
struct observe_module *observe_modules_add(const struct sanitizer_module_data *data);
void observe_modules_remove(CUmodule module);

/* Instructions of these flags are not patched in this module, though others are. */
void observe_module_unpatched(struct observe_module *module, unsigned flags);
/* Whether its code is patched at all; NULL: it isn't. */
void observe_module_set_patched(struct observe_module *module, bool is_patched);
bool observe_module_is_patched(const struct observe_module *module);

/* The kernel of a launch; `name` is what the plan's patterns are matched with. `is_new`: this
 * function was not seen before. NULL without memory. */
struct observed_kernel *observe_kernel_find(const struct sanitizer_launch_data *launch,
                                            const char *name, bool *is_new);

/* What a kernel of a patched module does that its patches do not see: enum cubin_flag. */
unsigned observe_kernel_unseen(const struct observed_kernel *kernel);
/* Whether device lines of this kernel can be told. */
bool observe_kernel_has_lines(const struct observed_kernel *kernel);
/* The frame (event `site`) of the instruction at `place` (patch_abi.h: PATCH_CODE_PLACE); 0: not
 * known. */
uint64_t observe_kernel_frame(const struct observed_kernel *kernel, uint32_t place);

/* In a forked child: nobody holds the lock. */
void observe_modules_forget(void);

#endif
