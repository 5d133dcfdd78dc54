/* Contracts read: what is taken, the line and key of what is not, small forms, placeholders. */
#include "contract/expand.h"
#include "contract/forms.h"
#include "contract/plan.h"
#include "contract/spec.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

static const char *const checks[] = {"SSAN-RAW", "SSAN-WAR"};

static enum ssan_status parse(struct spec *spec, const char *text, struct ssan_error *err)
{
    return spec_parse(spec, "x.yaml", text, strlen(text), checks, 2, err);
}

static void refused(const char *text, const char *message)
{
    struct spec spec;
    struct ssan_error err = {0};
    assert_int_equal(parse(&spec, text, &err), SSAN_FORMAT);
    assert_string_equal(err.text, message);
    spec_finish(&spec);
}

#define HEAD "name: n\nbuild:\n  sources: [a.cu]\n"

static void lines_and_keys(void **state)
{
    (void)state;
    refused("name: n\n", "x.yaml:1: the key 'build' is missing");
    refused(HEAD "expects: {}\n",
            "x.yaml:4: 'expects': there is no key 'expects'; did you mean 'expect'?");
    refused(HEAD "matrix:\n  zzzzz: 1\n",
            "x.yaml:5: 'matrix.zzzzz': there is no key 'zzzzz'; it has sizes, slots, devices, "
            "schedules, parameters, mode, repeats");
    refused(HEAD "matrix:\n  mode: half\n",
            "x.yaml:5: 'matrix.mode': 'half' is not taken here; it takes full or pairwise");
    refused(HEAD "matrix:\n  repeats: many\n",
            "x.yaml:5: 'matrix.repeats': a whole number is wanted, in digits and not negative, not "
            "'many'");
    refused(HEAD "matrix:\n  sizes: []\n", "x.yaml:5: 'matrix.sizes': is empty");
    refused(HEAD "faults:\n- name: f\n  macros: [A]\n",
            "x.yaml:5: 'faults[0]': the key 'caught' is missing");
    refused(
        HEAD
        "faults:\n- name: f\n  macros: [A]\n  caught:\n    finding:\n    - SSAN-RAW\n    - RAW\n",
        "x.yaml:10: 'faults[0].caught.finding[1]': there is no check 'RAW'");
    refused(HEAD "name: m\n", "x.yaml:4: 'name': stands twice");
    refused(HEAD "run: [a\n", "x.yaml:5: did not find expected ',' or ']'");
    refused("name: n\nbuild: {}\n", "x.yaml:2: 'build': 'sources' or 'command' is missing");
    refused("name: a/b\nbuild:\n  command: [x]\n",
            "x.yaml:1: 'name': 'a/b': letters, digits, '-', '_' and '.', 60 at most, make a name");
    refused(HEAD "run:\n  arguments: [\"{size}\"]\n",
            "x.yaml:5: 'run.arguments[0]': there is no {size} here ('{{' is a brace as it stands)");
    refused(HEAD "run:\n  arguments: [b,\n    \"a\\0b\"]\n",
            "x.yaml:6: a character 0, which would end the text, stands in it");
    refused(HEAD "run:\n\targuments: [b]\n", "x.yaml:5: a tab where only spaces may stand");
    refused(HEAD "about: \xc3\xa9\xc3\xa9\nrun:\n\targuments: [b]\n",
            "x.yaml:6: a tab where only spaces may stand");
}

/* The whole document has a form as well, and a list an end. */
static void whole_and_long(void **state)
{
    static const char *const documents[] = {"~\n", "hello\n", "- name: n\n", "[]\n"};
    struct strbuf text = {0};
    (void)state;
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        refused(documents[i], "x.yaml:1: keys are wanted, each with a colon: version, name, about, "
                              "build, run, matrix, expect, faults");
    }
    strbuf_puts(&text, HEAD "matrix:\n  sizes: [");
    for (int i = 0; i <= 1000; i++) {
        strbuf_printf(&text, "%d,", i);
    }
    strbuf_puts(&text, "]\n");
    refused(strbuf_text(&text), "x.yaml:5: 'matrix.sizes': has more than 1000 entries");
    strbuf_finish(&text);
}

/* Numbers are read whole or not at all; a form that does not fit is told in words of the contract.
 */
