/* Everything that the headers declare and the device doesn't model: managed memory, pools, graphs
 * and capture, arrays, peers. The part that depends on the default stream is compiled twice, as
 * api_entry.c. */
#include "vcuda/device.h"

/* Under the per-thread default stream the header makes `name` a macro; # keeps the name that the
 * program wrote. */
#define UNSUPPORTED(name, parameters)                                                              \
    cudaError_t name parameters                                                                    \
    {                                                                                              \
        return call_unsupported(#name, __builtin_frame_address(0));                                \
    }

#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "vcuda/unsupported.def"
#endif
#include "vcuda/unsupported_stream.def"
