/* Not offered: closed library. This file stands before a toolkit's own, which would not fit the
 * headers here. */
#error "streamsan cc: <cufft.h> is not supported (closed library)"
