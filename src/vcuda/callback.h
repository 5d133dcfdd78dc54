/* Host functions and stream callbacks, on threads of their own. */
#ifndef SSAN_VCUDA_CALLBACK_H
#define SSAN_VCUDA_CALLBACK_H

#include "vcuda/device.h"

/* Hands a running host function over; it completes by itself. Device lock held. */
void callback_push(struct op *op);

#endif
