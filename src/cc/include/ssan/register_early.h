/* Registers the device code of a translation unit before the constructors of static objects run, so
 * that these may launch kernels and use device variables.
 *
 * Clang registers in a constructor of its own, __cuda_module_ctor, the last of the translation
 * unit. It is called here first, before constructors of no stated priority; the virtual device
 * ignores the second registration. A unit without device code has no such function: the reference
 * is weak, and one of assembler, as clang would rename its own function beside a declaration. Its
 * labels are unique in a unit, as link-time optimization makes several units one; where it renames
 * clang's function, registration is late again. */
#ifndef SSAN_CC_REGISTER_EARLY_H
#define SSAN_CC_REGISTER_EARLY_H
#pragma GCC system_header

#ifndef __CUDA_ARCH__
static __attribute__((constructor(103), noinline, nodebug)) void ssan_register_early_(void)
{
    void (*const *module_ctor)(void);
    __asm__(".weakref ssan_module_ctor_weak_%=, __cuda_module_ctor\n\t"
            ".pushsection .data.rel.ro.ssan_module_ctor, \"aw\", @progbits\n\t"
            ".balign 8\n"
            ".Lssan_module_ctor_%=:\n\t"
            ".quad ssan_module_ctor_weak_%=\n\t"
            ".popsection\n\t"
#ifdef __x86_64__
            "leaq .Lssan_module_ctor_%=(%%rip), %0"
#else
            "adrp %0, .Lssan_module_ctor_%=\n\t"
            "add %0, %0, :lo12:.Lssan_module_ctor_%="
#endif
            : "=r"(module_ctor));
    if (*module_ctor) {
        (*module_ctor)();
    }
}
#endif

#endif
