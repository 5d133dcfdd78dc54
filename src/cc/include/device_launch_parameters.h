/* threadIdx and its like come with cuda_runtime.h. */
#ifndef SSAN_CC_DEVICE_LAUNCH_PARAMETERS_H
#define SSAN_CC_DEVICE_LAUNCH_PARAMETERS_H
#pragma GCC system_header

#include "cuda_runtime.h"

#endif
