/* Not offered: bfloat16. This file stands before a toolkit's own, which would not fit the headers
 * here. */
#error "streamsan cc: <cuda_bf16.h> is not supported (bfloat16)"
