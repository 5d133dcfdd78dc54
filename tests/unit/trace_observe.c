/* The plan of what is observed on a GPU: what is read is what was printed, what is wrong is refused
 * at its line, and kernels fit as the lines say. */
#include "trace/mangled.h"
#include "trace/observe_plan.h"

#include "support/temporary.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static enum ssan_status parse(struct observe_plan *plan, const char *lines, struct ssan_error *err)
{
    char text[4096];
    snprintf(text, sizeof text, OBSERVE_FIRST_LINE "\n%s", lines);
    return observe_plan_parse(plan, "observe", text, strlen(text), err);
}

static void test_defaults(void **state)
{
    struct observe_plan plan;
    assert_int_equal(parse(&plan, "# nothing\n\n", NULL), SSAN_OK);
    assert_true(observe_plan_is_plain(&plan));
    assert_int_equal(plan.accesses, SSAN_accesses_EXACT);
    assert_true(observe_plan_fits(&plan, "any"));
    assert_true(observe_plan_counts(&plan, 0));
    assert_true(observe_plan_counts(&plan, UINT64_MAX));
    observe_plan_finish(&plan);
}

static void test_all_lines(void **state)
{
    static const char lines[] = "accesses footprint\n"
                                "kernel +scale*\n"
                                "kernel -ns::kern<int,%20float>\n"
                                "launch-skip 2\n"
                                "launch-count 3\n"
                                "window nvtx one  step%23\n"
                                "device-memory 1073741824\n"
                                "gate hold scale 2 500\n"
                                "gate hold add 1 500\n";
    struct observe_plan plan;
    struct strbuf text = {0};
    assert_int_equal(parse(&plan, lines, NULL), SSAN_OK);
    assert_int_equal(plan.accesses, SSAN_accesses_FOOTPRINT);
    assert_int_equal(plan.kernels.count, 2);
    assert_string_equal(plan.kernels.items[1].glob, "ns::kern<int, float>");
    assert_true(plan.kernels.items[1].leave_out);
    assert_int_equal(plan.launch_skip, 2);
    assert_int_equal(plan.launch_count, 3);
    assert_int_equal(plan.window, OBSERVE_NVTX);
    assert_string_equal(plan.window_name, "one  step#");
    assert_int_equal(plan.device_memory_bytes, 1u << 30);
    assert_int_equal(plan.gates.count, 2);
    assert_string_equal(plan.gates.items[0], "hold scale 2 500");
    assert_false(observe_plan_is_plain(&plan));
    observe_plan_print(&plan, &text);
    assert_string_equal(strbuf_text(&text) + strlen(OBSERVE_FIRST_LINE "\n"), lines);
    strbuf_finish(&text);
    observe_plan_finish(&plan);
}

static void test_refused_lines(void **state)
{
    static const char *const bad[] = {
        "accesses\n",
        "accesses all\n",
        "accesses exact off\n",
        "accesses exact\naccesses exact\n",
        "kernel\n",
        "kernel scale\n",
        "kernel +\n",
        "kernel +a b\n",
        "launch-skip\n",
        "launch-skip -1\n",
        "launch-skip 1x\n",
        "launch-skip 1\nlaunch-skip 1\n",
        "launch-count 0\n",
        "launch-count 18446744073709551616\n",
        "window\n",
        "window later\n",
        "window nvtx\n",
        "window nvtx  # no name\n",
        "window profiler\nwindow nvtx a\n",
        "window profiler a\n",
        "device-memory 0\n",
        "device-memory 1G\n",
        "gate\n",
        "hold a\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct observe_plan plan;
        struct ssan_error err = {0};
        uint64_t last = 1;
        for (const char *at = bad[i]; *at; at++) {
            last += *at == '\n';
        }
        assert_int_equal(parse(&plan, bad[i], &err), SSAN_FORMAT);
        assert_int_equal(err.position, last);
        assert_non_null(strstr(err.text, "observe:"));
        observe_plan_finish(&plan);
    }
}

static void test_long_pattern(void **state)
{
    char lines[2 * OBSERVE_GLOB_ROOM];
    struct observe_plan plan;
    for (int extra = 0; extra < 2; extra++) {
        int length =
            snprintf(lines, sizeof lines, "kernel +%*s", OBSERVE_GLOB_ROOM - 2 + extra, "");
        memset(lines + 8, 'a', (size_t)length - 8);
        assert_int_equal(parse(&plan, lines, NULL), extra ? SSAN_FORMAT : SSAN_OK);
        observe_plan_finish(&plan);
    }
}

static void test_first_line(void **state)
{
    static const char *const bad[] = {"", "streamsan-observe 2\n", "streamsan-observe 1x\n",
                                      "accesses exact\n"};
    struct observe_plan plan;
    struct ssan_error err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(observe_plan_parse(&plan, "observe", bad[i], strlen(bad[i]), &err),
                         SSAN_FORMAT);
        assert_int_equal(err.position, 1);
        observe_plan_finish(&plan);
    }
}

static void test_kernels(void **state)
{
    struct observe_plan plan;
    assert_int_equal(parse(&plan, "kernel +ns::*\nkernel +scale\nkernel -*<float>\n", NULL),
                     SSAN_OK);
    assert_true(observe_plan_fits(&plan, "scale"));
    assert_false(observe_plan_fits(&plan, "scale2"));
    assert_true(observe_plan_fits(&plan, "ns::kern<int>"));
    assert_false(observe_plan_fits(&plan, "ns::kern<float>"));
    observe_plan_finish(&plan);
    assert_int_equal(parse(&plan, "kernel -scale\n", NULL), SSAN_OK);
    assert_false(observe_plan_fits(&plan, "scale"));
    assert_true(observe_plan_fits(&plan, "add"));
    observe_plan_finish(&plan);
}

