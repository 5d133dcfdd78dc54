/* Address spaces: which one a generic pointer is in, and conversions. Newer versions of clang's
 * header of warp intrinsics expect these functions, older ones don't have them. */
#ifndef SSAN_CC_SPACES_H
#define SSAN_CC_SPACES_H
#pragma GCC system_header

#define SSAN_SPACE_(Name, name, number, builtin)                                                   \
    static __device__ __inline__                                                                   \
        __attribute__((always_inline, const)) unsigned int __is##Name(const void *ptr)             \
    {                                                                                              \
        return builtin(ptr);                                                                       \
    }                                                                                              \
    static __device__ __inline__ __attribute__((always_inline))                                    \
    size_t __cvta_generic_to_##name(const void *ptr)                                               \
    {                                                                                              \
        return (size_t)(void __attribute__((address_space(number))) *)ptr;                         \
    }                                                                                              \
    static __device__ __inline__                                                                   \
        __attribute__((always_inline)) void *__cvta_##name##_to_generic(size_t ptr)                \
    {                                                                                              \
        return (void *)(void __attribute__((address_space(number))) *)ptr;                         \
    }
SSAN_SPACE_(Global, global, 1, __nvvm_isspacep_global)
SSAN_SPACE_(Shared, shared, 3, __nvvm_isspacep_shared)
SSAN_SPACE_(Constant, constant, 4, __nvvm_isspacep_const)
SSAN_SPACE_(Local, local, 5, __nvvm_isspacep_local)
#undef SSAN_SPACE_

#endif
