/* Atomic functions of device code, for the device, for the block (_block) and for the system
 * (_system).
 *
 * Each is one atom instruction of the matching width; relaxed, as CUDA's own. The pointer may be to
 * global or shared memory. CUDA C++ Programming Guide, "Atomic Functions". */
#ifndef SSAN_CC_ATOMICS_H
#define SSAN_CC_ATOMICS_H
#pragma GCC system_header

#define SSAN_ATOMIC_ static __device__ __inline__ __attribute__((always_inline))

/* name(type *, type) as the builtin on `raw`, a type of the same size. */
#define SSAN_ATOMIC2_(name, scope, type, builtin, raw)                                             \
    SSAN_ATOMIC_ type name##scope(type *address, type value)                                       \
    {                                                                                              \
        return (type)builtin((raw *)address, (raw)value);                                          \
    }
#define SSAN_ATOMIC_CAS_(scope, type, builtin, raw)                                                \
    SSAN_ATOMIC_ type atomicCAS##scope(type *address, type expected, type desired)                 \
    {                                                                                              \
        return (type)builtin((raw *)address, (raw)expected, (raw)desired);                         \
    }

#define SSAN_ATOMICS_(scope, s)                                                                    \
    SSAN_ATOMIC2_(atomicAdd, scope, int, __nvvm_atom_##s##add_gen_i, int)                          \
    SSAN_ATOMIC2_(atomicAdd, scope, unsigned int, __nvvm_atom_##s##add_gen_i, int)                 \
    SSAN_ATOMIC2_(atomicAdd, scope, unsigned long long, __nvvm_atom_##s##add_gen_ll, long long)    \
    SSAN_ATOMIC2_(atomicAdd, scope, float, __nvvm_atom_##s##add_gen_f, float)                      \
    SSAN_ATOMIC2_(atomicAdd, scope, double, __nvvm_atom_##s##add_gen_d, double)                    \
    SSAN_ATOMIC_ int atomicSub##scope(int *address, int value)                                     \
    {                                                                                              \
        return __nvvm_atom_##s##add_gen_i(address, (int)-(unsigned int)value);                     \
    }                                                                                              \
    SSAN_ATOMIC_ unsigned int atomicSub##scope(unsigned int *address, unsigned int value)          \
    {                                                                                              \
        return (unsigned int)__nvvm_atom_##s##add_gen_i((int *)address, (int)-value);              \
    }                                                                                              \
    SSAN_ATOMIC2_(atomicExch, scope, int, __nvvm_atom_##s##xchg_gen_i, int)                        \
    SSAN_ATOMIC2_(atomicExch, scope, unsigned int, __nvvm_atom_##s##xchg_gen_i, int)               \
    SSAN_ATOMIC2_(atomicExch, scope, unsigned long long, __nvvm_atom_##s##xchg_gen_ll, long long)  \
    SSAN_ATOMIC_ float atomicExch##scope(float *address, float value)                              \
    {                                                                                              \
        return __nvvm_bitcast_i2f(                                                                 \
            __nvvm_atom_##s##xchg_gen_i((int *)address, __nvvm_bitcast_f2i(value)));               \
    }                                                                                              \
    SSAN_ATOMIC2_(atomicMin, scope, int, __nvvm_atom_##s##min_gen_i, int)                          \
    SSAN_ATOMIC2_(atomicMin, scope, unsigned int, __nvvm_atom_##s##min_gen_ui, unsigned int)       \
    SSAN_ATOMIC2_(atomicMin, scope, long long, __nvvm_atom_##s##min_gen_ll, long long)             \
    SSAN_ATOMIC2_(atomicMin, scope, unsigned long long, __nvvm_atom_##s##min_gen_ull,              \
                  unsigned long long)                                                              \
    SSAN_ATOMIC2_(atomicMax, scope, int, __nvvm_atom_##s##max_gen_i, int)                          \
    SSAN_ATOMIC2_(atomicMax, scope, unsigned int, __nvvm_atom_##s##max_gen_ui, unsigned int)       \
    SSAN_ATOMIC2_(atomicMax, scope, long long, __nvvm_atom_##s##max_gen_ll, long long)             \
    SSAN_ATOMIC2_(atomicMax, scope, unsigned long long, __nvvm_atom_##s##max_gen_ull,              \
                  unsigned long long)                                                              \
    SSAN_ATOMIC2_(atomicInc, scope, unsigned int, __nvvm_atom_##s##inc_gen_ui, unsigned int)       \
    SSAN_ATOMIC2_(atomicDec, scope, unsigned int, __nvvm_atom_##s##dec_gen_ui, unsigned int)       \
    SSAN_ATOMIC_BITS_(atomicAnd, scope, __nvvm_atom_##s##and_gen_i, __nvvm_atom_##s##and_gen_ll)   \
    SSAN_ATOMIC_BITS_(atomicOr, scope, __nvvm_atom_##s##or_gen_i, __nvvm_atom_##s##or_gen_ll)      \
    SSAN_ATOMIC_BITS_(atomicXor, scope, __nvvm_atom_##s##xor_gen_i, __nvvm_atom_##s##xor_gen_ll)   \
    SSAN_ATOMIC_CAS_(scope, int, __nvvm_atom_##s##cas_gen_i, int)                                  \
    SSAN_ATOMIC_CAS_(scope, unsigned int, __nvvm_atom_##s##cas_gen_i, int)                         \
    SSAN_ATOMIC_CAS_(scope, unsigned long long, __nvvm_atom_##s##cas_gen_ll, long long)

#define SSAN_ATOMIC_BITS_(name, scope, builtin32, builtin64)                                       \
    SSAN_ATOMIC2_(name, scope, int, builtin32, int)                                                \
    SSAN_ATOMIC2_(name, scope, unsigned int, builtin32, int)                                       \
    SSAN_ATOMIC2_(name, scope, unsigned long long, builtin64, long long)                           \
    SSAN_ATOMIC2_(name, scope, long long, builtin64, long long)

SSAN_ATOMICS_(, )
SSAN_ATOMICS_(_block, cta_)
SSAN_ATOMICS_(_system, sys_)

#undef SSAN_ATOMICS_
#undef SSAN_ATOMIC_BITS_
#undef SSAN_ATOMIC_CAS_
#undef SSAN_ATOMIC2_
#undef SSAN_ATOMIC_

#endif
