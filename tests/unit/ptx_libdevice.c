/* CUDA's device library: some functions with known values, called from PTX; others are found by
 * name and signature. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/externs.h"
#include "ptx/libdevice.h"
#include "unit/ptx_support.h"

#include <math.h>
#include <string.h>

/* Calls a function of one to four arguments given as bits. */
static uint64_t call(const char *name, const uint64_t *in)
{
    uint64_t out = 0;
    for (size_t i = 0; i < libdevice_count; i++) {
        if (strcmp(libdevice_entries[i].name, name) == 0) {
            libdevice_entries[i].fn(in, &out);
            return out;
        }
    }
    fail_msg("%s is not there", name);
    return 0;
}

static double call_d(const char *name, double a)
{
    uint64_t in[4] = {0};
    memcpy(in, &a, sizeof a);
    const uint64_t out = call(name, in);
    double result;
    memcpy(&result, &out, sizeof result);
    return result;
}

static uint32_t call_u(const char *name, uint32_t a, uint32_t b)
{
    const uint64_t in[4] = {a, b};
    return (uint32_t)call(name, in);
}

static void near(double value, double want)
{
    if (!(fabs(value - want) <= 1e-12 * fabs(want) || value == want)) {
        fail_msg("%.17g, not %.17g", value, want);
    }
}

static void special_functions_have_their_values(void **state)
{
    near(call_d("erfinv", 0.5), 0.4769362762044699);
    near(call_d("erfinv", 0.999), 2.326753765513525);
    near(call_d("erfcinv", 1e-10), 4.572824967389486);
    near(call_d("normcdfinv", 0.975), 1.959963984540054);
    near(call_d("normcdf", 1.0), 0.8413447460685429);
    near(call_d("erfcx", 30.0), 0.018795888861416751);
    near(call_d("cyl_bessel_i0", 2.0), 2.2795853023360673);
    near(call_d("cyl_bessel_i1", 2.0), 1.5906368546373291);
    near(call_d("sinpi", 1.5), -1);
    near(call_d("sinpi", 100000.25), 0.70710678118654752);
    near(call_d("cospi", 0.5), 0);
    near(call_d("cospi", 1.0), -1);
    near(call_d("rsqrt", 4.0), 0.5);
    near(call_d("drcp_ru", 3.0), nextafter(1.0 / 3.0, 1));
}

static void parts_of_a_word(void **state)
{
    assert_int_equal(call_u("vadd4", 0xff017f80, 0x02010180), 0x01028000);
    assert_int_equal(call_u("vaddus4", 0xff017f80, 0x02010180), 0xff0280ff);
    assert_int_equal(call_u("vaddss2", 0x7fff8000, 0x0001ffff), 0x7fff8000);
    assert_int_equal(call_u("vcmpgts4", 0x01ff007f, 0x00000000), 0xff0000ff);
    assert_int_equal(call_u("vsetgtu4", 0x01ff007f, 0x00000000), 0x01010001);
    assert_int_equal(call_u("vsadu4", 0x05010a00, 0x01050005), 4 + 4 + 10 + 5);
    assert_int_equal(call_u("vabsss2", 0x8000fffe, 0), 0x7fff0002);
    assert_int_equal(call_u("uhadd", UINT32_MAX, UINT32_MAX - 2), UINT32_MAX - 1);
}

static void names_need_their_signature(void **state)
{
    const uint32_t one_float[] = {4}, one_double[] = {8};
    assert_true(extern_find("__nv_sinf", one_float, 1, 4) >= 0);
    assert_int_equal(extern_find("__nv_sinf", one_double, 1, 8), -1);
    assert_true(extern_find("__nv_sin", one_double, 1, 8) >= 0);
    assert_int_equal(extern_find("sinf", one_float, 1, 4), -1);
    print_message("%zu functions\n", libdevice_count);
}

/* sincosf writes through pointers to local memory; powf and pow come back through parameters. */
static void ptx_calls_them(void **state)
{
    static float out[4 * 32];
    struct device device;
    device_init(&device);
    device_map(&device, out, sizeof out, true);
    struct ptx_module *module = module_load(
        &device, ".version 7.0\n.target sm_70\n.address_size 64\n"
                 ".extern .func __nv_sincosf (.param .b32 a, .param .b64 s, .param .b64 c);\n"
                 ".extern .func (.param .b32 r) __nv_powf (.param .b32 a, .param .b32 b);\n"
                 ".entry k(.param .u64 out) { .local .align 4 .b8 lm[8]; .reg .b32 r<2>; .reg .f32 "
                 "f<6>; .reg .b64 l<6>;\n"
                 "mov.u32 r0, %tid.x; cvt.rn.f32.u32 f0, r0; mov.u64 l0, lm; cvta.local.u64 l0, "
                 "l0; add.u64 l1, l0, 4;\n"
                 "{ .param .b32 a; .param .b64 s; .param .b64 c; st.param.f32 [a], f0; "
                 "st.param.b64 [s], l0;\n"
                 "st.param.b64 [c], l1; call.uni __nv_sincosf, (a, s, c); }\n"
                 "{ .param .b32 a; .param .b32 b; .param .b32 r; st.param.f32 [a], f0; "
                 "st.param.f32 [b], 0f40200000;\n"
                 "call.uni (r), __nv_powf, (a, b); ld.param.f32 f1, [r]; }\n"
                 "ld.local.v2.f32 {f2, f3}, [lm]; ld.param.u64 l2, [out]; mul.wide.u32 l3, r0, 16; "
                 "add.u64 l2, l2, l3;\n"
                 "st.global.v4.f32 [l2], {f1, f2, f3, f0}; ret; }\n");
    const uint64_t params = (uint64_t)(uintptr_t)out;
    const struct ptx_launch launch = launch_of(module, "k", 1, 32, &params);
    ptx_exec_destroy(run_launch(&device, &launch, PTX_DONE));
    for (int i = 0; i < 32; i++) {
        assert_true(out[4 * i] == powf((float)i, 2.5f));
        assert_true(out[4 * i + 1] == sinf((float)i));
        assert_true(out[4 * i + 2] == cosf((float)i));
    }
    module_drop(module);
    device_finish(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_functions_have_their_values),
        cmocka_unit_test(parts_of_a_word),
        cmocka_unit_test(names_need_their_signature),
        cmocka_unit_test(ptx_calls_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
