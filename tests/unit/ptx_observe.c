/* Observed sets against a map of every byte: random kernels of loads, stores and atomics with
 * linear, strided, scattered, overlapping and predicated addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "unit/ptx_support.h"

#include <stdlib.h>
#include <string.h>

#define ARENA  262144u
#define SEED   77
#define ROUNDS 60
#define KINDS  3

/* Access i of a kernel: thread t touches arena[(base + (t * scale ^ twist)) % room * width] if t %
 * every < keep. */
struct access {
    uint32_t kind, width, scale, twist, base, every, keep, repeat;
};

static void add_access(struct strbuf *text, const struct access *a, uint32_t index)
{
    const char *type = a->width == 8 ? "u64" : a->width == 4 ? "u32" : a->width == 2 ? "u16" : "u8";
    const char *reg = a->width == 8 ? "l4" : "r4";
    strbuf_printf(text, ".loc 1 %u 0\n", index + 10);
    strbuf_printf(
        text,
        "rem.u32 r2, r1, %u; setp.lt.u32 p0, r2, %u; mul.lo.u32 r3, r1, %u; xor.b32 r3, r3, %u;\n",
        a->every, a->keep, a->scale, a->twist);
    strbuf_printf(
        text,
        "add.u32 r3, r3, %u; rem.u32 r3, r3, %u; mul.wide.u32 l2, r3, %u; add.u64 l2, l0, l2;\n",
        a->base, ARENA / a->width, a->width);
    for (uint32_t i = 0; i < a->repeat; i++) {
        if (a->kind == 0) {
            strbuf_printf(text, "@p0 ld.global.%s %s, [l2];\n", type, reg);
        } else if (a->kind == 1) {
            strbuf_printf(text, "@p0 st.global.%s [l2], %s;\n", type, reg);
        } else {
            strbuf_printf(text, "@p0 red.global.add.%s [l2], %s;\n", type, reg);
        }
    }
}

static struct access random_access(struct rng *rng)
{
    struct access a = {.kind = (uint32_t)rng_below(rng, KINDS),
                       .width = 1u << rng_below(rng, 4),
                       .scale = (uint32_t)rng_below(rng, 4),
                       .twist = rng_below(rng, 3) ? 0 : (uint32_t)rng_below(rng, 256),
                       .base = (uint32_t)rng_below(rng, 30000),
                       .every = 1 + (uint32_t)rng_below(rng, 5),
                       .repeat = 1 + (uint32_t)rng_below(rng, 2)};
    a.keep = rng_below(rng, 2) ? a.every : (uint32_t)rng_below(rng, a.every + 1);
    if (rng_below(rng, 4) == 0) {
        a.scale = (uint32_t)rng_next(rng) | 1; /* scatter */
    }
    if (a.kind == 2 && a.width < 4) {
        a.width = 4;
    }
    return a;
}

/* The bytes of one access, one flag each. */
static void brute_force(const struct access *a, uint32_t threads, unsigned char *touched)
{
    for (uint32_t t = 0; t < threads; t++) {
        if (t % a->every < a->keep) {
            const uint32_t at =
                ((t * a->scale ^ a->twist) + a->base) % (ARENA / a->width) * a->width;
            memset(touched + at, 1, a->width);
        }
    }
}

static void mark(unsigned char *seen, uint64_t offset, uint64_t length)
{
    assert_true(offset + length <= ARENA);
    memset(seen + offset, 1, length);
}

static void unpack(const struct ptx_access *set, uint64_t base, unsigned char *seen)
{
    for (uint32_t i = 0; i < set->runs.count; i++) {
        const struct ssan_run *run = &set->runs.ptr[i];
        for (uint64_t k = 0; k < run->count; k++) {
            mark(seen, run->address + k * run->stride - base, run->length);
        }
    }
    for (size_t i = 0; i < set->leaf_count; i++) {
        assert_int_equal(set->leaves[i].address % 4096, 0);
        for (uint32_t bit = 0; bit < 4096; bit++) {
            if (set->leaves[i].bits[bit / 64] >> bit % 64 & 1) {
                mark(seen, set->leaves[i].address + bit - base, 1);
            }
        }
    }
}

