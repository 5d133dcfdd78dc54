/* Not offered: tensor core instructions. This file stands before a toolkit's own, which would not
 * fit the headers here. */
#error "streamsan cc: <mma.h> is not supported (tensor core instructions)"
