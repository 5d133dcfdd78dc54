/* libstdc++ says __attribute__((__noinline__)) in this header, and CUDA's __noinline__ is a macro
 * for clang 14: it is put aside while the header is read. */
#ifndef SSAN_CC_BITS_SHARED_PTR_BASE_H
#define SSAN_CC_BITS_SHARED_PTR_BASE_H
#pragma GCC system_header

#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <bits/shared_ptr_base.h>
#pragma pop_macro("__noinline__")

#endif
