/* What the device says: output of device printf. */
#ifndef SSAN_VCUDA_OUTPUT_H
#define SSAN_VCUDA_OUTPUT_H

#include <stddef.h>

/* Keeps bytes of device printf until the next call of a host thread ends. Any thread. */
void output_keep(const char *bytes, size_t length);
/* Writes what is kept to stdout. Not under a lock of ours. */
void output_flush(void);
/* In a forked child: nobody holds the lock, and what is kept is the parent's. */
void output_forget(void);

#endif
