/* What the parser takes and refuses: messages with lines, initialisers, scopes, kernels' facts,
 * lost memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "unit/ptx_support.h"

#include <string.h>

#define HEAD ".version 7.0\n.target sm_70, debug\n.address_size 64\n"

static void refused(const char *text, enum ssan_status status, uint64_t line, const char *part)
{
    struct ptx_module *module = NULL;
    struct ssan_error err = {0};
    assert_int_equal(ptx_parse(&module, text, strlen(text), &err), status);
    assert_null(module);
    assert_int_equal(err.position, line);
    if (!strstr(err.text, part)) {
        fail_msg("'%s' is not in '%s'", part, err.text);
    }
}

static void unknown_things_are_named_with_their_lines(void **state)
{
    refused(HEAD ".entry k() {\n.reg .b32 r<3>;\n.loc 1 42 7\nfrobnicate.u32 r0, r1;\n}\n.file 1 "
                 "\"/src/a.cu\"\n",
            SSAN_UNSUPPORTED, 7, "opcode frobnicate (from /src/a.cu:42)");
    refused(HEAD ".entry k() {\n.reg .b32 r<3>;\nadd.frob.u32 r0, r1, r2;\n}", SSAN_UNSUPPORTED, 6,
            "modifier .frob of opcode add");
    refused(HEAD ".entry k() {\n.reg .f16x2 r<3>;\n}", SSAN_UNSUPPORTED, 5, "register type f16x2");
    refused(HEAD ".entry k() {\n.reg .b32 r<3>;\nmov.u32 r0, %pm0;\n}", SSAN_UNSUPPORTED, 6,
            "register %pm0");
    refused(HEAD
            ".entry k() {\n.reg .b32 r<3>;\ntex.1d.v4.f32.s32 {r0, r1, r2, r2}, [r0, {r1}];\n}",
            SSAN_UNSUPPORTED, 6, "coordinates");
    refused(HEAD ".entry k() {\n.reg .b32 r<3>;\nwmma.load.a.sync r0, r1;\n}", SSAN_UNSUPPORTED, 6,
            "opcode wmma");
    refused(HEAD ".entry k() {\n.reg .f32 f<3>;\nmin.f64 f0, f1, f2;\n}", SSAN_FORMAT, 6,
            "too narrow");
    refused(HEAD ".entry k() {\n.reg .b32 r<3>;\nrem.f32 r0, r1, r2;\n}", SSAN_UNSUPPORTED, 6,
            "type .f32 of opcode rem");
    refused(HEAD ".surfref s;\n", SSAN_UNSUPPORTED, 4, "directive .surfref");
    refused(HEAD ".address_size 32\n", SSAN_UNSUPPORTED, 5, "32 bits");
    refused(HEAD ".entry k() {\n.reg .b32 r<3>;\ngriddepcontrol.wait;\n}", SSAN_UNSUPPORTED, 6,
            "opcode griddepcontrol");
}

static void syntax_errors_name_their_lines(void **state)
{
    refused("add", SSAN_FORMAT, 1, "begins with .version");
    refused(HEAD ".entry k() {\n.reg .b32 r<3>;\nadd.u32 r0, r1\n}", SSAN_FORMAT, 7,
            "expected ','");
    refused(HEAD ".entry k() {\nadd.u32 r0, r1, r2;\n}", SSAN_FORMAT, 5, "bad ");
    refused(HEAD ".entry k() {\n.reg .b32 r<3>;\nbra Nowhere;\n}", SSAN_FORMAT, 6,
            "no label 'Nowhere'");
    refused(HEAD ".entry k() {\n.reg .b32 r<3>;\n.reg .f32 r<3>;\n}", SSAN_FORMAT, 6,
            "'r' is declared twice");
    refused(HEAD ".entry k() {\n.reg .b32 r<3>;\nmov.u32 r3, r1;\n}", SSAN_FORMAT, 6,
            "bad destination 'r3'");
    refused(HEAD ".entry k() {\n.reg .b32 r<3>;\n@r0 mov.u32 r2, r1;\n}", SSAN_FORMAT, 6,
            "must be a predicate");
    refused(HEAD ".entry k() {\nret;\n", SSAN_FORMAT, 6, "does not end");
    refused(HEAD ".entry k() {\nret;\n}\n.entry k() {\nret;\n}", SSAN_FORMAT, 7, "defined twice");
    refused(HEAD ".global .u32 x = {1, 2};", SSAN_FORMAT, 4, "longer than its variable");
    refused(HEAD ".global .align 3 .u32 x;", SSAN_FORMAT, 4, "bad alignment");
    refused(HEAD ".global .b8 x[99999999999999];", SSAN_FORMAT, 4, "too large");
    refused(HEAD ".entry k() {\n.local .b8 x[600000];\n}", SSAN_UNSUPPORTED, 5, "512 KiB");
    refused(HEAD ".entry k(.param .u64 a) {\n.reg .b64 l;\nst.param.u64 [a], l;\n}", SSAN_FORMAT, 6,
            "constant memory");
    refused(HEAD ".entry k() { \001 }", SSAN_FORMAT, 4, "");
}

static void initialisers_hold_values_and_addresses(void **state)
{
    struct device device;
    device_init(&device);
    struct ptx_module *module =
        module_load(&device, HEAD
                    ".visible .global .align 4 .u32 counter = 7;\n.const .align 4 .b8 coef[8] = "
                    "{0, 0, 128, 63};\n"
                    ".global .align 8 .u64 where[3] = {generic(counter), counter+4, 12884901897};\n"
                    ".global .f32 f = 0f3F800000; .global .f64 d = -1.5; .global .s16 h[2][2] = "
                    "{{-1, 2}, {3, 4}};\n"
                    ".extern .global .align 4 .b8 outside[16];\n.global .align 16 .v4 .f32 v;\n");
    const uint64_t counter = ptx_global_at(module, 0)->address;
    uint64_t where[3];
    int16_t h[4];
    double d;
    assert_int_equal(ptx_global_count(module), 8);
    assert_int_equal(*(const uint32_t *)(uintptr_t)counter, 7);
    assert_true(ptx_global_at(module, 1)->is_const);
    ptx_global_init(module, 2, where);
    assert_int_equal(where[0], counter);
    assert_int_equal(where[1], counter + 4);
    assert_int_equal(where[2], 12884901897);
    ptx_global_init(module, 4, &d);
    assert_true(d == -1.5);
    ptx_global_init(module, 5, h);
    assert_int_equal(h[0], -1);
    assert_int_equal(h[3], 4);
    assert_true(ptx_global_at(module, 6)->is_external);
    assert_int_equal(ptx_global_at(module, 7)->size_bytes, 16);
    assert_int_equal(ptx_global_at(module, 7)->align_bytes, 16);
    module_drop(module);
    device_finish(&device);
}

static void kernels_tell_their_facts(void **state)
{
    struct device device;
    device_init(&device);
    struct ptx_module *module = module_load(
        &device, HEAD
        "\t.file 1 \"/a/b.cu\"\n.extern .func (.param .b32 r) __nv_sinf (.param .b32 a);\n.extern "
        ".func (.param .b32 r) what (.param .b32 a);\n"
        ".func helper() { .reg .b32 t; { .param .b32 a; .param .b32 r; call.uni (r), what, (a); } "
        "ret; }\n"
        ".visible .entry _Z1kPfi(.param .u64 .ptr .global .align 4 a, .param .u8 b, .param .align "
        "8 .b8 c[24], .param .u32 d)\n"
        ".maxntid 128, 2, 1\n.minnctapersm 2\n{ .pragma \"nounroll\"; call.uni helper; ret; }\n"
        ".weak .entry clean() { { .reg .f32 x; { .param .b32 p; .param .b32 q; call.uni (q), "
        "__nv_sinf, (p); } } ret; }\n"
        "\t.section .debug_abbrev\n{\n.b8 1\n.b32 .debug_line\n}\n.section .debug_loc { }\n");
    assert_int_equal(ptx_kernel_count(module), 2);
    const struct ptx_kernel *k = ptx_kernel_find(module, "_Z1kPfi");
    assert_int_equal(k->param_count, 4);
    assert_int_equal(k->params[1].offset, 8);
    assert_int_equal(k->params[2].offset, 16);
    assert_int_equal(k->params[2].size_bytes, 24);
    assert_int_equal(k->params[3].offset, 40);
    assert_int_equal(k->param_bytes, 44);
    assert_int_equal(k->max_threads, 256);
    assert_string_equal(k->unresolved, "what");
    assert_null(ptx_kernel_find(module, "clean")->unresolved);
    assert_null(ptx_kernel_find(module, "nothing"));
    module_drop(module);
    device_finish(&device);
}

/* Inline assembly: registers and labels of a scope, hidden names. */
static void scopes_hide_names(void **state)
{
    static uint32_t words[32];
    struct device device;
    device_init(&device);
    device_map(&device, words, sizeof words, true);
    struct ptx_module *module = module_load(
        &device, HEAD
        ".entry k(.param .u64 p) { .reg .b32 t, r<4>; .reg .b64 l; .reg .pred q; mov.u32 t, 5;\n"
        "{ .reg .b32 t; mov.u32 t, 6; setp.eq.u32 q, t, 6; @q bra Out; mov.u32 r0, 1; Out: mov.u32 "
        "r1, t; }\n"
        "{ .reg .b64 t; mov.u64 t, 7; @q bra Out; mov.u32 r1, 1; Out: cvt.u32.u64 r2, t; }\n"
        "add.u32 r1, r1, t; add.u32 r1, r1, r2; ld.param.u64 l, [p]; st.global.u32 [l], r1; ret; "
        "}\n");
    const uint64_t base = (uint64_t)(uintptr_t)words;
    const struct ptx_launch launch = launch_of(module, "k", 1, 1, &base);
    ptx_exec_destroy(run_launch(&device, &launch, PTX_DONE));
    assert_int_equal(words[0], 18);
    module_drop(module);
    device_finish(&device);
}

