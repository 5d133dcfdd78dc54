/* Not offered: 8-bit floating point. This file stands before a toolkit's own, which would not fit
 * the headers here. */
#error "streamsan cc: <cuda_fp8.h> is not supported (8-bit floating point)"
