/* Not offered: run-time compilation. This file stands before a toolkit's own, which would not fit
 * the headers here. */
#error "streamsan cc: <nvrtc.h> is not supported (run-time compilation)"
