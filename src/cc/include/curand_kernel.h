/* Not offered: random numbers in kernels. This file stands before a toolkit's own, which would not
 * fit the headers here. */
#error "streamsan cc: <curand_kernel.h> is not supported (random numbers in kernels)"
