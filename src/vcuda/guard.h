/* Tells when host code touches device memory. */
#ifndef SSAN_VCUDA_GUARD_H
#define SSAN_VCUDA_GUARD_H

void guard_start(void);

#endif
