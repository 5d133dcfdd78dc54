/* Not offered: asynchronous copies in kernels. This file stands before a toolkit's own, which would
 * not fit the headers here. */
#error "streamsan cc: <cuda_pipeline.h> is not supported (asynchronous copies in kernels)"
