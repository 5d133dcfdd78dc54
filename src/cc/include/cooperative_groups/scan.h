/* Scans of a tile come with cooperative_groups.h. */
#ifndef SSAN_CC_COOPERATIVE_GROUPS_SCAN_H
#define SSAN_CC_COOPERATIVE_GROUPS_SCAN_H
#pragma GCC system_header

#include "../cooperative_groups.h"

#endif