static void numbers_and_forms(void **state)
{
    static const struct {
        const char *text, *message; /* a part of it; NULL: it is taken */
    } rows[] = {
        {"run: {timeout: 1m}", "'run.timeout': a whole number is wanted"},
        {"run: {timeout: 0}", "'run.timeout': a number from 1 to 86400"},
        {"run: {timeout: 1.5}", "not '1.5'"},
        {"run: {timeout: 99999999999}", "not '99999999999'"},
        {"run: {timeout: 60}", NULL},
        {"run: {timeout: \"60\"}", NULL},
        {"matrix: {repeats: 2x}", "not '2x'"},
        {"matrix: {repeats: 0}", "'matrix.repeats': a number from 1"},
        {"matrix: {repeats: 010}", "not '010'"},
        {"version: \"1x\"", "'version': a whole number"},
        {"version: 0", "'version': this streamsan reads version 1"},
        {"expect: {values: [{key: k, equals: 1, rel: 1%}]}", "'expect.values[0].rel': a number"},
        {"expect: {values: [{key: k, equals: 1, rel: 1e}]}", "not '1e'"},
        {"expect: {values: [{key: k, equals: 1, rel: 1_000}]}", "not '1_000'"},
        {"expect: {values: [{key: k, equals: 1, rel: 1e-5x}]}", "not '1e-5x'"},
        {"expect: {values: [{key: k, equals: 1, rel: \"0,001\"}]}", "not '0,001'"},
        {"expect: {values: [{key: k, equals: 1, rel: 1e-5, abs: .5}]}", NULL},
        {"expect: {values: [{key: k, min: 3, max: 1}]}", "no number is at least 3 and at most 1"},
        {"expect: {files: [{output: a, expected: b, ulp: 4k}]}", "'expect.files[0].ulp': a whole"},
        {"expect: {files: [{output: a, expected: b, nan: evermore}]}",
         "it takes never, equal or b"},
        {"expect: {files: [{output: a, expected: b, type: flaot32}]}", "did you mean 'float32'?"},
        {"expect: {files: [{output: a, expected: b, type: x}]}", "float16, bfloat16, float32"},
        {"expect: {exit_code: [1]}", "one word or number is wanted here, not a list"},
        {"matrix: {sizes: 3}", "'matrix.sizes': a list is wanted"},
        {"matrix: {schedules: [random: 3]}", "'matrix.schedules[0]': one text is wanted"},
        {"run: [a]", "'run': keys are wanted"},
        {"faults: [{name: f, macros: [A], caught: {exit_code: 1}}]", "a list is wanted"},
        {"faults: [{name: f, macros: [A], caught: {exit_code: [256]}}]", "from 0 to 255"},
        {"faults: [{name: f, macros: [A], caught: {exit_code: [1], where: any}}]", "every or some"},
        {"faults: [{name: f, macros: [A], caught: {timeout: true}}]", NULL},
        {"faults: [{name: f, macros: [A], caught: {timeout: false}}]", "by what"},
        {"faults: [{name: f, macros: [A], caught: {timeout: maybe}}]", "it takes true or false"},
        {"faults: [{name: f, macros: [A], caught: {timeout: true, exit_code: [1]}}]", "alone"},
        {"matrix: {parameters: [{name: a-b_2, values: [1]}]}", NULL},
        {"matrix: {parameters: [{name: lr.rate, values: [1]}]}", "that can stand in braces"},
        {"matrix: {parameters: [{name: 2d, values: [1]}]}", "that can stand in braces"},
        {"expect: {files: [{output: report.json, expected: b}]}", "is written by streamsan"},
        {"run: {environment: [A=1, B=1, A=]}", "'run.environment[2]': 'A' is set twice"},
        {"run: {environment: [A=1, AB=1, a=1]}", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct spec spec;
        struct ssan_error err = {0};
        struct strbuf text = {0};
        strbuf_printf(&text, "%s%s\n", HEAD, rows[i].text);
        const enum ssan_status status = parse(&spec, strbuf_text(&text), &err);
        assert_int_equal(status, rows[i].message ? SSAN_FORMAT : SSAN_OK);
        if (rows[i].message && !strstr(err.text, rows[i].message)) {
            fail_msg("%s: %s", rows[i].text, err.text);
        }
        assert_true(!rows[i].message || strncmp(err.text, "x.yaml:4: ", 10) == 0);
        spec_finish(&spec);
        strbuf_finish(&text);
    }
}

static void taken(void **state)
{
    struct spec spec;
    struct ssan_error err = {0};
    (void)state;
    assert_int_equal(parse(&spec, spec_template_text, &err), SSAN_OK);
    assert_string_equal(spec.contract->name, "handover");
    assert_int_equal(spec.contract->faults_count, 3);
    assert_int_equal(spec.contract->matrix.over.sizes.count, 4);
    spec_finish(&spec);
    assert_int_equal(parse(&spec, "", &err), SSAN_FORMAT);
    spec_finish(&spec);
}

static enum ssan_status read_and_plan(void)
{
    const struct plan_options options = {.tool = "streamsan",
                                         .nvcc = "nvcc",
                                         .folder = SSAN_SOURCE_DIR "/examples/handover",
                                         .spec_name = "x.yaml"};
    struct spec spec;
    struct contract_plan plan = {.arena = {0}};
    enum ssan_status status = parse(&spec, spec_template_text, NULL);
    if (status == SSAN_OK) {
        status = contract_plan_fill(&plan, &spec, &options, NULL);
    }
    if (status == SSAN_OK) {
        assert_int_equal(plan.runs.count, 4 * 3 * (1 + 3));
        assert_int_equal(plan.builds.count, 2);
    }
    contract_plan_finish(&plan);
    spec_finish(&spec);
    return status;
}

/* Every allocation fails once, alone and with all behind it. */
static void no_memory(void **state)
{
    (void)state;
    assert_int_equal(read_and_plan(), SSAN_OK);
    for (int once = 0; once < 2; once++) {
        unsigned failed = 0;
        for (uint64_t nth = 1;; nth += nth < 300 ? 1 : 7) {
            if (once) {
                mem_fail_once(nth);
            } else {
                mem_fail_at(nth);
            }
            const enum ssan_status status = read_and_plan();
            const bool done = mem_count() < nth;
            mem_fail_at(0);
            assert_true(status == SSAN_NO_MEMORY || (status == SSAN_OK && done));
            failed += status == SSAN_NO_MEMORY;
            if (done) {
                break;
            }
        }
        assert_true(failed > 100);
    }
}

static const char *find(const void *self, const char *name, size_t length)
{
    (void)self;
    return length == 4 && memcmp(name, "size", 4) == 0 ? "257" : NULL;
}

static void placeholders(void **state)
{
    static const struct {
        const char *text, *wanted;
    } rows[] = {{"", ""},
                {"{size}", "257"},
                {"a{size}b{size}", "a257b257"},
                {"{{size}", "{size}"},
                {"x{2,3}", "x{2,3}"},
                {"{", "{"},
                {"{}", "{}"},
                {"{open", "{open"},
                {"{no}", NULL},
                {"{size }", "{size }"}};
    const struct expand_names names = {find, NULL};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct strbuf out = {0};
        const enum ssan_status status = expand(&out, rows[i].text, &names, NULL);
        assert_int_equal(status, rows[i].wanted ? SSAN_OK : SSAN_FORMAT);
        if (rows[i].wanted) {
            assert_string_equal(strbuf_text(&out), rows[i].wanted);
        }
        strbuf_finish(&out);
    }
}

