/* Exchanges, votes and matches among the lanes of a warp.
 *
 * In place of clang's own, of which those for unsigned long long call themselves without an end in
 * version 14, and the forms without a mask have no instruction on devices from sm_70 on. Those
 * forms, which CUDA 9 has deprecated, take the lanes that are there. A shuffle's last operand is
 * that of PTX: the segment's mask by the width, and the clamp. */
#ifndef SSAN_CC_WARP_FUNCTIONS_H
#define SSAN_CC_WARP_FUNCTIONS_H
#pragma GCC system_header

#define SSAN_WARP_ static __device__ __inline__ __attribute__((always_inline))

/* One 32-bit form from the instruction, the others by words. */
#define SSAN_SHUFFLE_AS_(name, type, word, kind)                                                   \
    SSAN_WARP_ type name(unsigned int mask, type value, kind which, int width = 32)                \
    {                                                                                              \
        static_assert(sizeof(type) == sizeof(word), "the same bits");                              \
        word bits;                                                                                 \
        __builtin_memcpy(&bits, &value, sizeof bits);                                              \
        bits = name(mask, bits, which, width);                                                     \
        __builtin_memcpy(&value, &bits, sizeof value);                                             \
        return value;                                                                              \
    }
#define SSAN_SHUFFLE_(name, instruction, clamp, kind)                                              \
    SSAN_WARP_ int name##_sync(unsigned int mask, int value, kind which, int width = 32)           \
    {                                                                                              \
        return __nvvm_shfl_sync_##instruction##_i32(mask, value, (int)which,                       \
                                                    ((32 - width) << 8) | (clamp));                \
    }                                                                                              \
    SSAN_WARP_ long long name##_sync(unsigned int mask, long long value, kind which,               \
                                     int width = 32)                                               \
    {                                                                                              \
        const int low = name##_sync(mask, (int)value, which, width);                               \
        const int high = name##_sync(mask, (int)(value >> 32), which, width);                      \
        return (long long)((unsigned long long)(unsigned int)high << 32 | (unsigned int)low);      \
    }                                                                                              \
    SSAN_SHUFFLE_AS_(name##_sync, unsigned int, int, kind)                                         \
    SSAN_SHUFFLE_AS_(name##_sync, float, int, kind)                                                \
    SSAN_SHUFFLE_AS_(name##_sync, long, long long, kind)                                           \
    SSAN_SHUFFLE_AS_(name##_sync, unsigned long, long long, kind)                                  \
    SSAN_SHUFFLE_AS_(name##_sync, unsigned long long, long long, kind)                             \
    SSAN_SHUFFLE_AS_(name##_sync, double, long long, kind)                                         \
    template <class T> SSAN_WARP_ T name(T value, kind which, int width = 32)                      \
    {                                                                                              \
        return name##_sync(__activemask(), value, which, width);                                   \
    }
SSAN_SHUFFLE_(__shfl, idx, 0x1f, int)
SSAN_SHUFFLE_(__shfl_up, up, 0, unsigned int)
SSAN_SHUFFLE_(__shfl_down, down, 0x1f, unsigned int)
SSAN_SHUFFLE_(__shfl_xor, bfly, 0x1f, int)
#undef SSAN_SHUFFLE_
#undef SSAN_SHUFFLE_AS_

SSAN_WARP_ int __all(int predicate)
{
    return __all_sync(__activemask(), predicate);
}
SSAN_WARP_ int __any(int predicate)
{
    return __any_sync(__activemask(), predicate);
}
SSAN_WARP_ unsigned int __ballot(int predicate)
{
    return __ballot_sync(__activemask(), predicate);
}

/* Lanes with the same bits. */
#define SSAN_MATCH_(type, word, size)                                                              \
    SSAN_WARP_ unsigned int __match_any_sync(unsigned int mask, type value)                        \
    {                                                                                              \
        word bits;                                                                                 \
        static_assert(sizeof bits == sizeof value, "the same bits");                               \
        __builtin_memcpy(&bits, &value, sizeof bits);                                              \
        return (unsigned int)__match##size##_any_sync(mask, bits);                                 \
    }                                                                                              \
    SSAN_WARP_ unsigned int __match_all_sync(unsigned int mask, type value, int *predicate)        \
    {                                                                                              \
        word bits;                                                                                 \
        __builtin_memcpy(&bits, &value, sizeof bits);                                              \
        return (unsigned int)__match##size##_all_sync(mask, bits, predicate);                      \
    }
SSAN_MATCH_(int, unsigned int, 32)
SSAN_MATCH_(unsigned int, unsigned int, 32)
SSAN_MATCH_(float, unsigned int, 32)
SSAN_MATCH_(long, unsigned long long, 64)
SSAN_MATCH_(unsigned long, unsigned long long, 64)
SSAN_MATCH_(long long, unsigned long long, 64)
SSAN_MATCH_(unsigned long long, unsigned long long, 64)
SSAN_MATCH_(double, unsigned long long, 64)
#undef SSAN_MATCH_
#undef SSAN_WARP_

#endif
