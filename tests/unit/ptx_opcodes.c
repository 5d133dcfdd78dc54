/* Every opcode against its reference in ptx_cases.def: extremes of each type in all pairs, then
 * random values, on each build of the lane loops, with full and with partial warps. Also checks
 * that every opcode has a case, and that the cases use every lane operation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "ptx/ir.h"
#include "unit/ptx_reference.h"
#include "unit/ptx_support.h"

#include <stdio.h>

#define THREADS  2048u
#define BLOCK    256u
#define SEED     20240711
#define SENTINEL UINT64_C(0x5e5e5e5e5e5e5e5e)

enum value_type { T_none, T_u16, T_s16, T_u32, T_s32, T_u64, T_s64, T_f32, T_f64 };
static const char *const type_names[] = {"b32", "u16", "s16", "u32", "s32",
                                         "u64", "s64", "f32", "f64"};
static const char *const reg_types[] = {"b32", "b16", "b16", "b32", "b32",
                                        "b64", "b64", "f32", "f64"};
static const size_t type_sizes[] = {4, 2, 2, 4, 4, 8, 8, 4, 8};

struct opcode_case {
    const char *opcode, *text;
    enum value_type d, a, b, c;
};

static const struct opcode_case cases[] = {
#define CASE1(opcode, text, d, a, ...)       {#opcode, text, T_##d, T_##a, T_none, T_none},
#define CASE2(opcode, text, d, a, b, ...)    {#opcode, text, T_##d, T_##a, T_##b, T_none},
#define CASE3(opcode, text, d, a, b, c, ...) {#opcode, text, T_##d, T_##a, T_##b, T_##c},
#include "unit/ptx_cases.def"
#undef CASE1
#undef CASE2
#undef CASE3
};
#define CASES (sizeof cases / sizeof *cases)

/* Operands of all threads, as bits. */
struct operands {
    u64 a[THREADS], b[THREADS], c[THREADS], d[THREADS];
};

#define A(i)                        ((u32)in->a[base + (i)])
#define IF_THERE(lane_index, value) (value)
static u32 ballot(const u32 *tests, u32 there)
{
    u32 bits = 0;
    for (u32 i = 0; i < 32; i++) {
        bits |= tests[i] && (there >> i & 1) ? 1u << i : 0;
    }
    return bits;
}
/* The lanes i of the warp that take part and for which `test` holds. */
#define ballot_of(test)                                                                            \
    (__extension__({                                                                               \
        u32 tests_[32];                                                                            \
        for (u32 i = 0; i < 32; i++) {                                                             \
            tests_[i] = (test);                                                                    \
        }                                                                                          \
        ballot(tests_, there);                                                                     \
    }))
#define in_a in->a

#define OPERAND(type, name)                                                                        \
    type name;                                                                                     \
    memcpy(&name, &in->name[thread], sizeof name);                                                 \
    (void)name;
#define RESULT(type, ...)                                                                          \
    const type result = (type)(__VA_ARGS__);                                                       \
    memcpy(&bits, &result, sizeof result);                                                         \
    break;
enum { FIRST_CASE = __COUNTER__ + 1 };
#define CASE1(opcode, text, d, ta, ...)                                                            \
    case __COUNTER__ - FIRST_CASE: {                                                               \
        OPERAND(ta, a)                                                                             \
        RESULT(d, __VA_ARGS__)                                                                     \
    }
#define CASE2(opcode, text, d, ta, tb, ...)                                                        \
    case __COUNTER__ - FIRST_CASE: {                                                               \
        OPERAND(ta, a)                                                                             \
        OPERAND(tb, b)                                                                             \
        RESULT(d, __VA_ARGS__)                                                                     \
    }
#define CASE3(opcode, text, d, ta, tb, tc, ...)                                                    \
    case __COUNTER__ - FIRST_CASE: {                                                               \
        OPERAND(ta, a)                                                                             \
        OPERAND(tb, b)                                                                             \
        OPERAND(tc, c)                                                                             \
        RESULT(d, __VA_ARGS__)                                                                     \
    }

/* What thread `thread` of case `index` has to give; `there` are the lanes of its warp that take
 * part. */