static void forms(void **state)
{
    struct forms_place place;
    double number;
    (void)state;
    assert_true(forms_is_device("virtual") && forms_is_device("virtual:2") &&
                forms_is_device("gpu"));
    assert_false(forms_is_device("virtual:") || forms_is_device("virtual:0") ||
                 forms_is_device("virtual:2x") || forms_is_device("virtual:17") ||
                 forms_is_device("cpu") || forms_is_device(""));
    assert_true(forms_is_below("a") && forms_is_below("a/b.c") && forms_is_below("..a"));
    assert_false(forms_is_below("") || forms_is_below("/a") || forms_is_below("a/../b") ||
                 forms_is_below("..") || forms_is_below("a//b") || forms_is_below("a/") ||
                 forms_is_below("./a"));
    assert_true(forms_place(&place, "a.cu:12") && place.line == 12 && place.file_length == 4);
    assert_true(forms_place(&place, "a.cu:/f(a/b)/") && place.text_length == 6 && !place.line);
    assert_false(forms_place(&place, "a.cu") || forms_place(&place, "a.cu:0") ||
                 forms_place(&place, ":3") || forms_place(&place, "a.cu://") ||
                 forms_place(&place, "a.cu:x"));
    assert_true(forms_number("1e-3", &number) && number == 1e-3);
    assert_false(forms_number("", &number) || forms_number("1x", &number) ||
                 forms_number(" 1", &number) || forms_number("nan", &number) ||
                 forms_number("inf", &number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_keys),
        cmocka_unit_test(whole_and_long),
        cmocka_unit_test(numbers_and_forms),
        cmocka_unit_test(taken),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(placeholders),
        cmocka_unit_test(forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
