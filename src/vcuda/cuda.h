/* The CUDA headers of `streamsan cc` as the virtual device implements them: what they declare is
 * exported.
 *
 * Everything else in this folder is hidden and made local when device.o is linked. */
#ifndef SSAN_VCUDA_CUDA_H
#define SSAN_VCUDA_CUDA_H

#pragma GCC visibility push(default)
#include "cuda_runtime_api.h"
#pragma GCC visibility pop

/* For functions that the program calls without a prototype of the CUDA headers. */
#define EXPORTED __attribute__((visibility("default")))

#endif
