/* Names of device code that the virtual device does not have: using one is a compile error that
 * says so. */
#ifndef SSAN_CC_UNSUPPORTED_H
#define SSAN_CC_UNSUPPORTED_H
#pragma GCC system_header

#if __cplusplus >= 201103L
#define SSAN_TEXTURE_(name)                                                                        \
    template <class T = void, class... Given> __device__ T name(Given...)                          \
    {                                                                                              \
        static_assert(sizeof...(Given) > 1000,                                                     \
                      #name ": streamsan cc does not support textures and surfaces");              \
    }
SSAN_TEXTURE_(tex1D)
SSAN_TEXTURE_(tex1Dfetch)
SSAN_TEXTURE_(tex1DLayered)
SSAN_TEXTURE_(tex2D)
SSAN_TEXTURE_(tex2DLod)
SSAN_TEXTURE_(tex2DGrad)
SSAN_TEXTURE_(tex2DLayered)
SSAN_TEXTURE_(tex3D)
SSAN_TEXTURE_(texCubemap)
SSAN_TEXTURE_(surf1Dread)
SSAN_TEXTURE_(surf1Dwrite)
SSAN_TEXTURE_(surf2Dread)
SSAN_TEXTURE_(surf2Dwrite)
SSAN_TEXTURE_(surf3Dread)
SSAN_TEXTURE_(surf3Dwrite)
#undef SSAN_TEXTURE_
#endif

#endif
