/* Cooperative groups: the block, tiles of a warp, the lanes that are together, and the grid. Device
 * code only.
 *
 * Not here: groups of several devices, clusters, and tiles of more than a warp. */
#ifndef SSAN_CC_COOPERATIVE_GROUPS_H
#define SSAN_CC_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

#if defined(__CUDA__) && defined(__clang__)
#pragma GCC system_header

#include "ssan/groups_base.h"

#include "ssan/groups_warp.h"

#include "ssan/groups_collective.h"

#undef SSAN_CG_

#endif
#endif
