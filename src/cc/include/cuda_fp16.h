/* Not offered: half precision. This file stands before a toolkit's own, which would not fit the
 * headers here. */
#error "streamsan cc: <cuda_fp16.h> is not supported (half precision)"