static void check_sets(struct ptx_exec *exec, const struct access *accesses, uint32_t count,
                       uint32_t threads, uint64_t base)
{
    static const enum ssan_access kinds[KINDS] = {SSAN_access_READ, SSAN_access_WRITE,
                                                  SSAN_access_ATOMIC};
    unsigned char *want = mem_alloc(ARENA), *seen = mem_alloc(ARENA);
    const struct ptx_access *sets;
    size_t set_count;
    assert_true(ptx_exec_observed(exec, &sets, &set_count));
    for (uint32_t i = 0; i < count; i++) {
        memset(want, 0, ARENA);
        memset(seen, 0, ARENA);
        brute_force(&accesses[i], threads, want);
        for (size_t k = 0; k < set_count; k++) {
            if (sets[k].at.line == i + 10) {
                assert_int_equal(sets[k].access, kinds[accesses[i].kind]);
                assert_int_equal(sets[k].width, accesses[i].width);
                assert_string_equal(sets[k].at.file, "/src/x.cu");
                assert_string_equal(sets[k].at.function, "k");
                unpack(&sets[k], base, seen);
            }
        }
        if (memcmp(want, seen, ARENA) != 0) {
            fail_msg(
                "access %u: kind %u width %u scale %u twist %u base %u every %u keep %u (seed %d)",
                i, accesses[i].kind, accesses[i].width, accesses[i].scale, accesses[i].twist,
                accesses[i].base, accesses[i].every, accesses[i].keep, SEED);
        }
    }
    mem_free(want);
    mem_free(seen);
}

static void random_round(struct rng *rng, unsigned char *arena)
{
    struct access accesses[4];
    const uint32_t count = 1 + (uint32_t)rng_below(rng, 4),
                   blocks = 1 + (uint32_t)rng_below(rng, 40);
    const uint32_t block = 32 + (uint32_t)rng_below(rng, 200), threads = blocks * block;
    struct strbuf text = {0};
    struct device device;
    device_init(&device);
    device_map(&device, arena, ARENA, true);
    strbuf_puts(&text,
                ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 "
                "p)\n{ .reg .b32 r<8>;\n"
                ".reg .b64 l<8>; .reg .pred p<2>; ld.param.u64 l0, [p]; mov.u32 r1, %ctaid.x; "
                "mov.u32 r2, %ntid.x;\n"
                "mov.u32 r3, %tid.x; mad.lo.u32 r1, r1, r2, r3; mov.u32 r4, 0; mov.u64 l4, 0;\n");
    for (uint32_t i = 0; i < count; i++) {
        accesses[i] = random_access(rng);
        add_access(&text, &accesses[i], i);
    }
    strbuf_puts(&text, "ret; }\n.file 1 \"/src/x.cu\"\n");
    struct ptx_module *module = module_load(&device, strbuf_text(&text));
    const uint64_t base = (uint64_t)(uintptr_t)arena;
    const struct ptx_launch launch = launch_of(module, "k", blocks, block, &base);
    struct ptx_exec *exec = run_launch(&device, &launch, PTX_DONE);
    check_sets(exec, accesses, count, threads, base);
    check_sets(exec, accesses, count, threads, base); /* asking twice changes nothing */
    ptx_exec_destroy(exec);
    module_drop(module);
    device_finish(&device);
    strbuf_finish(&text);
}

static void sets_equal_brute_force(void **state)
{
    unsigned char *arena = aligned_alloc(4096, ARENA);
    struct rng rng = {SEED};
    assert_non_null(arena);
    memset(arena, 0, ARENA);
    for (int i = 0; i < ROUNDS; i++) {
        random_round(&rng, arena);
    }
    free(arena);
    print_message("%d kernels, seed %d\n", ROUNDS, SEED);
}

static void whole_arrays_are_one_run(void **state)
{
    unsigned char *arena = aligned_alloc(4096, ARENA);
    struct device device;
    memset(arena, 0, ARENA);
    device_init(&device);
    device_map(&device, arena, ARENA, true);
    struct ptx_module *module = module_load(
        &device, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 "
                 "p)\n{ .reg .b32 r<8>; .reg .b64 l<8>;\n"
                 "ld.param.u64 l0, [p]; mov.u32 r1, %ctaid.x; mov.u32 r2, %ntid.x; mov.u32 r3, "
                 "%tid.x; mad.lo.u32 r1, r1, r2, r3;\n"
                 "mul.wide.u32 l1, r1, 4; add.u64 l1, l0, l1; ld.global.u32 r4, [l1];\n"
                 "mul.wide.u32 l2, r1, 8; add.u64 l2, l0, l2; st.global.u32 [l2], r4; ret; }\n");
    const uint64_t base = (uint64_t)(uintptr_t)arena;
    const struct ptx_launch launch = launch_of(module, "k", 128, 128, &base);
    struct ptx_exec *exec = run_launch(&device, &launch, PTX_DONE);
    const struct ptx_access *sets;
    size_t count;
    assert_true(ptx_exec_observed(exec, &sets, &count));
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(sets[i].leaf_count, 0);
        assert_int_equal(sets[i].runs.count, 1);
        const bool reads = sets[i].access == SSAN_access_READ;
        assert_int_equal(sets[i].runs.ptr[0].length, reads ? 65536 : 4);
        assert_int_equal(sets[i].runs.ptr[0].count, reads ? 1 : 16384);
        assert_int_equal(sets[i].runs.ptr[0].stride, reads ? 0 : 8);
    }
    ptx_exec_destroy(exec);
    module_drop(module);
    device_finish(&device);
    free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_equal_brute_force),
        cmocka_unit_test(whole_arrays_are_one_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
