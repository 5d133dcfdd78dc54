/* Built with -O2 -fomit-frame-pointer into a library of its own. */
#include "capture_frames.h"

#include <alloca.h>
#include <stdlib.h>
#include <string.h>

/* What keeps compilers from dropping a local or calling in tail position. */
static void touch(volatile void *place)
{
    __asm__ volatile("" : : "r"(place) : "memory");
}

static __attribute__((noinline, noipa)) uint64_t recurse_wide(unsigned depth, frames_take *take,
                                                              void *self)
{
    volatile char local[120];
    uint64_t result;
    touch(local);
    result = frames_recursive(depth, take, self);
    touch(local);
    return result;
}

__attribute__((noinline)) uint64_t frames_recursive(unsigned depth, frames_take *take, void *self)
{
    uint64_t result;
    if (depth <= 1) {
        result = take(self);
    } else if (depth % 3 == 0) {
        result = recurse_wide(depth - 1, take, self);
    } else {
        result = frames_recursive(depth - 1, take, self);
    }
    touch(&result);
    return result;
}

uint64_t frames_variable(size_t bytes, frames_take *take, void *self)
{
    char *local = alloca(bytes);
    uint64_t result;
    touch(local);
    result = frames_recursive(3, take, self);
    touch(local);
    return result;
}

uint64_t frames_aligned(unsigned depth, frames_take *take, void *self)
{
    _Alignas(256) volatile char local[512];
    uint64_t result;
    touch(local);
    result = frames_recursive(depth, take, self);
    touch(local);
    return result;
}

uint64_t frames_huge(frames_take *take, void *self)
{
    volatile char local[5 << 20];
    uint64_t result;
    touch(local);
    result = frames_recursive(2, take, self);
    touch(local);
    return result;
}

static struct {
    frames_take *take;
    void *self;
    uint64_t result;
} sorting;

static int compare(const void *a, const void *b)
{
    sorting.result = sorting.take(sorting.self);
    return memcmp(a, b, 4);
}

uint64_t frames_sorting(frames_take *take, void *self)
{
    char words[] = "bbbbaaaa";
    sorting.take = take;
    sorting.self = self;
    qsort(words, 2, 4, compare);
    touch(words);
    return sorting.result;
}

#if defined __x86_64__
/* The stack pointer is moved by an amount that only rbx knows. */
__asm__(".text\n"
        ".globl frames_odd_register\n"
        ".type frames_odd_register, @function\n"
        "frames_odd_register:\n"
        "    .cfi_startproc\n"
        "    pushq %rbx\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset 3, -16\n"
        "    movq %rsp, %rbx\n"
        "    .cfi_def_cfa_register 3\n"
        "    subq $80, %rsp\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    andq $-16, %rsp\n"
        "    call *%rax\n"
        "    movq %rbx, %rsp\n"
        "    .cfi_def_cfa_register 7\n"
        "    popq %rbx\n"
        "    .cfi_def_cfa_offset 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size frames_odd_register, .-frames_odd_register\n"
        ".globl frames_untold_chain\n"
        ".type frames_untold_chain, @function\n"
        "frames_untold_chain:\n"
        "    pushq %rbp\n"
        "    movq %rsp, %rbp\n"
        "    subq $32, %rsp\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    call *%rax\n"
        "    leave\n"
        "    ret\n"
        ".size frames_untold_chain, .-frames_untold_chain\n"
        ".globl frames_untold\n"
        ".type frames_untold, @function\n"
        "frames_untold:\n"
        "    subq $40, %rsp\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    call *%rax\n"
        "    addq $40, %rsp\n"
        "    ret\n"
        ".size frames_untold, .-frames_untold\n");
#endif