static u64 reference(size_t index, const struct operands *in, u32 thread, u32 there)
{
    const u32 lane = thread % 32, base = thread - lane;
    u64 bits = 0;
    (void)lane;
    switch (index) {
#include "unit/ptx_cases.def"
    default:
        fail_msg("case %zu has no reference", index);
    }
    return bits;
}

/* -- values -- */

static const u64 int_extremes[] = {0,
                                   1,
                                   2,
                                   3,
                                   5,
                                   7,
                                   8,
                                   15,
                                   16,
                                   17,
                                   31,
                                   32,
                                   33,
                                   63,
                                   64,
                                   65,
                                   127,
                                   128,
                                   255,
                                   256,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x10000,
                                   0x7fffff,
                                   0x800000,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x100000000,
                                   INT64_MAX,
                                   (u64)INT64_MIN,
                                   (u64)INT64_MIN + 1,
                                   UINT64_MAX,
                                   UINT64_MAX - 1,
                                   (u64)-128,
                                   (u64)-32768,
                                   0xffff8000,
                                   0xffffff80};
static const f64 float_extremes[] = {0.0,
                                     -0.0,
                                     1,
                                     -1,
                                     0.5,
                                     -0.5,
                                     1.5,
                                     2.5,
                                     -2.5,
                                     3.1415926535,
                                     1e-3,
                                     1e10,
                                     -1e10,
                                     2147483647.0,
                                     2147483648.0,
                                     -2147483648.0,
                                     -2147483904.0,
                                     4294967295.0,
                                     4294967296.0,
                                     9223372036854775807.0,
                                     -9.3e18,
                                     1.9e19,
                                     3.4028234e38,
                                     -3.4028234e38,
                                     1.17549435e-38,
                                     1e-40,
                                     -1e-45,
                                     5e-324,
                                     1.7e308,
                                     65504,
                                     65520,
                                     6e-8,
                                     2.98e-8,
                                     0.1,
                                     255.5,
                                     -128.5,
                                     32767.5,
                                     100,
                                     (f64)INFINITY,
                                     -(f64)INFINITY,
                                     (f64)NAN,
                                     -(f64)NAN};
#define INTS   (sizeof int_extremes / sizeof *int_extremes)
#define FLOATS (sizeof float_extremes / sizeof *float_extremes)

static u64 float_bits(f64 value, enum value_type type)
{
    u64 bits = 0;
    const f32 narrow = (f32)value;
    memcpy(&bits, type == T_f32 ? (const void *)&narrow : (const void *)&value, type_sizes[type]);
    return bits;
}

static u64 make_value(struct rng *rng, enum value_type type, u64 pick, bool random)
{
    const u64 cut = type_sizes[type] == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * type_sizes[type]) - 1;
    if (type != T_f32 && type != T_f64) {
        return (random ? rng_next(rng) >> rng_below(rng, 64) : int_extremes[pick % INTS]) & cut;
    }
    if (!random) {
        return float_bits(float_extremes[pick % FLOATS], type);
    }
    if (rng_below(rng, 4) == 0) {
        return rng_next(rng) & cut; /* any pattern */
    }
    return float_bits(ldexp((f64)(s64)rng_next(rng), -(int)rng_below(rng, 80)), type);
}

static void fill(struct operands *in, const struct opcode_case *c, struct rng *rng)
{
    const u64 width = c->a == T_f32 || c->a == T_f64 ? FLOATS : INTS;
    for (u32 i = 0; i < THREADS; i++) {
        const bool random = i >= width * width;
        in->a[i] = make_value(rng, c->a, i, random);
        in->b[i] = make_value(rng, c->b, i / width, random);
        in->c[i] = make_value(rng, c->c, rng_next(rng), rng_below(rng, 2));
        in->d[i] = SENTINEL;
    }
}

/* -- the program around a case -- */

