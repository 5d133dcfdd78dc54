/* Not offered: closed library. This file stands before a toolkit's own, which would not fit the
 * headers here. */
#error "streamsan cc: <cublas_v2.h> is not supported (closed library)"