static const char sample[] =
    HEAD ".global .u64 g[2] = {generic(g), 5}; .extern .shared .b8 dyn[];\n"
         ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 x<3>; ld.param.u32 x0, [a]; "
         "st.param.b32 [r], x0; ret; }\n"
         ".entry k(.param .u64 p) { .loc 1 3 0\n.reg .b32 r<9>; .reg .b64 l<9>; .reg .pred q; "
         "ld.param.u64 l0, [p]; mov.u32 r1, %tid.x;\n"
         "L: add.u32 r1, r1, 1; setp.lt.u32 q, r1, 40; @q bra L; mul.wide.u32 l1, r1, 1; "
         "st.global.u32 [l0], r1; ld.global.v2.u32 {r3, r4}, [l0];\n"
         "{ .param .b32 a; .param .b32 b; st.param.b32 [a], r1; call.uni (b), f, (a); ld.param.b32 "
         "r2, [b]; }\n"
         "st.shared.u32 [dyn], r2; ret; }\n.file 1 \"x.cu\"\n";

/* Every allocation fails once, in the parser and in a run: a status or a fault, nothing else. */
static void lost_memory_is_reported(void **state)
{
    static uint64_t words[8];
    uint64_t failures = 0;
    for (uint64_t nth = 1;; nth++) {
        struct ptx_module *module = NULL;
        struct ssan_error err = {0};
        mem_fail_at(nth);
        const enum ssan_status status = ptx_parse(&module, sample, strlen(sample), &err);
        mem_fail_at(0);
        if (status == SSAN_OK) {
            ptx_destroy(module);
            break;
        }
        assert_int_equal(status, SSAN_NO_MEMORY);
        failures++;
    }
    struct device device;
    device_init(&device);
    device_map(&device, words, sizeof words, true);
    struct ptx_module *module = module_load(&device, sample);
    const uint64_t base = (uint64_t)(uintptr_t)words;
    struct ptx_launch launch = launch_of(module, "k", 2, 64, &base);
    launch.dynamic_shared_bytes = 64;
    for (uint64_t nth = 1;; nth++) {
        mem_fail_at(nth);
        struct ptx_exec *exec = ptx_exec_create(&device.machine, &launch);
        const enum ptx_state ended = exec ? ptx_exec_run(exec, 0) : PTX_FAULTED;
        const struct ptx_access *sets;
        size_t count;
        const bool complete = exec && ptx_exec_observed(exec, &sets, &count);
        mem_fail_at(0);
        if (exec && ended == PTX_FAULTED) {
            assert_int_equal(ptx_exec_fault(exec)->fault, PTX_FAULT_NO_MEMORY);
        }
        ptx_exec_destroy(exec);
        if (complete && ended == PTX_DONE) {
            break;
        }
        failures++;
    }
    assert_true(failures > 40);
    module_drop(module);
    device_finish(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_things_are_named_with_their_lines),
        cmocka_unit_test(syntax_errors_name_their_lines),
        cmocka_unit_test(initialisers_hold_values_and_addresses),
        cmocka_unit_test(kernels_tell_their_facts),
        cmocka_unit_test(scopes_hide_names),
        cmocka_unit_test(lost_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