/* Writes the text with %a and its like as registers. */
static void add_text(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '%' && text[1] == 'a' && text[2] == 'a') {
            strbuf_puts(out, "%pa");
            text += 2;
        } else if (*text == '%' && text[1] == 'a' && text[2] == 'd') {
            strbuf_puts(out, "%pd");
            text += 2;
        } else if (*text == '%' && text[1] == 's' && text[2] == 'a') {
            strbuf_puts(out, "%ps");
            text += 2;
        } else {
            strbuf_add(out, text, 1);
        }
    }
}

static const char helpers[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".func (.param .b32 result) twice_and_add(.param .b32 x, .param .b32 y)\n"
    "{ .reg .b32 r<4>; ld.param.b32 r0, [x]; ld.param.b32 r1, [y]; add.u32 r0, r0, r0; add.u32 r0, "
    "r0, r1;\n"
    "  st.param.b32 [result], r0; ret; }\n"
    ".func (.param .b32 result) minus(.param .b32 x, .param .b32 y)\n"
    "{ .reg .b32 r<4>; ld.param.b32 r0, [x]; ld.param.b32 r1, [y]; sub.u32 r0, r0, r1;\n"
    "  st.param.b32 [result], r0; ret; }\n"
    ".func (.param .b32 result) early(.param .b32 x)\n"
    "{ .reg .b32 r; .reg .pred p; ld.param.b32 r, [x]; st.param.b32 [result], r; setp.le.u32 p, r, "
    "100; @p ret;\n"
    "  st.param.b32 [result], 1; ret; }\n";

static void build(struct strbuf *out, const struct opcode_case *c, bool partial)
{
    strbuf_puts(out, helpers);
    strbuf_printf(
        out,
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{\n"
        ".reg .%s %%a; .reg .%s %%b; .reg .%s %%c; .reg .%s %%d; .reg .b64 %%pa, %%pb, %%pc, %%pd, "
        "%%ps;\n",
        reg_types[c->a], reg_types[c->b], reg_types[c->c], reg_types[c->d]);
    strbuf_puts(
        out,
        ".reg .b16 h<4>; .reg .b32 r<8>; .reg .b64 l<8>; .reg .f32 f<4>; .reg .f64 g<4>; .reg "
        ".pred p<4>;\n"
        ".reg .b32 %i, %t; .reg .b64 %o; .reg .pred %skip;\n"
        ".shared .align 16 .b8 sm[8192]; .local .align 16 .b8 lm[64];\n"
        "mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x; mad.lo.u32 %i, %i, 256, %t; mul.wide.u32 %o, "
        "%i, 8;\n"
        "ld.param.u64 %pa, [a]; ld.param.u64 %pb, [b]; ld.param.u64 %pc, [c]; ld.param.u64 %pd, "
        "[d];\n"
        "add.u64 %pa, %pa, %o; add.u64 %pb, %pb, %o; add.u64 %pc, %pc, %o; add.u64 %pd, %pd, %o;\n"
        "mul.wide.u32 %ps, %t, 32; mov.u64 %o, sm; add.u64 %ps, %ps, %o;\n");
    strbuf_printf(out,
                  "ld.global.%s %%a, [%%pa]; ld.global.%s %%b, [%%pb]; ld.global.%s %%c, [%%pc];\n",
                  type_names[c->a], type_names[c->b], type_names[c->c]);
    if (partial) { /* lanes whose number has bit 0 set and bit 2 clear stay away */
        strbuf_puts(out, "and.b32 %t, %t, 5; setp.eq.u32 %skip, %t, 1; @%skip bra Lskip;\n");
    }
    add_text(out, c->text);
    strbuf_printf(out, "\nst.global.%s [%%pd], %%d;\nLskip: ret;\n}\n", type_names[c->d]);
}

/* Partial warps in which an operation waits for all the warp's lanes would be wrong programs; none
 * does. */
static u32 lanes_there(bool partial)
{
    u32 there = 0;
    for (u32 i = 0; i < 32; i++) {
        there |= partial && (i & 5) == 1 ? 0 : 1u << i;
    }
    return there;
}

static bool is_nan_value(u64 bits, enum value_type type)
{
    f32 narrow;
    f64 wide;
    memcpy(&narrow, &bits, sizeof narrow);
    memcpy(&wide, &bits, sizeof wide);
    return type == T_f32 ? isnan(narrow) : type == T_f64 ? isnan(wide) : false;
}

static void compare(size_t index, const struct operands *in, bool partial)
{
    const struct opcode_case *c = &cases[index];
    const u32 there = lanes_there(partial);
    for (u32 i = 0; i < THREADS; i++) {
        const u64 cut =
            type_sizes[c->d] == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * type_sizes[c->d]) - 1;
        const u64 want = there >> i % 32 & 1
                             ? (reference(index, in, i, there) & cut) | (SENTINEL & ~cut)
                             : SENTINEL;
        const bool both_nan = is_nan_value(want & cut, c->d) && is_nan_value(in->d[i] & cut, c->d);
        if (in->d[i] != want && !both_nan) {
            fail_msg("%s\nthread %u: a %llx b %llx c %llx: got %llx, want %llx (seed %d%s)",
                     c->text, i, (unsigned long long)in->a[i], (unsigned long long)in->b[i],
                     (unsigned long long)in->c[i], (unsigned long long)in->d[i],
                     (unsigned long long)want, SEED, partial ? ", partial warps" : "");
        }
    }
}

static bool lane_used[LANE_count];

static void note_lanes(const struct ptx_module *module)
{
    for (size_t f = 0; f < module->funcs.count; f++) {
        for (u32 i = 0; i < module->funcs.items[f]->code_count; i++) {
            lane_used[module->funcs.items[f]->code[i].lane] = true;
        }
    }
}

static void run_cases(const char *isa, bool partial)
{
    if (!lane_isa_choose(isa)) {
        print_message("skipped: this processor has no %s\n", isa);
        skip();
    }
    struct operands *in = mem_zalloc(1, sizeof *in);
    struct rng rng = {SEED};
    assert_non_null(in);
    for (size_t i = 0; i < CASES; i++) {
        struct device device;
        struct strbuf text = {0};
        device_init(&device);
        device_map(&device, in, sizeof *in, true);
        fill(in, &cases[i], &rng);
        build(&text, &cases[i], partial);
        struct ptx_module *module = module_load(&device, strbuf_text(&text));
        const u64 params[4] = {(u64)(uintptr_t)in->a, (u64)(uintptr_t)in->b, (u64)(uintptr_t)in->c,
                               (u64)(uintptr_t)in->d};
        struct ptx_launch launch = launch_of(module, "k", THREADS / BLOCK, BLOCK, params);
        ptx_exec_destroy(run_launch(&device, &launch, PTX_DONE));
        compare(i, in, partial);
        note_lanes(module);
        module_drop(module);
        device_finish(&device);
        strbuf_finish(&text);
    }
    mem_free(in);
    lane_isa_choose(NULL);
    print_message("%zu cases of %u threads on %s\n", CASES, THREADS, isa);
}

static void full_warps_base(void **state)
{
    run_cases("base", false);
}

static void partial_warps_base(void **state)
{
    run_cases("base", true);
}

static void full_warps_avx2(void **state)
{
    run_cases("avx2", false);
}

static void partial_warps_avx2(void **state)
{
    run_cases("avx2", true);
}

static void every_opcode_has_a_case(void **state)
{
    static const char *const opcodes[] = {
#define OPCODE(name, how, arg) #name,
#include "ptx/opcodes.def"
#undef OPCODE
    };
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        bool found = false;
        for (size_t k = 0; k < CASES && !found; k++) {
            found = strcmp(cases[k].opcode, opcodes[i]) == 0;
        }
        if (!found) {
            fail_msg("opcode %s has no case in ptx_cases.def", opcodes[i]);
        }
    }
}

/* Runs last: the cases above have been parsed. */
static void every_lane_operation_is_used(void **state)
{
    for (u32 i = 1; i < LANE_count; i++) {
        if (!lane_used[i]) {
            fail_msg("no case uses lane operation %s", lane_name(i));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_opcode_has_a_case), cmocka_unit_test(full_warps_base),
        cmocka_unit_test(partial_warps_base),      cmocka_unit_test(full_warps_avx2),
        cmocka_unit_test(partial_warps_avx2),      cmocka_unit_test(every_lane_operation_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
