/* The types of the runtime API, under the name that C code uses. */
#ifndef SSAN_CC_BUILTIN_TYPES_H
#define SSAN_CC_BUILTIN_TYPES_H
#pragma GCC system_header

#include "driver_types.h"

#endif
