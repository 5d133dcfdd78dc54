/* What `streamsan cc` puts into a program and the tool and the virtual device look for: the frame around its PTX, and the
 * note that marks the program. Constants only, so that the driver needs no CUDA type. A change of meaning raises
 * SSAN_NOTE_VERSION. */
#ifndef SSAN_CC_BLOB_ABI_H
#define SSAN_CC_BLOB_ABI_H

#define SSAN_BLOB_MAGIC      "SSANPTX1" /* 8 bytes, without the NUL */
#define SSAN_BLOB_MAGIC_SIZE 8

/* The note that marks a program built by `streamsan cc`: section, name, type, and the version in
 * its 4-byte body. */
#define SSAN_NOTE_SECTION ".note.streamsan"
#define SSAN_NOTE_NAME    "streamsan"
#define SSAN_NOTE_TYPE    1
#define SSAN_NOTE_VERSION 1

#endif
