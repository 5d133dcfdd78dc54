/* memcpy_async() and wait() come with cooperative_groups.h. */
#ifndef SSAN_CC_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define SSAN_CC_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#pragma GCC system_header

#include "../cooperative_groups.h"

#endif