/* Programs without a C++ library have mangled names. */
static void test_mangled(void **state)
{
    static const struct {
        const char *mangled, *plain; /* NULL: not understood */
        bool is_template;
    } names[] = {
        {"_Z5scalePfi", "scale", false},
        {"_ZL5scalePfi", "scale", false},
        {"_ZN2ns4kernEPfi", "ns::kern", false},
        {"_Z4kernIiEvPT_i", "kern", true},
        {"_ZN2ns4kernIiLi4EN3abc1EEEEvPT_", "ns::kern", true},
        {"_ZN2ns4kernISt4pairIifEPKfS2_EEvT_", "ns::kern", true},
        {"_ZN12_GLOBAL__N_15scaleEPf", "(anonymous namespace)::scale", false},
        {"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_"
         "addIfEESt5arrayIPcLm3EEEEviT0_T1_",
         "at::native::vectorized_elementwise_kernel", true},
        {"_ZN1aILi3EE1bIfE1cEv", "a::b::c", false},
        {"_Z4kernIA8_iSaIcEDv2_fEvT_", "kern", true},
        {"scale", NULL, false},
        {"_Z", NULL, false},
        {"_Z9scale", NULL, false},
        {"_Z99999999999999999999scale", NULL, false},
        {"_ZN2ns", NULL, false},
        {"_ZN2ns4kernI", NULL, false},
        {"_ZN2ns4kernILi4", NULL, false},
    };
    struct observe_plan plan;
    char plain[128];
    bool is_template;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool good = mangled_plain(names[i].mangled, plain, sizeof plain, &is_template);
        assert_int_equal(good, names[i].plain != NULL);
        if (good) {
            assert_string_equal(plain, names[i].plain);
            assert_int_equal(is_template, names[i].is_template);
        }
    }
    assert_false(mangled_plain("_Z5scalePfi", plain, 5, &is_template));
    assert_int_equal(parse(&plan, "kernel +scale\nkernel +ns::kern<*>\n", NULL), SSAN_OK);
    assert_true(observe_plan_fits(&plan, "_Z5scalePfi"));
    assert_true(observe_plan_fits(&plan, "_ZN2ns4kernIiEEvPT_i"));
    assert_false(observe_plan_fits(&plan, "_ZN2ns4kernEPi"));
    observe_plan_finish(&plan);
}

static void test_launches(void **state)
{
    struct observe_plan plan;
    assert_int_equal(parse(&plan, "launch-skip 2\nlaunch-count 3\n", NULL), SSAN_OK);
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(observe_plan_counts(&plan, i), i >= 2 && i < 5);
    }
    observe_plan_finish(&plan);
}

static void test_folder(void **state)
{
    char folder[TEMPORARY_ROOM], path[TEMPORARY_ROOM + 16];
    struct observe_plan plan;
    struct ssan_error err = {0};
    FILE *file;
    temporary_name(folder, "observe");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/" OBSERVE_FILE, folder);
    assert_int_equal(observe_plan_read(&plan, folder, &err), SSAN_OK);
    assert_true(observe_plan_is_plain(&plan));
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(OBSERVE_FIRST_LINE "\nwindow profiler\n", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(observe_plan_read(&plan, folder, &err), SSAN_OK);
    assert_int_equal(plan.window, OBSERVE_PROFILER);
    observe_plan_finish(&plan);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(observe_plan_read(&plan, folder, &err), SSAN_IO);
    observe_plan_finish(&plan);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void words_are(const char *lines, const char *expected)
{
    struct observe_plan plan;
    struct strbuf words = {0};
    assert_int_equal(parse(&plan, lines, NULL), SSAN_OK);
    observe_plan_words(&plan, &words);
    assert_string_equal(strbuf_text(&words), expected);
    strbuf_finish(&words);
    observe_plan_finish(&plan);
}

static void test_words(void **state)
{
    words_are("accesses footprint\ngate a\ndevice-memory 7\n", "");
    words_are("kernel -b\nkernel +a*\nkernel -c\nkernel +d\n", "kernels a*, d but b, c");
    words_are("kernel -b\nlaunch-count 3\n", "all kernels but b, launches from 1 on, 3 at most");
    words_are("launch-skip 2\nwindow profiler\n", "launches from 3 on, inside profiler windows");
    words_are("window nvtx one step\n", "inside the NVTX range 'one step'");
}

/* Each allocation of a reading fails once: a status, and nothing is lost. */
static void test_no_memory(void **state)
{
    static const char lines[] = "kernel +a\nkernel -b\nwindow nvtx c\ngate d\ngate e\n";
    struct observe_plan plan;
    enum ssan_status status = SSAN_NO_MEMORY;
    uint64_t nth = 1;
    for (; status == SSAN_NO_MEMORY; nth++) {
        mem_fail_once(nth);
        status = parse(&plan, lines, NULL);
        observe_plan_finish(&plan);
    }
    mem_fail_once(0);
    assert_int_equal(status, SSAN_OK);
    assert_true(nth > 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),      cmocka_unit_test(test_all_lines),
        cmocka_unit_test(test_refused_lines), cmocka_unit_test(test_long_pattern),
        cmocka_unit_test(test_first_line),    cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_mangled),       cmocka_unit_test(test_launches),
        cmocka_unit_test(test_folder),        cmocka_unit_test(test_words),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
