/* Frames that a CUDA compiler puts between a launch and the runtime: nobody wrote their lines.
 *
 * nvcc turns kernel<<<...>>>(...) into a call of a host function of the kernel's own name, which
 * calls a generated stub, which calls inline functions of the runtime's headers. Naive model: the
 * names and files of those three, one after the other. */
#ifndef SSAN_SYMBOL_LAUNCH_STUB_H
#define SSAN_SYMBOL_LAUNCH_STUB_H

#include "symbol/symbols.h"

/* What has been passed in the stack at hand; zeroed at its innermost frame. */
struct launch_stub {
    const char *passed; /* the function of the stub just passed, valid as the frame's is; or NULL */
};

/* Whether the frame is one of those. Asked of the frames of one stack, innermost first. */
bool launch_stub_hides(struct launch_stub *stub, const struct symbol_frame *frame);

#endif
