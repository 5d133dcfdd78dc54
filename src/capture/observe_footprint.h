/* What a kernel may access, by its operands alone. */
#ifndef SSAN_CAPTURE_OBSERVE_FOOTPRINT_H
#define SSAN_CAPTURE_OBSERVE_FOOTPRINT_H

#include "capture/observe_module.h"
#include "trace/sink.h"

/* Parameters of one launch: one pointer for each (`arguments`), or all of them as `bytes`. */
struct observe_arguments {
    void *const *arguments; /* NULL: none */
    const void *bytes;      /* NULL: none */
    size_t byte_count;
};

/* What the innermost launch call of this thread passes; all NULL when that is not known. */
struct observe_arguments observe_arguments_find(void);

/* Asks the driver for the parameters of `function` once and keeps them in `kernel`. In a launch
 * callback. */
void observe_footprint_prepare(struct observed_kernel *kernel, CUfunction function);

/* An address among the parameters of a launch. */
struct observe_operand {
    size_t offset; /* of its word, in bytes */
    uint64_t address;
    uint64_t block_end; /* of the live block that it is in */
};
/* In a set of operands. Those of large parameters share bits: a set may seem to hold more. */
#define OBSERVE_OPERAND(offset) (UINT64_C(1) << ((offset) / 8 % 64))

/* Calls take(self, operand) for every address of a live block that the parameters hold, in any
 * word, in their order. False: the parameters are not known. */
typedef void observe_take_operand(void *self, const struct observe_operand *operand);
bool observe_operands_each(const struct observed_kernel *kernel,
                           const struct observe_arguments *arguments, observe_take_operand *take,
                           void *self);

/* Writes `may` accesses from every address that the parameters hold, in any word, to the end of its
 * block. False: the parameters are not known, or too many: accesses are missing. */
bool observe_footprint_tell(struct ssan_sink *sink, uint64_t op,
                            const struct observed_kernel *kernel,
                            const struct observe_arguments *arguments, bool may_write);

#endif
