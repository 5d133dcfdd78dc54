/* reduce() of a tile comes with cooperative_groups.h. */
#ifndef SSAN_CC_COOPERATIVE_GROUPS_REDUCE_H
#define SSAN_CC_COOPERATIVE_GROUPS_REDUCE_H
#pragma GCC system_header

#include "../cooperative_groups.h"

#endif
