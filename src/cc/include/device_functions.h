/* An older name: all of it comes with cuda_runtime.h. */
#ifndef SSAN_CC_DEVICE_FUNCTIONS_H
#define SSAN_CC_DEVICE_FUNCTIONS_H
#pragma GCC system_header

#include "cuda_runtime.h"

#endif
