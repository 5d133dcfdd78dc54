/* The parts of 3D copies from their numbers. C11 and C++. */
#ifndef SSAN_CC_DRIVER_FUNCTIONS_H
#define SSAN_CC_DRIVER_FUNCTIONS_H
#pragma GCC system_header

#include "driver_types.h"

static __inline__ __attribute__((unused)) struct cudaPitchedPtr
make_cudaPitchedPtr(void *ptr, size_t pitch, size_t xsize, size_t ysize)
{
    struct cudaPitchedPtr p = {ptr, pitch, xsize, ysize};
    return p;
}

static __inline__ __attribute__((unused)) struct cudaPos make_cudaPos(size_t x, size_t y, size_t z)
{
    struct cudaPos p = {x, y, z};
    return p;
}

static __inline__ __attribute__((unused)) struct cudaExtent
make_cudaExtent(size_t width, size_t height, size_t depth)
{
    struct cudaExtent e = {width, height, depth};
    return e;
}

#endif
